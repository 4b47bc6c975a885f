import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { tryOrNull } from '../base/errors.ts';

/** A process that runs one of the programs that were looked for. */
export interface RunningProgram {
  readonly pid: number;
  /** In milliseconds since 1970. */
  readonly startedAt: number;
}

/** Lists the processes that run a program of one of these names, by itself or through an interpreter. */
export function listRunningPrograms(
  names: readonly string[],
  { platform, home }: { readonly platform: NodeJS.Platform; readonly home: string | null },
): readonly RunningProgram[] {
  if (platform === 'win32') return [];
  const processes = platform === 'linux' ? listFromProc() : listFromPs();
  return processes
    .filter(({ words }) => words.slice(0, 2).some((word) => names.includes(path.parse(word).name)))
    .filter(({ pid }) => platform !== 'linux' || hasHome(pid, home))
    .map(({ pid, startedAt }) => ({ pid, startedAt }));
}

/** Whether a process uses this home directory; one of another user cannot be read. */
function hasHome(pid: number, home: string | null): boolean {
  const text = tryOrNull(() => readFileSync(`/proc/${pid}/environ`, 'utf8'));
  return home !== null && (text?.split('\0').includes(`HOME=${home}`) ?? false);
}

interface FoundProcess extends RunningProgram {
  /** The program and its arguments. */
  readonly words: readonly string[];
}

function listFromProc(): readonly FoundProcess[] {
  const bootedAt = readBootTime();
  const ids = (tryOrNull(() => readdirSync('/proc')) ?? []).filter((name) => /^\d+$/.test(name));
  return ids.flatMap((id) => {
    const line = tryOrNull(() => readFileSync(`/proc/${id}/cmdline`, 'utf8'));
    const status = tryOrNull(() => readFileSync(`/proc/${id}/stat`, 'latin1'));
    if (line === null || status === null || bootedAt === null) return [];
    const ticks = Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[START_FIELD]);
    return [{ pid: Number(id), startedAt: bootedAt + ticks * TICK_MS, words: line.split('\0') }];
  });
}

// Counted from the state, which follows the program's name.
const START_FIELD = 19;
/** Linux shows times in this unit on all machines. */
const TICK_MS = 10;

function readBootTime(): number | null {
  const text = tryOrNull(() => readFileSync('/proc/stat', 'latin1'));
  const seconds = /^btime (\d+)$/m.exec(text ?? '')?.[1];
  return seconds === undefined ? null : Number(seconds) * 1000;
}

/** By its absolute path, because whoever starts this process may have chosen PATH. */
function listFromPs(): readonly FoundProcess[] {
  const text = tryOrNull(() =>
    execFileSync('/bin/ps', ['-axo', 'pid=,lstart=,args='], {
      encoding: 'utf8',
      env: { LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 5000,
      maxBuffer: 64 * 1024 * 1024,
    }),
  );
  return (text ?? '').split('\n').flatMap(parsePsLine);
}

/** `  123 Mon Nov 16 18:00:00 2026 /bin/zsh -l` */
function parsePsLine(line: string): readonly FoundProcess[] {
  const [, pid, start, args] =
    /^\s*(\d+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/.exec(line) ?? [];
  const startedAt = Date.parse(`${start} UTC`);
  if (pid === undefined || args === undefined || Number.isNaN(startedAt)) return [];
  return [{ pid: Number(pid), startedAt, words: args.split(' ') }];
}
