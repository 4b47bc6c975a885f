import { expect } from 'vitest';
import { bash, command, type Group, hooks, records, type OpenFixture } from '../../fixture.ts';

export const subdirectory: Group = {
  name: '20-subdir',
  cases: [{ name: 'subproj', run: readsStartDirectory }],
};

async function readsStartDirectory(openFixture: OpenFixture): Promise<void> {
  const tells = (name: string): object =>
    hooks('PreToolUse', [command(records('ran.log', name, '$CLAUDE_PROJECT_DIR'))]);
  const { fire, lines, recorded, host, root } = await openFixture({
    start: 'pkg',
    project: tells('rootproj'),
    files: { 'pkg/.claude/settings.json': tells('subproj') },
  });
  await fire('PreToolUse', bash('echo hi'));
  const reports = recorded('pkg/ran.log').map(({ texts, payload }) => [
    ...texts,
    payload['cwd'],
    payload['transcript_path'],
  ]);
  const below = `${root}/pkg`;
  expect(reports).toEqual([['subproj', below, below, expect.stringMatching(/-pkg\/[^/]+\.jsonl$/u)]]);
  expect(lines('ran.log')).toEqual([]);
  expect(host.ignored().map(({ path, why }) => [path, why])).toEqual([
    [`${root}/.claude/settings.json`, expect.stringContaining('start directory only')],
  ]);
}
