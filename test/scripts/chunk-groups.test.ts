import { expect, test } from 'vitest';
import { findChunkGroup, listStalePaths } from '../../scripts/chunk-groups.ts';
import { readSourceFiles } from '../../scripts/source-files.ts';

test('the longest path decides which part a file belongs to', () => {
  expect(findChunkGroup('/project/src/base/json.ts')).toBe('looking');
  expect(findChunkGroup('/project/src/base/http-body.ts')).toBe('http');
  expect(findChunkGroup('/project/src/dialects/claude/templates/bash.ts')).toBe('writing');
  expect(findChunkGroup('C:\\project\\src\\hooks\\engine.ts')).toBe('running');
  expect(findChunkGroup('/project/src/acp/serve.ts')).toBeNull();
  const schemas = '/project/src/host/plugins/contributions/json-schema.ts';
  expect(findChunkGroup(schemas)).toBeNull();
});

test('every path of a part fits a file', () => {
  const files = readSourceFiles('.', ['src']).map(({ path }) => path);
  const stale = listStalePaths(files).filter((path) => !path.startsWith('node_modules/'));
  expect(stale).toEqual([]);
});

test('a path whose file has moved is found', () => {
  expect(listStalePaths(['src/hooks/engine.ts'])).toContain('src/trace/');
  expect(listStalePaths(['src/hooks/engine.ts'])).not.toContain('src/hooks/');
});
