import { expect, test } from 'vitest';
import { parseProcessStat, readProcessTable } from '../../src/process/process-table.ts';

test('a line of the process table is read although the name holds spaces and parentheses', () => {
  const line =
    '4242 (tmux: (a) b) S 17 4240 4239 34816 -1 4194304 99 0 0 0 1 2 3 4 20 0 1 0 887766 123 45';
  expect(parseProcessStat(line)).toEqual({
    pid: 4242,
    parent: 17,
    group: 4240,
    session: 4239,
    startedAt: '887766',
    isZombie: false,
  });
});

test('a zombie is told apart', () => {
  const line = '5 (sh) Z 1 5 5 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 77 0 0';
  expect(parseProcessStat(line)?.isZombie).toBe(true);
});

test.each(['', 'nonsense', '5 (sh) S 1 2'])('a line that is none is no process: %j', (line) => {
  expect(parseProcessStat(line)).toBeNull();
});

test.runIf(process.platform === 'linux')('the table of this machine holds this process', () => {
  const self = readProcessTable()?.find((row) => row.pid === process.pid);
  expect(self).toMatchObject({ parent: process.ppid, isZombie: false });
});
