import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findRealPath } from '../../../src/base/paths.ts';
import { runInSandbox, runSandboxed } from '../../../src/process/sandbox/run-in-sandbox.ts';
import { write } from '../../base/directory.ts';
import { hasProgram } from '../../cli/temp-workspace.ts';
import { createSandboxFixture, type SandboxFixture } from './fixture.ts';

const ROUNDS = 40;

/** Exchanges a directory with a link, again and again, as a program in an older sandbox could. */
const SWAP = `import ctypes, sys
libc = ctypes.CDLL(None)
one, other = (name.encode() for name in sys.argv[1:])
print('swapping', flush=True)
while True: libc.renameat2(-100, one, -100, other, 2)`;

async function startSwapping(workspace: string, target: string): Promise<() => Promise<unknown>> {
  const [directory, link] = ['x/y', 'x/link'].map((name) => path.join(workspace, name));
  symlinkSync(target, link ?? '');
  const swapper = spawn('python3', ['-c', SWAP, directory ?? '', link ?? '']);
  onTestFinished(() => void swapper.kill('SIGKILL'));
  await new Promise((resolve) => swapper.stdout.once('data', resolve));
  return () => {
    swapper.kill('SIGKILL');
    return once(swapper, 'exit');
  };
}

const ATTACK = `for name in x/y x/link; do
  for round in 1 2 3; do
    echo evil > $name/evil
    [ -w $name/notes.txt ] && cat $name/notes.txt
  done
done 2>/dev/null; echo attacked`;

async function attack(
  { launcher, profile, workspace }: SandboxFixture,
  isBashScript: boolean,
): Promise<string> {
  const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' };
  const args = ['-c', ATTACK, 'bash'];
  const request = { file: '/bin/bash', args, cwd: workspace, env, isBashScript };
  const hidden = ['x/y/.env', 'x/link/.env'].flatMap(
    (name) => findRealPath(path.join(workspace, name)) ?? [],
  );
  const sandboxed = launcher.prepare(request, { ...profile, hidden });
  if (typeof sandboxed === 'string') return sandboxed;
  const result = await runInSandbox({ stdin: '', timeoutMs: 240_000 }, sandboxed);
  return result.stdout.text;
}

describe.each([
  ['the script of a shell', true],
  ['another program', false],
])('%s', (_what, isBashScript) => {
  test.each(['an absolute', 'a relative'])(
    'gets nothing outside by %s link that takes the place of a directory while its sandbox is made',
    async (kind) => {
      const fixture = await createSandboxFixture({ 'x/y/.env': 'SECRET' });
      const { workspace, outside } = fixture;
      const target = kind === 'a relative' ? '../../outside' : outside;
      const stop = await startSwapping(workspace, target);
      const texts: string[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        texts.push(await attack(fixture, isBashScript));
      }
      expect(existsSync(path.join(outside, 'evil'))).toBe(false);
      expect(texts.filter((text) => text.includes('beside'))).toEqual([]);
      await stop();
      expect(await attack(fixture, isBashScript)).toContain('attacked\n');
    },
  );
});

/**
 * Bubblewrap as it works when, while it looks, `x/a` is a link to /proc and `x/b` one to the directory beside the
 * workspace, and both are directories again before and after.
 */
const MISLED = `#!/bin/bash
words=()
for word; do
  case $word in
    WORK/x/a) [ "$last" = WORK/x/a ] && word=WORK/x/link ;;
    WORK/x/a/*) word=WORK/x/link/\${word##*/} ;;
    WORK/x/b) [ "$last" = --bind ] && word=OUTSIDE ;;
  esac
  last=$word
  words+=("$word")
done
exec /usr/bin/bwrap "\${words[@]}"
`;

function writeMisled(workspace: string): string {
  const text = MISLED.replaceAll('OUTSIDE', path.join(workspace, '../outside'));
  return write(path.join(workspace, '../misled'), text.replaceAll('WORK', workspace), 0o755);
}

/** What the kernel would list, as an older command knows it from its own sandbox. */
function formatListed({ workspace, profile }: SandboxFixture): string {
  const cover = path.join(workspace, '../state/hidden-file');
  const names = ['', 'x', 'x/a', 'x/b'].map((name) => path.join(workspace, name));
  const mounts = [...names, profile.temporaryDirectory].map((place) => [place, place]);
  const covered = ['x/a/.env', 'x/b/.env'].map((name) => [cover, path.join(workspace, name)]);
  return [...mounts, ...covered].map((mount) => `1 1 1:1 ${mount.join(' ')} rw -\n`).join('');
}

async function createMisledFixture(): Promise<SandboxFixture> {
  const files = { 'x/a/.env': '', 'x/b/.env': '' };
  const fixture = await createSandboxFixture(files, 'as it is', writeMisled);
  const { workspace, outside, profile } = fixture;
  const hidden = Object.keys(files).map((name) => path.join(workspace, name));
  const up = '../'.repeat(path.join(workspace, 'x').split('/').length - 1);
  symlinkSync(`${up}proc`, path.join(workspace, 'x/link'));
  write(path.join(workspace, 'x/a/self/mountinfo'), formatListed(fixture));
  write(path.join(outside, '.env'), '');
  return { ...fixture, profile: { ...profile, hidden } };
}

