import { getEventListeners } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { withEnoughTime } from '../base/directory.ts';
import { runProgram, type Program, type ProgramResult } from '../../src/process/run.ts';
import {
  ended,
  exists,
  fixture,
  isAlive,
  pidsIn,
  program,
  shell,
  temporaryDirectory,
  until,
  whole,
} from './programs.ts';

const handlesAtFirst = count('PipeWrap', 'ProcessWrap');
describe('a program that ends by itself', () => {
  test('reports its output, separately, and its exit code', async () => {
    expect(await runProgram(shell('echo out; echo err >&2; exit 3'))).toEqual(
      ended({ exitCode: 3, stdout: whole('out\n'), stderr: whole('err\n') }),
    );
  });

  test.each([0, 1, 2, 127, 255])('exit code %d is reported as it is', async (exitCode) => {
    expect(await runProgram(shell(`exit ${exitCode}`))).toEqual(ended({ exitCode }));
  });

  test('loses no output that waits while this process is busy for longer than it waits', async () => {
    const directory = temporaryDirectory();
    const [busy, printed] = [path.join(directory, 'busy'), path.join(directory, 'printed')];
    const exitGraceMs = 500;
    // The first process ends at once; the one that it leaves prints later and keeps the pipe open.
    const print = `until [ -e ${busy} ]; do sleep 0.01; done; echo late; : > ${printed}`;
    const script = `(${print}; exec sleep 300) & exit 0`;
    let leader = 0;
    const onStart = (pid: number): void => void (leader = pid);
    const running = runProgram({ ...shell(script), exitGraceMs }, { onStart });
    await new Promise<void>((resolve) => {
      const check = setInterval(() => {
        if (exists(leader)) return;
        clearInterval(check);
        // After timers and pipes were looked at, so that the timers are next.
        setImmediate(() => {
          writeFileSync(busy, '');
          blockUntil(() => existsSync(printed), 2 * exitGraceMs);
          resolve();
        });
      });
    });
    const { stdout } = await running;
    process.kill(-leader, 'SIGKILL');
    expect(stdout).toEqual(whole('late\n'));
  });

  test('killed by its own signal has no exit code', async () => {
    expect(await runProgram(shell('kill -KILL $$'))).toEqual(
      ended({ ending: 'signal', exitCode: null, signal: 'SIGKILL' }),
    );
  });

  test('gets its input, working directory, arguments and environment', async () => {
    const cwd = temporaryDirectory();
    const script = 'printf "%s|%s|%s|" "$(pwd -P)" "$1" "$COLOUR"; cat';
    const args = ['-c', script, 'name', 'a "b" $c'];
    const env = { PATH: '/usr/bin:/bin', COLOUR: 'blue' };
    const result = await runProgram(program({ file: '/bin/sh', args, cwd, env, stdin: 'héllo' }));
    expect(result).toEqual(ended({ stdout: whole(`${cwd}|a "b" $c|blue|héllo`) }));
  });

  test('emits all that it prints as it arrives, also what is not kept', async () => {
    let printedOutput = '';
    const result = await runProgram(
      { ...shell('echo one; echo two; echo no >&2'), maxStdoutBytes: 2 },
      { onOutput: (chunk) => (printedOutput += chunk.toString('utf8')) },
    );
    expect(printedOutput).toBe('one\ntwo\n');
    expect(result.stdout).toEqual({ text: 'o', totalBytes: 8, truncated: true, tail: '\n' });
  });

  test('may have its input made once it has been started', async () => {
    const result = await runProgram(program({ file: '/bin/cat', stdin: () => 'made late' }));
    expect(result).toEqual(ended({ stdout: whole('made late') }));
  });

  test('is ended at once, and has not run, when its input cannot be made', async () => {
    const stdin = (): string => JSON.stringify(1n);
    const result = await runProgram(program({ file: '/bin/cat', stdin }));
    expect(result).toMatchObject({
      ending: 'spawn',
      exitCode: null,
      spawnError: { message: expect.stringContaining('BigInt') },
    });
  });

  test('shows invalid UTF-8 as replacement characters', async () => {
    const result = await runProgram(shell(String.raw`printf 'a\377b'`));
    expect(result.stdout).toEqual({ ...whole('a\uFFFDb'), totalBytes: 3 });
  });

  test('may lie at a path with spaces, quotes and newlines', async () => {
    const directory = path.join(temporaryDirectory(), `a 'b' "c"\n$(d)`);
    mkdirSync(directory);
    const file = path.join(directory, `it's "me"\n;x`);
    writeFileSync(file, '#!/bin/sh\ncat\n');
    chmodSync(file, 0o755);
    const result = await runProgram(program({ file, cwd: directory, stdin: 'ok' }));
    expect(result).toEqual(ended({ stdout: whole('ok') }));
  });
});

