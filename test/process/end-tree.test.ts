import { describe, expect, test } from 'vitest';
import {
  createTreeEnder,
  type TreeMachine,
  type ProcessRow,
  parseProcessStat,
  readProcessTable,
} from '../../src/process/end-tree.ts';

function row(pid: number, parent: number, more: Partial<ProcessRow> = {}): ProcessRow {
  return { pid, parent, group: 10, session: 10, startedAt: `t${pid}`, isZombie: false, ...more };
}

/** A fake machine that records what it was asked to do. */
function recordingMachine(
  platform: NodeJS.Platform,
  tables: (readonly ProcessRow[] | null)[],
  environments: Readonly<Record<number, string>> = {},
) {
  const actions: unknown[] = [];
  const machine: TreeMachine = {
    platform,
    kill: (pid, signal) => void actions.push([pid, signal]),
    run: (file, args) => void actions.push([file, ...args]),
    listProcesses: () => tables.shift() ?? null,
    readEnvironment: (pid) => environments[pid] ?? 'HOME=/home/me',
  };
  return { machine, asked: actions };
}

const away = { group: 13, session: 13 };
const stranger = row(99, 1, { group: 99, session: 99 });

describe('on Linux', () => {
  test('the group is signalled at once and descendants outside it one by one', () => {
    const table = [row(10, 1), row(11, 10), row(13, 11, away), row(14, 13, away), stranger];
    const { machine, asked } = recordingMachine('linux', [table]);
    createTreeEnder(10, {}, machine).end('SIGTERM');
    expect(asked).toEqual([
      [-10, 'SIGTERM'],
      [13, 'SIGTERM'],
      [14, 'SIGTERM'],
    ]);
  });

  test('a process that left the group is remembered after its parent ended', () => {
    const before = [row(10, 1), row(13, 10, away)];
    const after = [row(13, 1, away), stranger];
    const { machine, asked } = recordingMachine('linux', [before, after, after]);
    const tree = createTreeEnder(10, {}, machine);
    tree.end('SIGTERM');
    expect(tree.hasEnded()).toBe(false);
    tree.end('SIGKILL');
    expect(asked).toEqual([
      [-10, 'SIGTERM'],
      [13, 'SIGTERM'],
      [13, 'SIGKILL'],
    ]);
  });

  test('a process that got an old pid is left alone, and so is its group', () => {
    const before = [row(10, 1), row(13, 10, away)];
    const after = [row(10, 1, { startedAt: 'later' }), row(13, 1, { startedAt: 'later' })];
    const { machine, asked } = recordingMachine('linux', [before, after, after]);
    const tree = createTreeEnder(10, {}, machine);
    tree.end('SIGTERM');
    asked.length = 0;
    tree.end('SIGKILL');
    expect(asked).toEqual([]);
    expect(tree.hasEnded()).toBe(true);
  });

  test('the rest of the group is signalled after the leader ended', () => {
    const { machine, asked } = recordingMachine('linux', [[row(10, 1), row(11, 10)], [row(11, 1)]]);
    const tree = createTreeEnder(10, {}, machine);
    tree.end('SIGTERM');
    tree.end('SIGKILL');
    expect(asked).toEqual([
      [-10, 'SIGTERM'],
      [-10, 'SIGKILL'],
    ]);
  });

  test('zombies have ended', () => {
    const table = [row(10, 1, { isZombie: true }), row(11, 1, { isZombie: true })];
    const { machine, asked } = recordingMachine('linux', [table, table]);
    const tree = createTreeEnder(10, {}, machine);
    tree.end('SIGTERM');
    expect([asked, tree.hasEnded()]).toEqual([[], true]);
  });

  test('without a process table only the group is signalled', () => {
    const { machine, asked } = recordingMachine('linux', []);
    const tree = createTreeEnder(10, {}, machine);
    tree.end('SIGTERM');
    expect([asked, tree.hasEnded()]).toEqual([
      [
        [-10, 'SIGTERM'],
        [-10, 0],
      ],
      false,
    ]);
  });
});

describe('on other POSIX systems', () => {
  test('the group is signalled', () => {
    const { machine, asked } = recordingMachine('darwin', []);
    createTreeEnder(10, {}, machine).end('SIGKILL');
    expect(asked).toEqual([[-10, 'SIGKILL']]);
  });

  test.each(['ESRCH', 'EPERM'])('a refusal (%s) means that the group has ended', (code) => {
    const refuse = () => {
      throw Object.assign(new Error(code), { code });
    };
    const { machine } = recordingMachine('darwin', []);
    const tree = createTreeEnder(10, {}, { ...machine, kill: refuse });
    tree.end('SIGTERM');
    expect(tree.hasEnded()).toBe(true);
  });
});

describe('on Windows', () => {
  test('taskkill ends the tree by force', () => {
    const { machine, asked } = recordingMachine('win32', []);
    const tree = createTreeEnder(10, {}, machine);
    tree.end('SIGTERM');
    expect([asked, tree.hasEnded()]).toEqual([[['taskkill', '/PID', '10', '/T', '/F']], true]);
  });
});

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

test('a zombie is recognised', () => {
  const line = '5 (sh) Z 1 5 5 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 77 0 0';
  expect(parseProcessStat(line)?.isZombie).toBe(true);
});

test.each(['', 'nonsense', '5 (sh) S 1 2'])('an invalid line is no process: %j', (line) => {
  expect(parseProcessStat(line)).toBeNull();
});

test.runIf(process.platform === 'linux')('the table of this machine holds this process', () => {
  const self = readProcessTable()?.find((row) => row.pid === process.pid);
  expect(self).toMatchObject({ parent: process.ppid, isZombie: false });
});

describe('a process that left its group and its parent', () => {
  const orphan = row(20, 1, { group: 20, session: 20 });

  test('is ended where its environment holds the marker', () => {
    const tables = [[row(10, 1), orphan, stranger]];
    const { machine, asked } = recordingMachine('linux', tables, { 20: 'A=1\0M=id-1.' });
    createTreeEnder(10, { marker: 'id-1.' }, machine).end('SIGKILL');
    expect(asked).toEqual([
      [-10, 'SIGKILL'],
      [20, 'SIGKILL'],
    ]);
  });

  test.each<[string, Record<number, string>, boolean]>([
    ['nobody can be it', {}, true],
    ['one without the marker and a home may be it', { 20: '' }, false],
    ['another program has marked it', { 20: 'HOOKLINE_PROCESS=other-1.' }, true],
  ])('%s', (_what, environments, isComplete) => {
    const young = { ...orphan, startedAt: '200' };
    const leader = row(10, 1, { startedAt: '100' });
    const old = row(5, 1, { startedAt: '50' });
    const tables = [
      [leader, young, old],
      [young, old],
    ];
    const { machine } = recordingMachine('linux', tables, { ...environments, 5: '' });
    const tree = createTreeEnder(10, { marker: 'id-1.' }, machine);
    tree.end('SIGKILL');
    expect(tree.isComplete()).toBe(isComplete);
  });

  test.each<NodeJS.Platform>(['darwin', 'win32', 'freebsd'])(
    'cannot be known on %s',
    (platform) => {
      const { machine } = recordingMachine(platform, []);
      expect(createTreeEnder(10, { marker: 'id-1.' }, machine).isComplete()).toBe(false);
    },
  );

  test('ends with its PID namespace', () => {
    const { machine } = recordingMachine('linux', []);
    expect(createTreeEnder(10, { ownsPidNamespace: true }, machine).isComplete()).toBe(true);
  });
});
