/** What a script of sed does beside changing text. */
export interface SedScript {
  /** Whether it runs a command, or could not be read. */
  readonly mayRun: boolean;
  /** Files that it reads or writes by `r`, `R`, `w` and `W`. */
  readonly files: readonly string[];
}

/** The scripts among the arguments of sed: the value of each `-e`, or the first that is no option. */
export function readSedArguments(args: readonly string[]): SedScript {
  const { scripts, mayRun } = splitArguments(args);
  const read = scripts.map(readSedScript);
  return {
    mayRun: mayRun || read.some((each) => each.mayRun),
    files: read.flatMap((each) => each.files),
  };
}

function splitArguments(args: readonly string[]): { scripts: readonly string[]; mayRun: boolean } {
  const scripts: string[] = [];
  const operands: string[] = [];
  let mayRun = false;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    const [, joined] = /^(?:--ex\w*=|-[nErszub]*e)([^]+)$/.exec(arg) ?? [];
    if (joined !== undefined) scripts.push(joined);
    else if (/^(?:--ex\w*|-[nErszub]*e)$/.test(arg)) scripts.push(args[(at += 1)] ?? '');
    else if (/^(?:--fi|-[nErszub]*f)/.test(arg)) mayRun = true;
    else if (!/^-./.test(arg)) operands.push(arg);
  }
  return { scripts: scripts.length > 0 || mayRun ? scripts : operands.slice(0, 1), mayRun };
}

/** Not every sed takes a delimiter in a bracket for text, so that nobody can tell where `s/[/]/x/` ends. */
function hasOpenBracket(pattern: string): boolean {
  return /\[(?!\^?\[:[a-z]+:\]\]|\^?[^\]^[][^\][]*\])/.test(pattern.replaceAll(/\\[^]/g, ''));
}

const ADDRESS =
  /(?:\d+(?:~\d+)?|\$|[+~]\d+|\/(?:\\.|[^/\\\n])*\/[IM]*|\\([^\n])(?:\\.|(?!\1)[^\\\n])*\1[IM]*)/y;
const SIMPLE = /[=dDgGhHnNpPxzF]|[lLqQ]\s*\d*/y;
const LABEL = /[:btTv]\s*[^\s;{}]*/y;
const TEXT = /[aic](?:\\[^]|[^\\\n])*/y;
const FILE = /[rRwW]\s*([^\n]*)/y;

function readSedScript(script: string): SedScript {
  const files: string[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(script);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  for (;;) {
    take(/(?:[\s;{}]|#[^\n]*)*/y);
    if (at >= script.length) return { mayRun: false, files };
    const from = at;
    if (take(ADDRESS) !== null && take(/\s*,\s*/y) !== null) take(ADDRESS);
    if (hasOpenBracket(script.slice(from, at))) return { mayRun: true, files };
    take(/[\s!]*/y);
    if (script[at] === '{' || script[at] === '}') continue;
    const file = take(FILE);
    if (file !== null) files.push(file[1] ?? '');
    if (file !== null || take(SIMPLE) !== null || take(TEXT) !== null || take(LABEL) !== null) {
      continue;
    }
    const end = readReplacement(script, at);
    if (end === null) return { mayRun: true, files };
    at = end;
    const written = take(/[gpiImM\d]*(?:w\s*([^\n]*))?/y)?.[1];
    if (written !== undefined) files.push(written);
    if (at < script.length && !/[\s;}#]/.test(script[at] ?? '')) return { mayRun: true, files };
  }
}

/** The position after `s/a/b/` or `y/a/b/`, with any delimiter; null for any other command. */
function readReplacement(script: string, start: number): number | null {
  if (!/[sy]/.test(script[start] ?? '')) return null;
  const delimiter = script[start + 1] ?? '';
  const from = start + 2;
  let at = from;
  for (let parts = 0; parts < 2; at += 1) {
    if (at >= script.length) return null;
    if (script[at] === '\\') at += 1;
    else if (script[at] === delimiter) {
      if (parts === 0 && hasOpenBracket(script.slice(from, at))) return null;
      parts += 1;
    }
  }
  return at;
}
