import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { BugError } from '../../src/base/errors.ts';

const PROJECT = path.resolve(import.meta.dirname, '../..');
const BUILT = path.join(PROJECT, 'dist', 'bin', 'hookline.js');

export interface HooklineOptions {
  readonly cwd: string;
  /** Null starts it without HOME. */
  readonly home: string | null;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Another copy of it than the built one. */
  readonly program?: string;
  /** Only root can switch to another user. */
  readonly uid?: number;
}

export interface HooklineResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built program to its end, in an environment that holds only PATH, HOME and `env`. */
export async function runHookline(
  args: readonly string[],
  options: HooklineOptions,
): Promise<HooklineResult> {
  const child = startHookline(args, options);
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(options.stdin ?? '');
  return resultOf(child);
}

/** Starts the built program; the caller waits for it. */
export function startHookline(
  args: readonly string[],
  { cwd, uid, program = hooklineProgram(), ...options }: HooklineOptions,
  more: SpawnOptions = {},
): ChildProcess {
  const identity = uid === undefined ? {} : { uid, gid: uid };
  return spawn(process.execPath, [program, ...args], {
    cwd,
    env: environmentOf(options),
    ...identity,
    ...more,
  });
}

export function environmentOf({
  home,
  env,
}: Pick<HooklineOptions, 'home' | 'env'>): Record<string, string> {
  const surroundings = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', ...env };
  return home === null ? surroundings : { HOME: home, ...surroundings };
}

export async function resultOf(child: ChildProcess): Promise<HooklineResult> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const [out, err] = [stdout, stderr].map((chunks) => Buffer.concat(chunks).toString('utf8'));
  return { code, stdout: out ?? '', stderr: err ?? '' };
}

/** What `--json` printed; the whole result is the message when it is not JSON. */
export function jsonOf({ stdout, stderr, code }: HooklineResult) {
  try {
    return JSON.parse(stdout);
  } catch (error) {
    throw new BugError(`exit ${code}, no JSON on stdout: ${stdout}\n${stderr}`, { cause: error });
  }
}

let program: string | null = null;

/** The built program. HOOKLINE_TEST_PROGRAM names another build, for example of a copy. */
export function hooklineProgram(): string {
  program ??= process.env['HOOKLINE_TEST_PROGRAM'] ?? builtProgram();
  return program;
}

function builtProgram(): string {
  const isCurrent =
    existsSync(BUILT) && statSync(BUILT).mtimeMs >= newestIn(path.join(PROJECT, 'src'));
  if (isCurrent) return BUILT;
  throw new BugError('dist/bin/hookline.js is missing or older than src: run npm run build');
}

function newestIn(directory: string): number {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true });
  const times = files
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(path.join(entry.parentPath, entry.name)).mtimeMs);
  return Math.max(...times);
}
