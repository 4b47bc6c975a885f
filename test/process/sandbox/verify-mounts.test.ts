import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findRealPath } from '../../../src/base/paths.ts';
import { runInSandbox } from '../../../src/process/sandbox/run-in-sandbox.ts';
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
