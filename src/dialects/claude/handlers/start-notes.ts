import { closeSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import type { CommandEntry } from '../entry.ts';
import type { ClaudeSession } from '../session.ts';
import { buildPlaceVariables } from './environment.ts';

/**
 * Explains why a script did not start, where the error of the shell or of `env` is misleading. `cwd`
 * is the directory in which the command ran.
 */
export function listStartNotes(
  entry: CommandEntry,
  exitCode: number | null,
  stderr: string,
  cwd: string,
  session: ClaudeSession,
): readonly string[] {
  if (exitCode === 0 || exitCode === null) return [];
  const unquoted = explainUnquotedPlaces(entry, session);
  if (unquoted.length > 0) return unquoted;
  if (ENV_WITH_CARRIAGE_RETURN.test(stderr)) return [CARRIAGE_RETURN];
  const script = NOT_STARTED.exec(stderr)?.[1];
  if (script === undefined) return [];
  if (exitCode === 126) {
    return [`${script} is not executable: chmod +x it, or put its interpreter in the command`];
  }
  return exitCode === 127 ? explainMissingInterpreter(path.resolve(cwd, script)) : [];
}

const NOT_STARTED = /^\S*sh: (?:line )?\d+: (.*\/.*): (?:not found|Permission denied)$/mu;
const ENV_WITH_CARRIAGE_RETURN = /\benv: .*(?:\\r|\r['’])/u;
const CARRIAGE_RETURN =
  'the first line of the script ends with a carriage return, so its interpreter is not found: save it with Unix line endings';

/** The shell reports the script as not found when the interpreter in its first line is missing. */
function explainMissingInterpreter(script: string): readonly string[] {
  const [, interpreter, end] = /^#!\s*(\S+)[^\n\r]*(\r?)/.exec(readHead(script)) ?? [];
  if (interpreter === undefined) return [];
  return end === '\r'
    ? [CARRIAGE_RETURN]
    : [`${script} exists, but ${interpreter}, which its first line names, does not`];
}

function readHead(file: string): string {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(file, 'r');
    const head = Buffer.alloc(256);
    return head.toString('utf8', 0, readSync(descriptor, head, 0, head.length, 0));
  } catch {
    // The file is missing, as the shell reports.
    return '';
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

/** Explains which unquoted directory variables have blanks, at which the shell splits them. */
export function explainUnquotedPlaces(
  entry: CommandEntry,
  session: ClaudeSession,
): readonly string[] {
  if (entry.args !== null || entry.shell === 'powershell') return [];
  const values = Object.entries(buildPlaceVariables(entry, session));
  return values.flatMap(([name, value]) => {
    if (value === undefined || !/\s/.test(value) || !isUnquoted(name, entry.command)) return [];
    return [
      `$${name} is ${JSON.stringify(value)} here, which the shell splits at its spaces: quote it in the command`,
    ];
  });
}

/** Quoted text, escaped characters and assignments, which the shell does not split; else one character. */
const SHELL_PIECE = /'[^']*'|"(?:\\.|[^"\\])*"|\\.|(?<=^|[\s;&|(])\w+=[^\s;&|"']*|[^'"\\]/gsu;

function isUnquoted(name: string, command: string): boolean {
  const pieces = command.match(SHELL_PIECE) ?? [];
  const bare = pieces.filter((piece) => piece.length === 1).join('');
  return new RegExp(`\\$(?:${name}(?!\\w)|\\{${name}\\b)`).test(bare);
}
