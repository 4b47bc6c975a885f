import { isCommandStart, splitCommands } from './commands.ts';
import { MAX_FINDINGS } from './limits.ts';

/** For each runner: the words after which one more belongs to the name of what is run. */
const RUNNERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['npm', ['run', 'run-script', 'exec', 'x']],
  ['npx', []],
  ['yarn', ['run', 'exec', 'dlx']],
  ['pnpm', ['run', 'exec', 'dlx']],
  ['bun', ['run', 'x']],
  ['bunx', []],
  ['deno', ['run', 'task']],
  ['make', []],
  ['uv', ['run']],
  ['uvx', []],
  ['poetry', ['run']],
  ['cargo', ['run']],
  ['go', ['run']],
]);

const ANY_RUNNER = new RegExp([...RUNNERS.keys()].join('|'));

/** Words of everyday English, or of paths: runners only where a command begins. */
const ORDINARY_WORDS = ['make', 'go'];

/** Words for a reader: what echo prints to nobody but the terminal, with nothing filled in. */
const PRINTED =
  /(^|[;&({]|\b(?:then|do|else)\s)[ \t]*(?:echo|printf)[ \t][^|;&`$>\n]*(?:>&[12][ \t]*)?(?=[;&})]|$)/gm;

/** Commands in the text that run what other files define, such as `npm run lint`. */
export function findReferencedRunners(text: string): readonly string[] {
  if (!ANY_RUNNER.test(text)) return [];
  const found = new Set<string>();
  for (const command of splitCommands(text.replaceAll(PRINTED, '$1'), joinedArguments)) {
    for (const runner of runnersOf(command)) found.add(runner);
    if (found.size >= MAX_FINDINGS) break;
  }
  return [...found].slice(0, MAX_FINDINGS);
}

/** `spawn('npm', ['run', 'lint'])` names the same command as `npm run lint`. */
function joinedArguments(line: string): string {
  return line.replaceAll(/["'[\],]+/g, ' ');
}

function* runnersOf(words: readonly string[]): Generator<string> {
  for (const [index, word] of words.entries()) {
    const followers = RUNNERS.get(word);
    // `command -v npm` only asks whether there is one.
    if (followers === undefined || words[index - 1] === '-v') continue;
    if (ORDINARY_WORDS.includes(word) && !isCommandStart(words, index)) continue;
    yield runnerName(word, { followers, rest: words.slice(index + 1, index + 8) });
  }
}

function runnerName(
  runner: string,
  { followers, rest }: { followers: readonly string[]; rest: readonly string[] },
): string {
  const [first, second] = rest.filter((word) => /^[\w@.][\w@./:-]*$/.test(word));
  if (first === undefined) return runner;
  if (second === undefined || !followers.includes(first)) return `${runner} ${first}`;
  return `${runner} ${first} ${second}`;
}