describe('input', () => {
  const megabyte = Buffer.alloc(1024 * 1024, 'i');

  test('of 1 MB arrives whole', async () => {
    const result = await runProgram({ ...shell('wc -c | tr -d " "'), stdin: megabyte });
    expect(result).toEqual(ended({ stdout: whole('1048576\n') }));
  });

  test('of 1 MB may stay unread', async () => {
    const result = await runProgram({ ...fixture('never-read.mjs'), stdin: megabyte });
    expect(result).toEqual(ended({ stdout: whole('unread\n') }));
  });

  test('may be closed early', async () => {
    const result = await runProgram({ ...fixture('close-stdin.mjs'), stdin: megabyte });
    expect(result).toEqual(ended({ stdout: whole('closed\n') }));
  });

  test('of 64 KiB does not disturb twenty programs that end at once', async () => {
    const stdin = Buffer.alloc(64 * 1024, 'i');
    const runs = Array.from({ length: 20 }, () => runProgram({ ...shell('exit 0'), stdin }));
    expect(await Promise.all(runs)).toEqual(runs.map(() => ended({})));
  });

  test('can be one buffer for many programs', async () => {
    const runs = [1, 2, 3, 4].map(() => runProgram({ ...shell('cat'), stdin: megabyte }));
    const results = await Promise.all(runs);
    expect(results.map(({ stdout }) => stdout.text === megabyte.toString())).toEqual(
      results.map(() => true),
    );
  });
});

describe('output', () => {
  test('of 200 MB is cut to head and tail, in bounded memory', async () => {
    const before = process.memoryUsage().rss;
    let highest = before;
    const watching = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage().rss);
    }, 5);
    const result = await runProgram({ ...fixture('flood.mjs', ['200']), maxStdoutBytes: 32 });
    clearInterval(watching);
    expect(result).toEqual(
      ended({
        stdout: {
          text: 'first line\nxxxxx',
          totalBytes: 200 * 1024 * 1024 + 22,
          truncated: true,
          tail: 'xxxxx\nlast line\n',
        },
      }),
    );
    expect(highest - before).toBeLessThan(64 * 1024 * 1024);
  });

  test('is limited to 8 MiB and errors to 1 MiB by default', async () => {
    const { args } = fixture('flood.mjs', ['9']);
    const script = `"$0" "$@"; "$0" "$@" >&2`;
    const result = await runProgram(
      program({ file: '/bin/sh', args: ['-c', script, process.execPath, ...args] }),
    );
    const getKeptLength = ({ text, tail }: { text: string; tail: string }) =>
      text.length + tail.length;
    expect([getKeptLength(result.stdout), getKeptLength(result.stderr)]).toEqual([
      8 * 1024 * 1024,
      1024 * 1024,
    ]);
  });
});

describe('a child left behind', () => {
  test.each(['session', 'group'])(
    'in a %s of its own or ours is not waited for and not killed',
    async (place) => {
      const result = await runProgram({ ...fixture('leave-child.mjs', [place]), exitGraceMs: 50 });
      const [pid = 0] = pidsIn(result.stdout.text);
      try {
        expect(result).toEqual(ended({ stdout: whole(`${pid}\n`) }));
        await until(() => count('PipeWrap', 'ProcessWrap') === handlesAtFirst);
        expect(isAlive(pid)).toBe(true);
      } finally {
        process.kill(pid, 'SIGKILL');
      }
    },
  );

  test('is left alone by an abort that comes after the program itself ended', async () => {
    const controller = new AbortController();
    const file = path.join(temporaryDirectory(), 'pids');
    const running = runProgram(
      {
        ...shell(`sleep 60 & printf '%s\\n' $$ $! > '${file}.new'; mv '${file}.new' '${file}'`),
        exitGraceMs: 60_000,
      },
      { signal: controller.signal },
    );
    await until(() => existsSync(file));
    const [leader = 0, child = 0] = pidsIn(readFileSync(file, 'utf8'));
    await until(() => !exists(leader));
    controller.abort();
    const wasAlive = isAlive(child);
    process.kill(child, 'SIGKILL');
    expect([wasAlive, await running]).toEqual([true, ended({})]);
  });
});

