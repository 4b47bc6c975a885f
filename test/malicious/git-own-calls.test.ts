import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runHookline } from '../cli/hookline.ts';
import { at, hasProgram, write } from '../cli/temp-workspace.ts';
import { prepareRepository } from './hostile-repositories.ts';

const COMMIT = `git init --quiet . && echo one > file.txt && git add . && git commit --quiet -m first`;

/** Repositories whose programs a worktree of the session would start. */
const HOSTILE = [
  ['core.fsmonitor', `${COMMIT} && git config core.fsmonitor "$EVIL"`],
  ['a hook', `${COMMIT} && mkdir -p .git/hooks && cp "$EVIL" .git/hooks/post-checkout`],
  [
    'a smudge filter',
    `${COMMIT} && mkdir -p .git/info && echo '* filter=evil' > .git/info/attributes && git config filter.evil.smudge "$EVIL"`,
  ],
  [
    'a filter process',
    `${COMMIT} && mkdir -p .git/info && echo '* filter=evil' > .git/info/attributes && git config filter.evil.process "$EVIL"`,
  ],
  [
    'a promisor remote',
    `${COMMIT} && blob=$(git rev-parse HEAD:file.txt) && rm -f .git/objects/\${blob%\${blob#??}}/* && git config extensions.partialClone origin && git config remote.origin.promisor true && git config core.repositoryFormatVersion 1 && git config remote.origin.url "ext::$EVIL" && git config protocol.ext.allow always`,
  ],
  [
    'a .git file that points into the checkout',
    `${COMMIT} && git config filter.evil.smudge "$EVIL" && mkdir -p .git/info && echo '* filter=evil' > .git/info/attributes && mv .git docs && echo 'gitdir: docs' > .git`,
  ],
] as const;

describe.skipIf(!hasProgram('git'))('a session in a worktree', () => {
  it('does not follow a link out of the workspace', async () => {
    const setup = `${COMMIT} && mkdir ../outside && ln -s ../outside .worktrees`;
    const staged = prepareRepository({ setup });
    const script = write(staged.directory, 'turns.json', JSON.stringify([{ text: 'done' }]));
    const args = ['run', '--script', script, '--worktree', 'w1', 'look'];
    const { code, stderr } = await runHookline(args, at(staged));
    expect([code === 0, stderr]).toEqual([
      false,
      expect.stringContaining(`found a link to ${staged.directory}/outside/w1; remove the link`),
    ]);
    expect(readdirSync(`${staged.directory}/outside`)).toEqual([]);
  });

  it.each(HOSTILE)('starts no program of the repository: %s', async (_about, setup) => {
    const staged = prepareRepository({ setup });
    const script = write(staged.directory, 'turns.json', JSON.stringify([{ text: 'done' }]));
    const args = ['run', '--script', script, '--worktree', 'w1', 'look'];
    const { code, stderr } = await runHookline(args, at(staged));
    expect([code, stderr]).toEqual([expect.any(Number), expect.not.stringMatching(/^ {4}at /m)]);
    expect(existsSync(staged.proof)).toBe(false);
  });
});
