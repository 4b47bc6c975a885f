import { readdirSync } from 'node:fs';
import path from 'node:path';
import { createPrivateDirectory, readRegularFile } from '../base/files.ts';

/** In the order in which their variables are loaded. */
const EVENTS_WITH_ENV_FILE: readonly string[] = [
  'Setup',
  'SessionStart',
  'CwdChanged',
  'FileChanged',
];

export function hasEnvFile(event: string): boolean {
  return EVENTS_WITH_ENV_FILE.includes(event);
}

/** Where hooks of a session leave variables for later Bash calls. */
function getEnvFileDirectory(stateDirectory: string, sessionId: string): string {
  return path.join(stateDirectory, 'session-env', toSafeFileName(sessionId));
}

/** The file into which this hook may write variables, one for each hook; null when it has none. */
export function createEnvFile(
  event: string,
  index: number,
  {
    sessionId,
    stateDirectory,
  }: { readonly sessionId: string; readonly stateDirectory: string | null },
): string | null {
  if (!hasEnvFile(event) || stateDirectory === null) return null;
  const directory = getEnvFileDirectory(stateDirectory, sessionId);
  try {
    createPrivateDirectory(directory);
  } catch {
    // Without a directory to write to, the hook still runs, without the variable.
    return null;
  }
  return path.join(directory, `${event.toLowerCase()}-hook-${index}.sh`);
}

/** The embedding program chooses the session id, which must not lead out of the directory. */
export function toSafeFileName(name: string): string {
  return name.replaceAll(/[^\w-]/g, '-') || 'unnamed';
}

/**
 * What a shell runs before a command, so that the command finds the variables that hooks of the
 * session left. All are exported, also those that a hook only assigned.
 */
export function formatEnvPrelude(stateDirectory: string | null, sessionId: string): string {
  if (stateDirectory === null) return '';
  const directory = getEnvFileDirectory(stateDirectory, sessionId);
  const files = readFileNames(directory)
    .flatMap(parseFileName)
    .toSorted((one, other) => one.event - other.event || one.index - other.index);
  const texts = files.flatMap(({ name }) => readText(path.join(directory, name)) ?? []);
  if (texts.length === 0) return '';
  return ['set -a', ...texts.map(formatSourcing), 'set +a', ''].join('\n');
}

/** By its text, because a command in the sandbox cannot read the file. Sourced, because it may contain `return`. */
function formatSourcing(text: string): string {
  const lines = text.split('\n');
  let end = 'END_OF_ENV_FILE';
  while (lines.includes(end)) end += '_';
  return [`. /dev/stdin <<'${end}'`, text.replace(/\n$/, ''), end].join('\n');
}

/** Null when it is gone or not readable. */
function readText(file: string): string | null {
  try {
    return readRegularFile(file).toString('utf8');
  } catch {
    return null;
  }
}

function readFileNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    // No hook has left anything.
    return [];
  }
}

function parseFileName(name: string) {
  const [, written, index] = /^([a-z]+)-hook-(\d+)\.sh$/.exec(name) ?? [];
  const event = EVENTS_WITH_ENV_FILE.findIndex((each) => each.toLowerCase() === written);
  return event === -1 ? [] : [{ name, event, index: Number(index) }];
}