describe('a time-out', () => {
  test('ends the program and what it waits for', async () => {
    const result = await withEnoughTime(
      500,
      (timeoutMs) => runProgram({ ...shell('sleep 60 & echo $!; wait'), timeoutMs }),
      ({ stdout }) => stdout.text !== '',
    );
    const [pid = 0] = pidsIn(result.stdout.text);
    expect(result).toMatchObject({ ending: 'timeout', exitCode: null, signal: 'SIGTERM' });
    expect([pid > 0, isAlive(pid)]).toEqual([true, false]);
  });

  test('of more than 24 days does not fire at once', async () => {
    const patient = { ...shell('sleep 0.1; echo done'), timeoutMs: Number.POSITIVE_INFINITY };
    expect(await runProgram(patient)).toEqual(ended({ stdout: whole('done\n') }));
  });
});

describe('a program that is ended', () => {
  /** Aborts as soon as the program has printed its first line. */
  async function endWhenReady(ready: Program): Promise<ProgramResult | null> {
    const controller = new AbortController();
    const { signal } = controller;
    const { late } = await runProgram(ready, { signal, handOver: () => true });
    controller.abort();
    return late;
  }

  test('may clean up', async () => {
    expect(await endWhenReady(fixture('exit-on-sigterm.mjs'))).toEqual(
      ended({ ending: 'abort', exitCode: 7, stdout: whole('ready\ntidied up\n') }),
    );
  });

  test('is killed when it ignores SIGTERM', async () => {
    const result = await withEnoughTime(
      300,
      (killGraceMs) => endWhenReady({ ...fixture('ignore-sigterm.mjs'), killGraceMs }),
      (input) => input?.stdout.text.includes('not yet') === true,
    );
    expect(result).toEqual(
      ended({
        ending: 'abort',
        exitCode: null,
        signal: 'SIGKILL',
        stdout: whole('ready\nnot yet\n'),
      }),
    );
  });

  test('takes a child with it that ignores SIGTERM, although it has ended itself', async () => {
    const own = `sh -c 'echo $PPID' >&2`;
    const deaf = `trap '' TERM; ${own}; echo ready; exec >&- 2>&-; while :; do sleep 0.1; done`;
    const result = await endWhenReady({ ...shell(`(${deaf}) & wait`), killGraceMs: 300 });
    const [pid = 0] = pidsIn(result?.stderr.text ?? '');
    expect(result).toMatchObject({ ending: 'abort', signal: 'SIGTERM' });
    expect([pid > 0, isAlive(pid)]).toEqual([true, false]);
  });

  // Outside Linux a child that left the group cannot be found.
  test.runIf(process.platform === 'linux').each(['polite', 'deaf'])(
    'takes a %s tree with it, children in sessions of their own included',
    async (manners) => {
      const roll = temporaryDirectory();
      const controller = new AbortController();
      const tree = { ...fixture('grow-tree.mjs', [roll, '2', manners]), killGraceMs: 1000 };
      const running = runProgram(tree, { signal: controller.signal });
      await until(() => readdirSync(roll).length === 7);
      controller.abort();
      expect(await running).toEqual(ended({ ending: 'abort', exitCode: null, signal: 'SIGTERM' }));
      expect(readdirSync(roll).filter((pid) => isAlive(Number(pid)))).toEqual([]);
    },
  );
});