const STRIKE = 'echo evil > x/b/evil; echo ran';

describe('mounts that links led to /proc and outside', () => {
  test.each([
    ['the same session', true],
    ['the same session', false],
    ['another session', true],
    ['another session', false],
  ])('start nothing while a sandbox of %s runs', async (whose, isBashScript) => {
    const fixture = await createMisledFixture();
    const { workspace, outside, profile, launcher } = fixture;
    const env = { PATH: '/usr/bin:/bin' };
    const request = { file: '/bin/bash', args: ['-c', STRIKE, 'bash'], cwd: workspace, env };
    const other = whose === 'another session' ? fixture.createLauncher() : launcher;
    const running = other.prepare(request, profile);
    const sandboxed = launcher.prepare({ ...request, isBashScript }, profile);
    if (typeof running === 'string' || typeof sandboxed === 'string') throw new Error('unprepared');
    const program = { stdin: '', opensStdin: true, timeoutMs: 240_000 };
    const { isUnmade, result } = await runSandboxed(program, sandboxed);
    expect({ isUnmade, printed: result.stdout.text }).toEqual({ isUnmade: true, printed: '' });
    expect(existsSync(path.join(outside, 'evil'))).toBe(false);
    running.release();
  });
});

/** Leaves the name of the program that loads it where only one outside of a sandbox can. */
const LIBRARY = `#include <fcntl.h>
#include <string.h>
#include <unistd.h>
extern char *program_invocation_short_name;
__attribute__((constructor)) static void load(void) {
  int file = open(LOADED, O_WRONLY | O_CREAT | O_APPEND, 0600);
  write(file, program_invocation_short_name, strlen(program_invocation_short_name));
}`;

describe.each([
  ['the script of a shell', true],
  ['another program', false],
])('what the environment makes programs load first, for %s', (_what, isBashScript) => {
  test.skipIf(!hasProgram('gcc'))('is loaded in the sandbox only', async () => {
    const { workspace, outside, launcher, profile } = await createSandboxFixture();
    const loaded = path.join(outside, 'loaded');
    const source = write(path.join(outside, 'evil.c'), LIBRARY);
    const library = path.join(outside, 'evil.so');
    const options = ['-shared', '-fPIC', '-w', `-DLOADED="${loaded}"`, '-o', library, source];
    expect(spawnSync('gcc', options).status).toBe(0);
    const early = write(path.join(workspace, 'early.sh'), 'echo early\n');
    const env = { PATH: '/usr/bin:/bin', LD_PRELOAD: library, BASH_ENV: early };
    const args = ['-c', 'echo "$LD_PRELOAD"; exec bash -c "echo inner"', 'bash'];
    const request = { file: '/bin/bash', args, cwd: workspace, env, isBashScript };
    const sandboxed = launcher.prepare(request, profile);
    if (typeof sandboxed === 'string') throw new Error(sandboxed);
    const program = { stdin: '', opensStdin: true, timeoutMs: 240_000 };
    const { stdout } = await runInSandbox(program, sandboxed);
    // The shell that compares reads no file; another one is a program like any other.
    const first = isBashScript ? '' : 'early\n';
    expect(stdout.text).toBe(`${first}${library}\nearly\ninner\n`);
    expect(existsSync(loaded)).toBe(false);
  });
});

test('commands that run at the same time are started', async () => {
  const { launcher, profile, workspace } = await createSandboxFixture({ 'x/.env': '' });
  const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' };
  const hidden = [path.join(workspace, 'x/.env')];
  const runs = [1, 2, 3, 4].map((number) => {
    const args = ['-c', `echo ${number}`, 'bash'];
    const request = { file: '/bin/bash', args, cwd: workspace, env, isBashScript: true };
    const sandboxed = launcher.prepare(request, { ...profile, hidden });
    if (typeof sandboxed === 'string') throw new Error(sandboxed);
    return runInSandbox({ stdin: '', opensStdin: true, timeoutMs: 240_000 }, sandboxed);
  });
  const texts = (await Promise.all(runs)).map(({ stdout }) => stdout.text);
  expect(texts).toEqual(['1\n', '2\n', '3\n', '4\n']);
});

test('places with spaces, line ends and backslashes are compared as the kernel lists them', async () => {
  const odd = 'a b\n\\040c';
  const { run, workspace } = await createSandboxFixture({
    [`${odd}/key`]: 'SECRET',
    [`${odd}/d`]: '',
  });
  const at = (name: string) => path.join(workspace, odd, name);
  const changes = { hidden: [at('key')], protected: [{ path: at('d') }, { path: at('none') }] };
  const { text, exitCode } = await run('cat */key; echo x > */d; echo ran', changes);
  expect({ text: text.match(/SECRET|Permission denied|Read-only|ran$/gm), exitCode }).toEqual({
    text: expect.arrayContaining(['Permission denied', 'Read-only', 'ran']),
    exitCode: 0,
  });
  expect(text).not.toContain('SECRET');
});
