import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runProgram, type Program } from '../../src/process/run.ts';
import { describeSpawnFailure, spawnChild } from '../../src/process/spawn.ts';
import { ended, program, shell, temporaryDirectory } from './programs.ts';

// cross-spawn passes everything through where it is not needed, so the Windows way can be walked here.
test('the Windows way of starting gives a running child with three pipes', async () => {
  const child = spawnChild(shell('cat'), 'pipe', 'win32');
  const closed = once(child, 'close');
  const output: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => output.push(chunk));
  child.stdin?.end('through');
  expect(await closed).toEqual([0, null]);
  expect(Buffer.concat(output).toString()).toBe('through');
});

test.each([
  ['ENOEXEC', 'it is neither a program of this machine nor a script with a #! line.'],
  ['EMFILE', 'spawn EMFILE'],
])('a refusal with %s is explained', (code, reason) => {
  const error = Object.assign(new Error(`spawn ${code}`), { code });
  expect(describeSpawnFailure(error, program({ file: '/bin/sh' }))).toEqual({
    code,
    message: `Could not start /bin/sh: ${reason}`,
  });
});

describe('a program that cannot be started', () => {
  async function failure(wanted: Partial<Program> & { file: string }) {
    const result = await runProgram({ ...program(wanted), stdin: Buffer.alloc(1024 * 1024) });
    expect(result).toEqual(
      ended({ ending: 'spawn', exitCode: null, spawnError: expect.any(Object) }),
    );
    return result.spawnError;
  }

  test('because no program has its name', async () => {
    expect(await failure({ file: 'no-such-program' })).toEqual({
      code: 'ENOENT',
      message: 'Could not start no-such-program: no program of this name is on the PATH.',
    });
  });

  test('because no program has its name, where a directory of the PATH is closed', async () => {
    const error = Object.assign(new Error('spawn EACCES'), { code: 'EACCES' });
    const closed = temporaryDirectory();
    chmodSync(closed, 0o000);
    const request = program({ file: 'no-such-program', env: { PATH: `${closed}:/usr/bin` } });
    expect(describeSpawnFailure(error, request)).toEqual({
      code: 'ENOENT',
      message: 'Could not start no-such-program: no program of this name is on the PATH.',
    });
  });

  test('because the file of this name on the PATH is not executable', async () => {
    const directory = temporaryDirectory();
    writeFileSync(path.join(directory, 'not-a-program'), '', { mode: 0o644 });
    expect(await failure({ file: 'not-a-program', env: { PATH: directory } })).toEqual({
      code: 'EACCES',
      message: 'Could not start not-a-program: it may not be executed; is its executable bit set?',
    });
  });

  test('because its file is not there', async () => {
    expect(await failure({ file: '/nowhere/at-all' })).toEqual({
      code: 'ENOENT',
      message: 'Could not start /nowhere/at-all: there is no such file.',
    });
  });

  test('because its interpreter is not there', async () => {
    const file = path.join(temporaryDirectory(), 'script');
    writeFileSync(file, '#!/nowhere/interpreter\n', { mode: 0o755 });
    expect(await failure({ file })).toEqual({
      code: 'ENOENT',
      message: `Could not start ${file}: the interpreter that its first line names does not exist.`,
    });
  });

  test('because its working directory does not exist is reported', async () => {
    expect(await failure({ file: '/bin/sh', cwd: '/nowhere/at-all' })).toEqual({
      code: 'ENOENT',
      message: 'Could not start /bin/sh: its working directory /nowhere/at-all does not exist.',
    });
  });

  test('because its working directory is a file', async () => {
    const cwd = path.join(temporaryDirectory(), 'file');
    writeFileSync(cwd, '');
    expect(await failure({ file: '/bin/sh', cwd })).toEqual({
      code: 'ENOTDIR',
      message: `Could not start /bin/sh: its working directory ${cwd} is not a directory.`,
    });
  });

  test('because it is a directory', async () => {
    const file = temporaryDirectory();
    expect(await failure({ file })).toEqual({
      code: 'EACCES',
      message: `Could not start ${file}: it is a directory.`,
    });
  });

  test('because it is not executable', async () => {
    const file = path.join(temporaryDirectory(), 'script');
    writeFileSync(file, '#!/bin/sh\n', { mode: 0o644 });
    expect(await failure({ file })).toEqual({
      code: 'EACCES',
      message: `Could not start ${file}: it may not be executed; is its executable bit set?`,
    });
  });

  test('because an argument holds a NUL byte', async () => {
    expect(await failure({ file: '/bin/sh', args: ['a\0b'] })).toMatchObject({
      code: 'ERR_INVALID_ARG_VALUE',
      message: expect.stringContaining('null bytes'),
    });
  });

  test('because its environment is too large', async () => {
    const env = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`V${index}`, 'x'.repeat(100_000)]),
    );
    expect(await failure({ file: '/bin/sh', args: ['-c', ':'], env })).toEqual({
      code: 'E2BIG',
      message:
        'Could not start /bin/sh: its arguments and environment are larger than the system accepts.',
    });
  });

  // Some C libraries hand such a file to /bin/sh, others refuse it.
  test('because it is text without a shebang is still only a result', async () => {
    const file = path.join(temporaryDirectory(), 'text');
    writeFileSync(file, 'exit 5\n', { mode: 0o755 });
    const { ending, exitCode } = await runProgram(program({ file }));
    expect(['exit 5', 'spawn null']).toContain(`${ending} ${exitCode}`);
  });
});
