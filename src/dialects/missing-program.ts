import { stripVTControlCharacters } from 'node:util';
import { truncateText } from '../base/json.ts';
import type { Answer } from '../hooks/handler.ts';

/**
 * Marks the answer of a program that ended with 0 although something that it needs is missing. On stdout,
 * where such a message arrives by `2>&1`, it is looked for only when stdout held no answer and no context.
 */
export function markSuspicious(
  answer: Answer,
  output: { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string },
): Answer {
  if (output.exitCode !== 0 || answer.failure !== undefined) return answer;
  const isSilent = Object.keys(answer.decision ?? {}).length === 0;
  const line =
    findMissingProgram(output.stderr) ?? (isSilent ? findMissingProgram(output.stdout) : null);
  if (line === null) return answer;
  if (MISSING_RUNTIME.test(line) && !isRefusing(answer)) {
    const message = `exited with code 0, but it is written for a runtime that did not run it, so it checked nothing: ${line}`;
    return { ...answer, failure: { kind: 'output', message } };
  }
  const suspicion = `exited with code 0, but something that it needs is missing, so it may have checked nothing: ${line}`;
  return { ...answer, suspicion };
}

/** Its first statement failed already: unlike a missing program, that leaves no part of it that may have worked. */
const MISSING_RUNTIME = /\b(?:Bun|Deno) is not defined\b/u;

function isRefusing({ decision = {} }: Answer): boolean {
  const { effect, stop } = decision;
  return effect === 'deny' || effect === 'ask' || (stop ?? null) !== null;
}

/**
 * Finds the line in which a shell, `env` or a loader says that a program or module is missing. A
 * program's message about a missing file that it should read is none.
 */
export function findMissingProgram(output: string): string | null {
  if (!HINT.test(output)) return null;
  const lines = listSearchedLines(stripVTControlCharacters(output)).map((line) => line.trim());
  const startsPrograms = lines.some((line) => PYTHON_SUBPROCESS.test(line));
  const found = lines.find(
    (line) =>
      MESSAGES.some((message) => message.test(line)) ||
      (startsPrograms && line.startsWith('FileNotFoundError:')),
  );
  return found === undefined ? null : truncateText(found, MOST_SHOWN_CHARACTERS);
}

const MOST_SHOWN_CHARACTERS = 200;
const MOST_LINES = 200;
const MOST_LINE_CHARACTERS = 2000;

/** The first and the last lines, because a hook may print megabytes. */
function listSearchedLines(output: string): readonly string[] {
  const lines = output.split('\n');
  const searched =
    lines.length <= 2 * MOST_LINES
      ? lines
      : [...lines.slice(0, MOST_LINES), ...lines.slice(-MOST_LINES)];
  return searched.map((line) => line.slice(0, MOST_LINE_CHARACTERS));
}

/** A quick test: every message below contains one of these. */
const HINT =
  /not found|not_found|no such file|no module|cannot find|can't |cannot |could not|import|interpreter|unknown command|not recognized|enoent|locate|introuvable|nicht gefunden|encontrad|non trovato|未找到|見つかりません|shared librar|library not loaded|missing script|error 127|no package|not load|is not defined/i;

const NOT_FOUND =
  '(?:command not found|not found|inaccessible or not found|commande introuvable|(?:Kommando|Befehl) nicht gefunden|no se encontró la orden|orden no encontrada|comando non trovato|comando não encontrado|未找到命令|コマンドが見つかりません)';
const SCRIPT = String.raw`\S+\.(?:sh|bash|zsh|py|[cm]?[jt]s|rb|pl|php|lua)|\S*/s?bin/\S+`;
const NO_FILE = '(?:No such file or directory|not found)';
const CARRIERS =
  'env|timeout|nohup|nice|ionice|chrt|stdbuf|setsid|setpriv|chroot|taskset|unshare|flock|xargs|sudo|doas|runuser|time|script|strace|exec|command';

