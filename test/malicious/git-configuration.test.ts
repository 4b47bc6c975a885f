import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { environmentOf, jsonOf, runHookline } from '../cli/hookline.ts';
import { at, hasProgram, write } from '../cli/temp-workspace.ts';
import {
  HOSTILE_REPOSITORIES,
  prepareRepository,
  type StagedRepository,
} from './hostile-repositories.ts';

const hasGit = hasProgram('git');

describe.skipIf(!hasGit).each(HOSTILE_REPOSITORIES)('$about', (hostile) => {
  it('runs a program when git itself is asked', () => {
    const staged = prepareRepository(hostile);
    spawnSync('sh', ['-c', hostile.commands.join('\n')], {
      cwd: staged.repo,
      env: environmentOf(staged),
    });
    expect(existsSync(staged.proof)).toBe(true);
  });

  it('runs nothing for an agent that nobody gave a permission', async () => {
    const staged = prepareRepository(hostile);
    const { code } = await runCommands(staged, hostile.commands);
    expect(code).toBe(0);
    expect(existsSync(staged.proof)).toBe(false);
  });
});

/** Runs each command as a call of its own, without a user. */
async function runCommands(
  staged: StagedRepository,
  commands: readonly string[],
  args: readonly string[] = [],
) {
  const calls = commands.map((command) => ({ name: 'Bash', input: { command } }));
  return runCalls(staged, calls, args);
}

async function runCalls(
  staged: StagedRepository,
  calls: readonly unknown[],
  args: readonly string[] = [],
) {
  const turns = [...calls.map((call) => ({ tools: [call] })), { text: 'done' }];
  const script = write(staged.directory, 'turns.json', JSON.stringify(turns));
  // Without the sandbox, which would hide whether a program ran.
  const flags = ['--script', script, '--output', 'json', '--sandbox', 'off', ...args];
  return runHookline(['run', ...flags, 'go'], at(staged));
}

const COMMIT = `git init --quiet . && echo one > file.txt && git add . && git commit --quiet -m first`;
const SIGNED = `
{ printf 'tree %s\\nauthor a <a@b> 0 +0000\\ncommitter a <a@b> 0 +0000\\n' "$(git rev-parse HEAD^{tree})"
  printf 'gpgsig -----BEGIN PGP SIGNATURE-----\\n \\n aaaa\\n -----END PGP SIGNATURE-----\\n\\nsigned\\n'
} > ../commit && git update-ref HEAD "$(git hash-object -t commit -w ../commit)"`;

describe.skipIf(!hasGit)('a command that a rule allows', () => {
  it('runs with the programs of the repository', async () => {
    const staged = prepareRepository({ setup: `${COMMIT} && git config core.fsmonitor "$EVIL"` });
    await runCommands(staged, ['git status'], ['--allow', 'Bash(git status:*)']);
    expect(existsSync(staged.proof)).toBe(true);
  });

  it('keeps the repository’s hooks beside a command that nobody was asked about', async () => {
    const staged = prepareRepository({
      setup: `${COMMIT} ${SIGNED} && git config log.showSignature true && git config gpg.program "$EVIL" && printf '#!/bin/sh\\ntouch ../hook-ran' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit`,
    });
    const line = 'git commit --quiet --allow-empty -m second && git log --oneline';
    const result = await runCommands(staged, [line], ['--allow', 'Bash(git commit:*)']);
    expect(jsonOf(result)).toMatchObject({ denials: [] });
    expect([existsSync(`${staged.directory}/hook-ran`), existsSync(staged.proof)]).toEqual([
      true,
      false,
    ]);
  });
});

describe.skipIf(!hasGit)('without a rule', () => {
  it('a part of a call does not run git where an earlier part went', async () => {
    const staged = prepareRepository({
      setup: `${COMMIT} && mkdir nested && cd nested && ${COMMIT} && echo '* filter=evil' > .gitattributes && git config filter.evil.clean "$EVIL" && echo two > file.txt`,
    });
    const call = { name: 'run_commands', input: { commands: ['cd nested', 'git status'] } };
    const { code } = await runCalls(staged, [call]);
    expect([code, existsSync(staged.proof)]).toEqual([0, false]);
  });

  it('git runs in every directory of the repository in the mode bypassPermissions', async () => {
    const staged = prepareRepository({
      setup: `${COMMIT} && mkdir src && touch src/new.txt && git config core.fsmonitor "$EVIL"`,
    });
    const args = ['--permission-mode', 'bypassPermissions', '--output', 'stream-json'];
    const { stdout } = await runCommands(staged, ['cd src && git status --short'], args);
    expect([stdout.includes('?? ./'), existsSync(staged.proof)]).toEqual([true, false]);
  });

  it('the denial says why git was not run', async () => {
    const staged = prepareRepository({ setup: `${COMMIT} && echo . > .git/commondir` });
    const result = await runCommands(staged, ['git status']);
    expect(JSON.stringify(jsonOf(result))).toContain(
      `Git needs it here, because it could run programs of the repository: ${staged.repo}/.git has a commondir, which points elsewhere.`,
    );
  });

  it('git prints what it prints for the user', async () => {
    const staged = prepareRepository({
      setup: `${COMMIT} && echo two > file.txt && touch new.txt`,
    });
    const line =
      'git status; git diff; git --no-pager log; git show --stat; git branch -a; git diff --stat | cat';
    const plain = spawnSync('bash', ['-c', line], {
      cwd: staged.repo,
      env: environmentOf(staged),
      encoding: 'utf8',
    });
    const args = ['--output', 'stream-json'];
    const { stdout } = await runCommands(staged, [line], args);
    const text = JSON.stringify(plain.stdout.trim()).slice(1, -1);
    expect(stdout).toContain(text);
  });
});
