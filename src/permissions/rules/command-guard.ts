import path from 'node:path';
import { type CommandPattern, isCommandMatch, isMatchAll, canRunCommand } from './bash-rule.ts';
import { UNKNOWN } from './named-words.ts';
import type { PathContext } from './path-rule.ts';
import { parseShellCommands } from './shell-commands.ts';
import { type CommandWords, resolveShellFiles } from './shell-files.ts';

/** Whether something is what a rule means: for sure, possibly, or not at all. */
export type GuardMatch = 'yes' | 'maybe' | 'no';

/** Whether a command line runs such a command, in whatever words; `maybe` when it cannot be told. */
export function matchGuardedCommand(
  pattern: CommandPattern,
  line: string,
  place: PathContext,
): GuardMatch {
  if (isMatchAll(pattern)) return 'yes';
  const { commands, inner } = parseShellCommands(line);
  const written = [...commands, ...inner].flatMap(({ text, unquoted }) => [text, unquoted]);
  const spelled = resolveShellFiles(line, place).commands.flatMap(({ words }) => spellings(words));
  const known = [...written, ...spelled.map((words) => words.join(' '))];
  if (known.some((command) => isCommandMatch(pattern, command))) return 'yes';
  return canRunCommand(pattern, line) || spelled.some(isAnyCommand) ? 'maybe' : 'no';
}

/** Programs that run the command that follows them, somewhere among their arguments. */
const CARRIERS: ReadonlySet<string> = new Set([
  'builtin',
  'busybox',
  'chroot',
  'command',
  'doas',
  'env',
  'exec',
  'find',
  'flock',
  'ionice',
  'nice',
  'nohup',
  'npx',
  'parallel',
  'setsid',
  'stdbuf',
  'strace',
  'sudo',
  'time',
  'timeout',
  'unbuffer',
  'watch',
  'xargs',
]);

const MAX_CARRIED = 50;

/** A command as it stands, without the path of its program, and as what a carrier would run. */
function spellings(words: CommandWords): readonly CommandWords[] {
  const [name = ''] = words;
  const own = [words, ...plainSpellings(words)];
  if (!CARRIERS.has(path.basename(name))) return own;
  const carried = words
    .slice(1, MAX_CARRIED)
    .flatMap((_word, index) => plainSpellings(words.slice(index + 1)));
  return [...own, ...carried];
}

function plainSpellings([name = '', ...args]: CommandWords): readonly CommandWords[] {
  const plain = [path.basename(name), ...args];
  return plain[0] === 'git' ? [plain, withoutGlobalOptions(plain)] : [plain];
}

const GIT_OPTIONS_WITH_VALUE = ['-C', '-c', '--git-dir', '--work-tree', '--namespace'];

/** `git -C x push` is a `git push`. */
function withoutGlobalOptions([name = '', ...args]: CommandWords): CommandWords {
  let start = 0;
  while (args[start]?.startsWith('-') === true) {
    start += GIT_OPTIONS_WITH_VALUE.includes(args[start] ?? '') ? 2 : 1;
  }
  return [name, ...args.slice(start)];
}

const SHELL = /^(?:ba|z|da|k)?sh$/;

/** Whether nothing says which command it is: a name out of a variable, or a shell that reads its input. */
function isAnyCommand([name = '', ...args]: CommandWords): boolean {
  if (name.includes(UNKNOWN)) return true;
  return SHELL.test(path.basename(name)) && args.every((arg) => arg.startsWith('-'));
}