describe('an abort', () => {
  test('ends a running program', async () => {
    const controller = new AbortController();
    const file = path.join(temporaryDirectory(), 'started');
    const running = runProgram(shell(`echo hi; : > '${file}'; sleep 60`), {
      signal: controller.signal,
    });
    await until(() => existsSync(file));
    controller.abort();
    expect(await running).toEqual(
      ended({ ending: 'abort', exitCode: null, signal: 'SIGTERM', stdout: whole('hi\n') }),
    );
  });

  test('before the start prevents the start', async () => {
    const file = path.join(temporaryDirectory(), 'started');
    const result = await runProgram(shell(`: > '${file}'`), { signal: AbortSignal.abort() });
    expect(result).toEqual(ended({ ending: 'abort', exitCode: null }));
    expect(existsSync(file)).toBe(false);
  });

  test('in the same moment as the start ends the program', async () => {
    const controller = new AbortController();
    const running = runProgram(shell('sleep 60'), { signal: controller.signal });
    controller.abort();
    expect(await running).toMatchObject({ ending: 'abort', signal: 'SIGTERM' });
  });

  test('after the end changes nothing, and the same signal serves many programs', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    const { signal } = new AbortController();
    const runs = Array.from({ length: 16 }, () => runProgram(shell('exit 0'), { signal }));
    expect(await Promise.all(runs)).toEqual(runs.map(() => ended({})));
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });
});

describe('a hand-over', () => {
  test('settles with the first line and reports later how the program ended', async () => {
    const lines: string[] = [];
    const result = await runProgram(fixture('hand-over.mjs'), {
      handOver: (line) => lines.push(line) === 1,
    });
    expect(result).toEqual(
      ended({
        ending: 'handed-over',
        exitCode: null,
        stdout: expect.objectContaining({ text: expect.stringMatching(/^\{"async":true\}\n/) }),
        late: expect.any(Promise),
      }),
    );
    expect(await result.late).toEqual(
      ended({ stdout: whole('{"async":true}\nmore at the end\n') }),
    );
    expect(lines).toEqual(['{"async":true}']);
  });

  test('that is declined changes nothing', async () => {
    const lines: string[] = [];
    const handOver = (line: string) => lines.push(line) === 0;
    const result = await runProgram(shell(String.raw`printf 'one\r\ntwo\n'`), { handOver });
    expect(result).toEqual(ended({ stdout: whole('one\r\ntwo\n') }));
    expect(lines).toEqual(['one']);
  });

  test('is not offered without a complete line, however long', async () => {
    const lines: string[] = [];
    const handOver = (line: string) => lines.push(line) > 0;
    const long = { ...shell('head -c 200000 /dev/zero; echo; echo x'), maxStdoutBytes: 4 };
    expect(await runProgram(shell('printf partial'), { handOver })).toEqual(
      ended({ stdout: whole('partial') }),
    );
    expect(await runProgram(long, { handOver })).toMatchObject({ ending: 'exit', late: null });
    expect(lines).toEqual([]);
  });

  test('does not outlive the time-out', async () => {
    const result = await withEnoughTime(
      500,
      (timeoutMs) =>
        runProgram({ ...shell('echo going on; sleep 60'), timeoutMs }, { handOver: () => true }),
      ({ ending }) => ending === 'handed-over',
    );
    expect(result.ending).toBe('handed-over');
    expect(await result.late).toMatchObject({ ending: 'timeout', signal: 'SIGTERM' });
  });
});

test('500 programs one after the other leave no handle, timer or listener behind', async () => {
  const { signal } = new AbortController();
  for (let run = 0; run < 500; run++) await runProgram({ ...shell(':'), stdin: 'x' }, { signal });
  // The test runner has a few timers of its own, which come and go.
  expect(count('Timeout')).toBeLessThan(20);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  await until(() => count('PipeWrap', 'ProcessWrap') === handlesAtFirst);
});

function count(...kinds: string[]): number {
  return process.getActiveResourcesInfo().filter((kind) => kinds.includes(kind)).length;
}

/** Keeps this process busy until something is true, and at least for a time. */
function blockUntil(condition: () => boolean, leastMs: number): void {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  const end = Date.now() + leastMs;
  while (!condition() || Date.now() < end) Atomics.wait(clock, 0, 0, 5);
}
