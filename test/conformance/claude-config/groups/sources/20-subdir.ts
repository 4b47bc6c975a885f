import { expect } from 'vitest';
import { bash, command, type Group, hooks, type Stage } from '../../build.ts';

export const subdirectory: Group = {
  name: '20-subdir',
  cases: [{ name: 'subproj', run: readsStartDirectory }],
};

async function readsStartDirectory(stage: Stage): Promise<void> {
  const tells = (name: string): object =>
    hooks('PreToolUse', [
      command(`jq -c '["${name}", .cwd, env.CLAUDE_PROJECT_DIR, .transcript_path]' >> ran.log`),
    ]);
  const { fire, lines, host, root } = await stage({
    start: 'pkg',
    project: tells('rootproj'),
    files: { 'pkg/.claude/settings.json': tells('subproj') },
  });
  await fire('PreToolUse', bash('echo hi'));
  const told = lines('pkg/ran.log').map((line) => JSON.parse(line));
  const below = `${root}/pkg`;
  expect(told).toEqual([['subproj', below, below, expect.stringMatching(/-pkg\/[^/]+\.jsonl$/u)]]);
  expect(lines('ran.log')).toEqual([]);
  expect(host.ignored().map(({ path, why }) => [path, why])).toEqual([
    [`${root}/.claude/settings.json`, expect.stringContaining('start directory only')],
  ]);
}
