import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runProgram } from '../../src/process/run.ts';
import { isAlive, program, temporaryDirectory, until } from './programs.ts';

const isPossible = process.platform === 'linux' && spawnSync('setsid', ['true']).status === 0;

const QUIET = '< /dev/null > /dev/null 2>&1';

/** Ways to leave the group, the session, the parent and the pipes; PROGRAM writes its pid and stays. */
const DAEMONS: readonly (readonly [string, string])[] = [
  ['setsid', `setsid PROGRAM ${QUIET} &`],
  ['a double fork', `(PROGRAM ${QUIET} &)`],
  ['a double fork into a session of its own', `(setsid PROGRAM ${QUIET} &)`],
  ['nohup', `(setsid nohup PROGRAM ${QUIET} &)`],
  ['a fork for each step', `sh -c "sh -c '(setsid PROGRAM &) &' &" ${QUIET}`],
  ['some variables removed', `(env -u PATH /usr/bin/setsid PROGRAM ${QUIET} &)`],
];

interface Daemon {
  readonly script: string;
  readonly pid: () => number;
}

/** It is started and written down before the program goes on to wait. */
function createDaemon(way: string): Daemon {
  const file = path.join(temporaryDirectory(), 'pid');
  const stay = `/bin/sh -c "echo \\$\\$ > ${file}; trap : TERM; while :; do /bin/sleep 1; done"`;
  const pid = (): number => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0);
  onTestFinished(() => {
    if (pid() > 0 && isAlive(pid())) process.kill(pid(), 'SIGKILL');
  });
  const nested = way.includes('"sh -c') || way.startsWith('sh -c');
  const program = nested ? writeProgram(file) : stay;
  return { script: `${way.replaceAll('PROGRAM', program)}\nexec sleep 1000`, pid };
}

function writeProgram(file: string): string {
  const script = path.join(path.dirname(file), 'daemon.sh');
  const text = `echo $$ > ${file}; trap : TERM; while :; do /bin/sleep 1; done`;
  spawnSync('sh', ['-c', 'printf "%s" "$1" > "$2"', 'sh', text, script]);
  return `/bin/sh ${script}`;
}

async function abortOnceRunning({ script, pid }: Daemon) {
  const ending = new AbortController();
  const running = runProgram(
    { ...program({ file: '/bin/sh', args: ['-c', script] }), killGraceMs: 300 },
    { signal: ending.signal },
  );
  await until(() => pid() > 0);
  // The parents between it and the program have ended.
  await until(() => /^\d+ \(.*\) \S 1 /.test(readStat(pid())) || script.startsWith('setsid'));
  ending.abort();
  return running;
}

function readStat(pid: number): string {
  return existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'latin1') : '';
}

describe.skipIf(!isPossible)('a process that detached itself', () => {
  test.each(DAEMONS)('by %s is ended with the program, and that is known', async (_way, way) => {
    const daemon = createDaemon(way);
    const result = await abortOnceRunning(daemon);
    expect(result).toMatchObject({ ending: 'abort', isTreeEnded: true });
    expect(isAlive(daemon.pid())).toBe(false);
  });

  test('with an empty environment may be left, and that is said', async () => {
    const daemon = createDaemon(`(env -i /usr/bin/setsid PROGRAM ${QUIET} &)`);
    const result = await abortOnceRunning(daemon);
    expect(isAlive(daemon.pid())).toBe(true);
    expect(result).toMatchObject({ ending: 'abort', isTreeEnded: false });
  });

  test('stays when the program ends by itself', async () => {
    const daemon = createDaemon(`(setsid PROGRAM ${QUIET} &)`);
    const script = daemon.script.replace('exec sleep 1000', 'exit 0');
    const result = await runProgram(program({ file: '/bin/sh', args: ['-c', script] }));
    await until(() => daemon.pid() > 0);
    expect(result).toMatchObject({ ending: 'exit', exitCode: 0, isTreeEnded: false });
    expect(isAlive(daemon.pid())).toBe(true);
  });
});
