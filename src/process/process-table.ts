import { readdirSync, readFileSync } from 'node:fs';

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
  return names.flatMap((name) => readRow(name) ?? []);
}

function readRow(name: string): ProcessRow | null {
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