/** How each program words it; the words of shells differ by version and language. */
const MESSAGES: readonly RegExp[] = [
  // A script for another runtime, in Node.js
  MISSING_RUNTIME,
  // bash, dash, busybox and ksh, each with the script and the line: `hook.sh: line 3: jq: command not found`
  new RegExp(String.raw`^(?:\S.{0,400}: )?line \d+: \S[^:]{0,200}: ${NOT_FOUND}$`, 'i'),
  new RegExp(String.raw`^\S.{0,400}: (?:\p{L}+ )?\d+ ?: \S[^:]{0,200}: ${NOT_FOUND}\.?$`, 'iu'),
  new RegExp(String.raw`^\S{0,400}\[\d+\]: \S[^:]{0,200}: ${NOT_FOUND}$`, 'i'),
  new RegExp(
    String.raw`^\S{0,400}?\b(?:ba|da|z|k|mk|a)?sh: (?:-c: )?\S[^:]{0,200}: ${NOT_FOUND}$`,
    'i',
  ),
  // A script or library that a shell itself starts or reads.
  new RegExp(String.raw`^\S.{0,400}: line \d+: (?:${SCRIPT}): No such file or directory$`, 'i'),
  new RegExp(String.raw`^\S.{0,400}: (?:line )?\d+: \.: (?:cannot open|can't open) `, 'i'),
  // zsh and fish
  /^\S{0,400}:\d+: (?:command not found|no such file or directory): \S/i,
  /^(?:fish: )?Unknown command:? \S/,
  // tcsh, and the helper of Debian and Ubuntu
  /^\S{1,100}: Command not found\.$/,
  /^Command '[^']{1,100}' not found\b/,
  // Windows
  /^'[^']{1,100}' is not recognized as an internal or external command/,
  /The term '[^']{1,100}' is not recognized as /,
  // The kernel could not start what the #! line names.
  /: bad interpreter: /,
  /: cannot execute: required file not found$/,
  // Programs that start another one
  new RegExp(
    String.raw`^(?:/\S{0,100}/)?(?:${CARRIERS}): (?:(?:failed to (?:run command|execute)|cannot run(?: command)?|can't execute) )?[^:]{1,200}: ${NO_FILE}`,
    'i',
  ),
  new RegExp(String.raw`^(?:/\S{0,100}/)?(?:${CARRIERS}): \S{1,200}: command not found$`, 'i'),
  /\bexec: "[^"]{1,200}": executable file not found in \$PATH/,
  /\bspawn(?:Sync)? \S{1,400} ENOENT\b/,
  /^make(?:\[\d+\])?: \*\*\* .{0,400}\bError 127$/,
  /^npm (?:ERR!|error) Missing script:/,
  /^npm (?:ERR!|error) could not determine executable to run/,
  // Loaders of languages
  /^(?:\w+\.)?ModuleNotFoundError: /,
  /^ImportError: /,
  /^\S{0,400}python[\d.]{0,6}\S{0,10}: (?:No module named |can't open file )/,
  /^(?:Uncaught )?Error(?: \[ERR_MODULE_NOT_FOUND\])?: Cannot find (?:module|package) /,
  /^code: '(?:ERR_)?MODULE_NOT_FOUND'/,
  /^error: (?:Module not found|Cannot find (?:module|package)) /i,
  /\bcannot load such file -- .{1,400}\(LoadError\)/,
  /^.{0,400}\(LoadError\)$/,
  /^Can't locate \S{1,400} in @INC\b/,
  /\bFailed opening required '/,
  /\bmodule '[^']{1,200}' not found:/,
  /\bthere is no package called /,
  /^Error: (?:Could not find or load main class|Unable to access jarfile) /,
  /: error while loading shared libraries: /,
  /^dyld(?:\[\d+\])?: Library not loaded: /,
];

/** Python has one message for a missing program and a missing file; only the traceback tells which. */
const PYTHON_SUBPROCESS = /subprocess\.py"|\b_execute_child\b/;
