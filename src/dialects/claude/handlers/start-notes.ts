import { closeSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import type { CommandEntry } from '../entry.ts';
import type { ClaudeSession } from '../session.ts';
import { buildPlaceVariables } from './environment.ts';

/** How a command ended that may never have got to its script. */
export interface EndedStart {
  readonly exitCode: number | null;
  readonly stderr: string;
  /** Where it ran. */
  readonly cwd: string;
}

/** What the words of a shell, or of `env`, do not tell about a script that did not start. */
export function listStartNotes(
  entry: CommandEntry,
  { exitCode, stderr, cwd }: EndedStart,
  session: ClaudeSession,
): readonly string[] {
  if (exitCode === 0 || exitCode === null) return [];
  const unquoted = explainUnquotedPlaces(entry, session);
  if (unquoted.length > 0) return unquoted;
  if (ENV_WITH_CARRIAGE_RETURN.test(stderr)) return [CARRIAGE_RETURN];
  const script = NOT_STARTED.exec(stderr)?.[1];
  if (script === undefined) return [];
  if (exitCode === 126) return [`${script} is not executable: chmod +x it, or write what runs it`];
  return exitCode === 127 ? explainMissingInterpreter(path.resolve(cwd, script)) : [];
}

const NOT_STARTED = /^\S*sh: (?:line )?\d+: (.*\/.*): (?:not found|Permission denied)$/mu;
const ENV_WITH_CARRIAGE_RETURN = /\benv: .*(?:\\r|\r['’])/u;
const CARRIAGE_RETURN =
  'the first line of the script ends with a carriage return, so no interpreter has the name that stands there: save it with the line ends of Unix';

/** A shell says of the script that it is not found, though it means what the first line names. */
function explainMissingInterpreter(script: string): readonly string[] {
  const [, interpreter, end] = /^#!\s*(\S+)[^\n\r]*(\r?)/.exec(readHead(script)) ?? [];
  if (interpreter === undefined) return [];
  return end === '\r'
    ? [CARRIAGE_RETURN]
    : [`${script} is there; ${interpreter}, which its first line names, is not`];
}

function readHead(file: string): string {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(file, 'r');
    const head = Buffer.alloc(256);
    return head.toString('utf8', 0, readSync(descriptor, head, 0, head.length, 0));
  } catch {
    // Then it is not there, as the shell says.
    return '';
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

/** Places with blanks in their names that a shell takes apart, because no quotes stand around them. */
export function explainUnquotedPlaces(
  entry: CommandEntry,
  session: ClaudeSession,
): readonly string[] {
  if (entry.args !== null || entry.shell === 'powershell') return [];
  const values = Object.entries(buildPlaceVariables(entry, session));
  return values.flatMap(([name, value]) => {
    if (value === undefined || !/\s/.test(value) || !isUnquoted(name, entry.command)) return [];
    return [
      `$${name} is ${JSON.stringify(value)} here, which the shell takes apart at its blanks: write quotes around it in the command`,
    ];
  });
}

/** Quotes, escaped characters and assignments, in which nothing is taken apart, and the rest. */
const SHELL_PIECE = /'[^']*'|"(?:\\.|[^"\\])*"|\\.|(?<=^|[\s;&|(])\w+=[^\s;&|"']*|[^'"\\]/gsu;

function isUnquoted(name: string, command: string): boolean {
  const pieces = command.match(SHELL_PIECE) ?? [];
  const bare = pieces.filter((piece) => piece.length === 1).join('');
  return new RegExp(`\\$(?:${name}(?!\\w)|\\{${name}\\b)`).test(bare);
}
