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

test.each([
  'handlers/command.ts',
  'codec.ts',
  'payload.ts',
  'input/payload.ts',
  'output/decide.ts',
])('a new dialect’s %s is in its own part, which is read when its hooks run', (file) => {
  expect(findChunkGroup(`/project/src/dialects/codex/${file}`)).toBe('running-codex');
});

test.each([
  ['dialect.ts', 'looking'],
  ['discover.ts', 'looking'],
  ['events.ts', 'looking'],
  ['match/matcher.ts', 'codex-found'],
  ['config/edit.ts', 'writing'],
  ['templates/plan.ts', 'writing'],
  ['import-hooks.ts', 'writing'],
  ['read-payload.ts', 'foreign-payloads'],
  ['input/read-payload.ts', 'foreign-payloads'],
  ['write-answer.ts', 'foreign-payloads'],
])('a new dialect’s %s is in %s', (file, group) => {
  expect(findChunkGroup(`/project/src/dialects/codex/${file}`)).toBe(group);
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
