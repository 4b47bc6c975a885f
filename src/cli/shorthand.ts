import { COMMANDS, GLOBAL_FLAGS, RUN_FLAGS } from './commands.ts';

/** Commands by the flags that stand for them, as other agents have them. */
const COMMAND_FLAGS = new Map([
  ['-p', 'run'],
  ['--print', 'run'],
  ['-i', 'chat'],
  ['--interactive', 'chat'],
]);
const SESSION_FLAGS = new Set(['-c', '--continue', '-r', '--resume']);
/** A prompt has blanks. */
const SESSION_ID = /^[^\s-]\S*$/;

/**
 * Expands what may be left out of a command line: `hookline "two words"` is a chat on a terminal and a run
 * otherwise, `-p` is run, `-i` is chat, and `version` and `help COMMAND` are flags. One bare word stays a
 * command, so that a mistyped one is not sent to a model.
 */
export function expandShorthand(args: readonly string[], isTerminal: boolean): readonly string[] {
  if (args[0] === 'version') return ['--version', ...args.slice(1)];
  if (args[0] === 'help') return [...args.slice(1), '--help'];
  const word = findFirstWord(args);
  if (word !== null && isCommandWord(word)) return completeResume(args);
  const named = args.flatMap((arg) => COMMAND_FLAGS.get(arg) ?? []).at(0);
  const isPrompt = word?.trim().includes(' ') ?? false;
  if (named === undefined && !isPrompt && !args.some((arg) => SESSION_FLAGS.has(arg))) return args;
  const rest = args.filter((arg) => !COMMAND_FLAGS.has(arg));
  return completeResume([named ?? (isTerminal ? 'chat' : 'run'), ...rest]);
}

/** `--resume` without an id, or before a prompt, means the last session. */
function completeResume(args: readonly string[]): readonly string[] {
  return args.map((arg, at) =>
    (arg === '-r' || arg === '--resume') && !SESSION_ID.test(args[at + 1] ?? '') ? '-c' : arg,
  );
}

function isCommandWord(word: string): boolean {
  return COMMANDS.some(({ usage }) => usage.split(' ')[0] === word);
}

/** Finds the first argument that is neither a flag nor the value of one. */
function findFirstWord(args: readonly string[]): string | null {
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (!arg.startsWith('-')) return arg;
    if (takesValue(arg, args[at + 1] ?? '')) at += 1;
  }
  return null;
}

function takesValue(arg: string, next: string): boolean {
  if (arg === '-r' || arg === '--resume') return SESSION_ID.test(next);
  return [...GLOBAL_FLAGS, ...RUN_FLAGS].some(
    ({ flag }) => flag.includes('<') && flag.split(/[ ,]+/).includes(arg),
  );
}
