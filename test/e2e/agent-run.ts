import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { ScriptTurn } from '../../src/agent/models/scripted.ts';
import { onTestFinished } from 'vitest';
import { BugError } from '../../src/base/errors.ts';
import {
  type HooklineOptions,
  type HooklineResult,
  runHookline,
  startHookline,
} from '../cli/hookline.ts';
import { at, type TempWorkspace, write } from '../cli/temp-workspace.ts';
import { until } from '../process/programs.ts';

export type Script = readonly ScriptTurn[];

export const DONE: ScriptTurn = { text: 'Done.' };

export function bash(command: string): ScriptTurn {
  return { tools: [{ name: 'Bash', input: { command } }] };
}

/** The arguments of a run with a scripted model; its file lies beside the repository. */
export function scripted(
  workspace: TempWorkspace,
  turns: Script,
  args: readonly string[],
): readonly string[] {
  const script = write(workspace.directory, 'script.json', JSON.stringify(turns));
  return ['run', '--script', script, ...args];
}

/** Runs the built program with a scripted model. */
export function runScript(
  workspace: TempWorkspace,
  turns: Script,
  args: readonly string[],
  more: Partial<HooklineOptions> = {},
): Promise<HooklineResult> {
  return runHookline(scripted(workspace, turns, args), at(workspace, more));
}

/** Starts it; the caller waits for it, and it ends with the test at the latest. */
export function startScript(workspace: TempWorkspace, turns: Script, args: readonly string[]) {
  const child = startHookline(scripted(workspace, turns, args), at(workspace), {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

export interface Line {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** The lines of `--output stream-json`. */
export function linesOf({ stdout, stderr, code }: HooklineResult): readonly Line[] {
  const lines = stdout.split('\n').filter((line) => line !== '');
  try {
    return lines.map((line) => JSON.parse(line));
  } catch (error) {
    throw new BugError(`exit ${code}, a line is no JSON: ${stdout}\n${stderr}`, { cause: error });
  }
}

/** The output of each call, as it went to the model, by the order of their ends. */
export function toolEnds(result: HooklineResult): readonly Line[] {
  return linesOf(result).filter(({ type }) => type === 'tool-end');
}

export function errorOf(end: Line | undefined): string {
  const output: unknown = end?.['output'];
  if (typeof output !== 'object' || output === null) return `no output: ${JSON.stringify(end)}`;
  return 'error' in output && typeof output.error === 'string'
    ? output.error
    : `no error: ${JSON.stringify(output)}`;
}

/** A stored line of a transcript, in Claude's shape. */
export interface StoredLine {
  readonly type: string;
  readonly message?: { readonly role: string; readonly content: unknown };
  readonly [key: string]: unknown;
}

export function transcriptOf({ home }: TempWorkspace, sessionId: string): string {
  return path.join(home, '.hookline', 'sessions', sessionId, `${sessionId}.jsonl`);
}

export function storedLines(workspace: TempWorkspace, sessionId: string): readonly StoredLine[] {
  const text = readFileSync(transcriptOf(workspace, sessionId), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** The messages of both sides as one text, to search in. */
export function readMessagesText(workspace: TempWorkspace, sessionId: string): string {
  return JSON.stringify(storedLines(workspace, sessionId).map(({ message }) => message ?? null));
}

/** Waits until the file has content, and returns it. */
export async function written(file: string): Promise<string> {
  await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
  return readFileSync(file, 'utf8').trim();
}

/** A program for `node task.cjs` that runs a shell script which no permission rule can read. */
export function writeTask(directory: string, script: string): void {
  const encoded = Buffer.from(script).toString('base64');
  const program = `const script = Buffer.from('${encoded}', 'base64').toString();
const { status } = require('node:child_process').spawnSync('bash', ['-c', script], { stdio: 'inherit' });
process.exitCode = status;
`;
  write(directory, 'task.cjs', program);
}
