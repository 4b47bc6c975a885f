import { readdirSync, readFileSync } from 'node:fs';
import { hasClearedEnvironment, readProcessEnvironment } from './process-marker.ts';

/** Ends one program with everything it started. */
export interface TreeEnder {
  /** Must be called for the first time before the leader was reaped; never throws. */
  end(signal: 'SIGTERM' | 'SIGKILL'): void;
  /** Whether no process of the tree is alive any more, as far as the system shows. */
  hasEnded(): boolean;
  /**
   * Whether no process can have escaped `hasEnded`: one that left its group and its parent must be known
   * by its marker, or the program must have had a PID namespace of its own.
   */
  isComplete(): boolean;
}

/** What tells the processes of a program from others. */
export interface TreeOptions {
  /** Occurs in the environment of each of them; null when they have none. */
  readonly marker?: string | null;
  /** Whether the kernel ends all of them with the leader. */
  readonly ownsPidNamespace?: boolean;
}

/** What ending a tree needs of the operating system. */
export interface TreeMachine {
  readonly platform: NodeJS.Platform;
  /** As `process.kill`: a negative pid means a group, signal 0 only asks; throws on refusal. */
  kill(pid: number, signal: NodeJS.Signals | 0): void;
  /** Starts a program and forgets it; must not throw when there is none. */
  run(file: string, args: readonly string[]): void;
  listProcesses(): readonly ProcessRow[] | null;
  /** The environment of a process of this user; null when it cannot be read. */
  readEnvironment(pid: number): string | null;
}

/** `leader` must have been started as the leader of its own process group. */
export function createTreeEnder(
  leader: number,
  options: TreeOptions = {},
  machine: TreeMachine = thisMachine,
): TreeEnder {
  if (machine.platform === 'win32') return createWindowsTree(leader, machine);
  if (machine.platform === 'linux') return createLinuxTree(leader, options, machine);
  return createGroupTree(leader, options, machine);
}

/**
 * Sends SIGTERM, and SIGKILL after the grace period. The caller clears the returned timer when the tree
 * has ended before.
 */
export function terminateTree(
  tree: TreeEnder,
  graceMs: number,
  onKill?: () => void,
): NodeJS.Timeout {
  tree.end('SIGTERM');
  return setTimeout(() => {
    tree.end('SIGKILL');
    onKill?.();
  }, graceMs);
}

const thisMachine: TreeMachine = {
  platform: process.platform,
  kill: (pid, signal) => process.kill(pid, signal),
  run: (file, args) => {
    const { execFile } = process.getBuiltinModule('node:child_process');
    execFile(file, args, { windowsHide: true }, () => {});
  },
  listProcesses: readProcessTable,
  readEnvironment: readProcessEnvironment,
};

// Windows has no signals: a console program can only be ended by force.
function createWindowsTree(leader: number, machine: TreeMachine): TreeEnder {
  return {
    end: () => machine.run('taskkill', ['/PID', String(leader), '/T', '/F']),
    hasEnded: () => true,
    // A program whose parent has ended is in no list of children.
    isComplete: () => false,
  };
}

function createGroupTree(
  leader: number,
  { ownsPidNamespace = false }: TreeOptions,
  machine: TreeMachine,
): TreeEnder {
  return {
    end: (signal) => void trySignal(machine, -leader, signal),
    hasEnded: () => !trySignal(machine, -leader, 0),
    isComplete: () => ownsPidNamespace,
  };
}

/**
 * Also reaches descendants that left the group with `setsid`, and by their marker those whose parent has
 * ended. They are remembered, because once their parent has ended nothing else may link them to the leader.
 */
function createLinuxTree(leader: number, options: TreeOptions, machine: TreeMachine): TreeEnder {
  const group = createGroupTree(leader, options, machine);
  const remembered = new Map<number, string>();
  const environments = new EnvironmentReader(machine);
  const { marker = null } = options;

  const listMarked = (rows: readonly ProcessRow[]): readonly ProcessRow[] =>
    marker === null ? [] : rows.filter((row) => environments.read(row)?.includes(marker) === true);
  const findLiving = (): ProcessRow[] | null => {
    const rows = machine.listProcesses();
    if (rows === null) return null;
    for (const row of listMarked(rows)) remembered.set(row.pid, row.startedAt);
    const members = findMembers(rows, leader, remembered);
    for (const row of members) remembered.set(row.pid, row.startedAt);
    return members.filter((row) => !row.isZombie);
  };
  const hasStrangers = (rows: readonly ProcessRow[]): boolean =>
    rows.some((row) => isStranger(row, Number(remembered.get(leader) ?? 0), environments));

  return {
    end(signal) {
      const living = findLiving();
      if (living === null) return group.end(signal);
      if (living.some((row) => row.group === leader)) group.end(signal);
      for (const row of living) {
        if (row.group !== leader) trySignal(machine, row.pid, signal);
      }
    },
    hasEnded() {
      const living = findLiving();
      return living === null ? group.hasEnded() : living.length === 0;
    },
    isComplete() {
      if (group.isComplete()) return true;
      const rows = marker === null ? null : machine.listProcesses();
      return rows !== null && !hasStrangers(rows);
    },
  };
}

