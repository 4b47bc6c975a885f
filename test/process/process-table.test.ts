import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  isProcessAlive,
  listAncestors,
  parsePsLine,
  readCommandLine,
  readProcess,
} from '../../src/process/process-table.ts';

const hasPs = spawnSync('/bin/ps', ['-o', 'pid=', '-p', String(process.pid)]).status === 0;

describe('a process', () => {
  it('has a parent, and ancestors up to the first process', () => {
    const self = readProcess('self')!;
    expect([self.pid, self.parent]).toEqual([process.pid, process.ppid]);
    const { ancestors, isComplete } = listAncestors(self);
    expect(ancestors[0]?.pid).toBe(process.ppid);
    expect(isComplete).toBe(true);
    expect(ancestors.at(-1)?.parent).toBe(0);
  });

  it('is alive until it has ended, and is not another one with its id', async () => {
    const child = spawn('sleep', ['60']);
    await once(child, 'spawn');
    const { pid, startedAt } = readProcess(child.pid!)!;
    const states = [isProcessAlive({ pid, startedAt }), isProcessAlive({ pid, startedAt: '1' })];
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect([...states, isProcessAlive({ pid, startedAt })]).toEqual([true, false, false]);
  });

  // As root no process is out of reach; CI runs this file as another user, too.
  it('of another user is judged by its start time, too', () => {
    const { pid, startedAt } = readProcess(1)!;
    const states = [isProcessAlive({ pid, startedAt }), isProcessAlive({ pid, startedAt: '1' })];
    expect(states).toEqual([true, false]);
  });

  it('is known by its command line, cut where it is long', async () => {
    const child = spawn('sh', ['-c', 'read line', 'x'.repeat(1000)]);
    await once(child, 'spawn');
    const line = readCommandLine(child.pid!);
    child.stdin.end();
    expect(line).toMatch(/^sh -c read line x+…$/);
    expect(line).toHaveLength(301);
  });
});

describe('a line of ps', () => {
  it('is read as macOS prints it', () => {
    expect(parsePsLine('  501   1 7f8a1c0 Tue Nov 17 22:03:27 2026    \n')).toEqual({
      pid: 501,
      parent: 1,
      session: 501,
      startedAt: String(Date.UTC(2026, 10, 17, 22, 3, 27) / 1000),
    });
  });

  it.runIf(hasPs)('is read as this machine prints it', () => {
    const columns = 'pid=,ppid=,sess=,lstart=';
    const env = { LC_ALL: 'C', TZ: 'UTC' };
    const args = ['-o', columns, '-p', String(process.pid)];
    const line = execFileSync('/bin/ps', args, { encoding: 'utf8', env });
    expect(parsePsLine(line)).toMatchObject({ pid: process.pid, parent: process.ppid });
  });

  it.each(['', 'PID PPID', '1 2 3 never'])('that is %j tells nothing', (line) => {
    expect(parsePsLine(line)).toBeNull();
  });
});