const INIT = 1;

/** An orphan that is younger than the leader, and whose environment tells nothing of where it is from. */
function isStranger(
  row: ProcessRow,
  leaderStart: number,
  environments: EnvironmentReader,
): boolean {
  if (row.parent !== INIT || row.isZombie || Number(row.startedAt) < leaderStart) return false;
  const environment = environments.read(row);
  return environment !== null && hasClearedEnvironment(environment);
}

/** More processes than that are not looked into. */
const MAX_ENVIRONMENTS = 20_000;

/** Reads each environment once: it changes only when a process starts another program. */
class EnvironmentReader {
  readonly #machine: TreeMachine;
  readonly #known = new Map<string, string | null>();

  constructor(machine: TreeMachine) {
    this.#machine = machine;
  }

  read({ pid, startedAt, isZombie }: ProcessRow): string | null {
    if (isZombie) return null;
    const key = `${pid} ${startedAt}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= MAX_ENVIRONMENTS) return null;
    const environment = this.#machine.readEnvironment(pid);
    // Empty while it starts a program.
    if (environment !== '') this.#known.set(key, environment);
    return environment;
  }
}

function findMembers(
  rows: readonly ProcessRow[],
  leader: number,
  remembered: ReadonlyMap<number, string>,
): ProcessRow[] {
  const isRemembered = (row: ProcessRow) => remembered.get(row.pid) === row.startedAt;
  const leaderRow = rows.find((row) => row.pid === leader);
  const isRecycled = leaderRow !== undefined && remembered.has(leader) && !isRemembered(leaderRow);
  const belongs = (row: ProcessRow) =>
    isRemembered(row) || (!isRecycled && (row.group === leader || row.session === leader));

  const members = rows.filter(belongs);
  const pids = new Set(members.map((row) => row.pid));
  const children = groupByParent(rows.filter((row) => !pids.has(row.pid)));
  for (const member of members) members.push(...(children.get(member.pid) ?? []));
  return members;
}

function groupByParent(rows: readonly ProcessRow[]): Map<number, ProcessRow[]> {
  const children = new Map<number, ProcessRow[]>();
  for (const row of rows) {
    const siblings = children.get(row.parent);
    if (siblings === undefined) children.set(row.parent, [row]);
    else siblings.push(row);
  }
  return children;
}

// ESRCH: it has ended already. EPERM: it changed its user, or (macOS) is a zombie.
function trySignal(machine: TreeMachine, pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    machine.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since boot; with the pid it names one process for ever, as a pid is used again. */
  readonly startedAt: string;
  /** A zombie has ended and only waits for its parent to ask how. */
  readonly isZombie: boolean;
}

/** All processes of a Linux machine, or null where there is no `/proc`. */
export function readProcessTable(): ProcessRow[] | null {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return null;
  }
  return names.flatMap((name) => readProcessRow(name) ?? []);
}

/** A process by its id, or null when there is none. */
function readProcessRow(name: string): ProcessRow | null {
  if (!/^\d+$/.test(name)) return null;
  try {
    return parseProcessStat(readFileSync(`/proc/${name}/stat`, 'latin1'));
  } catch {
    // It ended after the listing.
    return null;
  }
}

/** Reads a line of `/proc/<pid>/stat`; a program's name may itself hold spaces and parentheses. */
export function parseProcessStat(line: string): ProcessRow | null {
  const nameEnd = line.lastIndexOf(')');
  const [state, parent, group, session, ...rest] = line.slice(nameEnd + 2).split(' ');
  const startedAt = rest[FIELDS_BETWEEN_SESSION_AND_START];
  if (nameEnd === -1 || state === undefined || startedAt === undefined) return null;
  return {
    pid: Number.parseInt(line, 10),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startedAt,
    isZombie: state === 'Z' || state === 'X',
  };
}

const FIELDS_BETWEEN_SESSION_AND_START = 15;

const leaders = new Map<number, TreeOptions>();
let isListening = false;

/** Remembers a program's tree until `unregisterTree`, so that none outlives this process unnoticed. */
export function registerTree(leaderPid: number, options: TreeOptions = {}): void {
  leaders.set(leaderPid, options);
  if (isListening) return;
  isListening = true;
  process.once('exit', killLiveTrees);
}

export function unregisterTree(leaderPid: number): void {
  leaders.delete(leaderPid);
}

/** Kills everything that was started and has not ended; synchronous, because nothing else runs any more. */
function killLiveTrees(): void {
  for (const [leader, options] of leaders) createTreeEnder(leader, options).end('SIGKILL');
  leaders.clear();
}
