import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { resolveFrom, resolveTarget } from '../../base/paths.ts';
import { getProgramName } from './carriers.ts';
import { type CommandPattern, isCommandMatch, isMatchAll } from './command-pattern.ts';
import { splitCode } from './foreign-code.ts';
import type { GuardMatch, PathContext } from './path-pattern.ts';
import type { ReadCommand } from './read-shell.ts';
import { type CommandWords, isGlob } from './visit-script.ts';
import { parseShellCommands } from './shell-commands.ts';
import { resolveShellFiles } from './shell-files.ts';
import { UNKNOWN } from './shell-words.ts';

/** Whether a command line runs such a command in any spelling; `maybe` when that is not certain. */
export function matchGuardedCommand(
  pattern: CommandPattern,
  line: string,
  context: PathContext,
): GuardMatch {
  if (isMatchAll(pattern)) return 'yes';
  const { commands, inner } = parseShellCommands(line);
  const isWritten = [...commands, ...inner].some(
    ({ text, unquoted }) => isCommandMatch(pattern, text) || isCommandMatch(pattern, unquoted),
  );
  if (isWritten) return 'yes';
  const reading = resolveShellFiles(line, context);
  const matches = reading.commands.map((command) => {
    const match = matchCommand(pattern, command, context);
    // Most scripts use variables somewhere.
    return match === 'maybe' && command.isInFile ? 'no' : match;
  });
  if (matches.includes('yes')) return 'yes';
  return reading.mayRunAnything || matches.includes('maybe') ? 'maybe' : 'no';
}

/** Words that stand for a redirection or for a word of no command. */
const PSEUDO = /^[<>=]$/;

function matchCommand(
  pattern: CommandPattern,
  { words, runsArguments }: ReadCommand,
  context: PathContext,
): GuardMatch {
  const program = getPatternProgram(pattern);
  const [name = ''] = words;
  if (PSEUDO.test(name)) return matchCode(pattern, program, words.slice(1));
  const own = matchSpellings(pattern, listPrograms(name, context), words);
  if (own === 'yes') return own;
  if (isCopyOf(name, program, context)) return matchSpellings(pattern, [program ?? ''], words);
  if (runsArguments !== 'yes' && mentionsProgram(words, program)) return 'maybe';
  if (runsArguments === 'no') return own;
  const carried = matchArguments(pattern, program, words);
  if (carried === 'yes' && runsArguments === 'yes') return 'yes';
  if (own === 'maybe' || carried !== 'no') return 'maybe';
  return matchCode(pattern, program, words.slice(1));
}

/** The program that a pattern names; null when it begins with a wildcard. */
function getPatternProgram({ pieces: [first = ''] }: CommandPattern): string | null {
  const [program = ''] = first.split(' ');
  return program === '' ? null : getProgramName(program);
}

/** The name as written, without its directory, and of the file that a link leads to. */
function listPrograms(name: string, { cwd }: PathContext): readonly string[] {
  const program = getProgramName(name);
  if (!name.includes('/') || name.includes(UNKNOWN)) return [program, name];
  const target = resolveTarget(resolveFrom(cwd, name)).path;
  return [...new Set([program, name, getProgramName(target)])];
}

function matchSpellings(
  pattern: CommandPattern,
  programs: readonly string[],
  [, ...args]: CommandWords,
): GuardMatch {
  const spellings = programs.flatMap((program) => listSpellings([program, ...args]));
  const matches = spellings.map((words) => matchWords(pattern, words));
  if (matches.includes('yes')) return 'yes';
  return matches.includes('maybe') ? 'maybe' : 'no';
}

/** What is unknown, or replaced by the names of files, may become anything. */
function matchWords(pattern: CommandPattern, words: CommandWords): GuardMatch {
  if (isCommandMatch(pattern, words.join(' '))) return 'yes';
  const unknown = words.findIndex((word) => word.includes(UNKNOWN) || isGlob(word));
  if (unknown === -1) return 'no';
  const known = words[unknown]?.split(/[\0*?[{]/, 1)[0] ?? '';
  const fixed = [...words.slice(0, unknown), known].join(' ');
  const [first = ''] = pattern.pieces;
  return fixed.startsWith(first) || first.startsWith(fixed) ? 'maybe' : 'no';
}

/** `git -C x push`, `git-push` and `git -c alias.x=push x` are a `git push`, `rm -fr` is an `rm -rf`. */
function listSpellings(words: CommandWords): readonly CommandWords[] {
  const [name = '', ...args] = words;
  if (name === 'git') return [words, ...listGitSpellings(args)];
  if (name.startsWith('git-')) return [words, ['git', name.slice('git-'.length), ...args]];
  return [words, ...listFlagSpellings(name, args)];
}

const GIT_OPTIONS_WITH_VALUE = [
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--exec-path',
  '--config-env',
  '--super-prefix',
];

function listGitSpellings(args: readonly string[]): readonly CommandWords[] {
  let start = 0;
  while (args[start]?.startsWith('-') === true) {
    start += GIT_OPTIONS_WITH_VALUE.includes(args[start] ?? '') ? 2 : 1;
  }
  const [subcommand = '', ...rest] = args.slice(start);
  const aliases = args.flatMap((arg) => {
    const [, name, value] = /^(?:--config-env=)?alias\.([^=]+)=(.*)$/s.exec(arg) ?? [];
    if (name !== subcommand || value === undefined) return [];
    return [value.startsWith('!') ? value.slice(1).split(/\s+/) : ['git', ...value.split(/\s+/)]];
  });
  return [['git', subcommand, ...rest], ...aliases.map((alias) => [...alias, ...rest])];
}

const LONG_FLAGS: Readonly<Record<string, string>> = {
  '--recursive': 'r',
  '--force': 'f',
  '--dir': 'd',
  '--verbose': 'v',
};

/** `rm -r -f`, `rm -fr` and `rm --force -R` are an `rm -rf`: all orders of its flags, put first. */
function listFlagSpellings(name: string, args: readonly string[]): readonly CommandWords[] {
  if (!FLAG_PROGRAMS.has(name)) return [];
  const isFlag = (arg: string): boolean =>
    /^-[a-zA-Z]+$/.test(arg) || Object.hasOwn(LONG_FLAGS, arg);
  const letters = new Set(
    args
      .filter(isFlag)
      .flatMap((arg) => (LONG_FLAGS[arg] ?? arg.slice(1).replaceAll('R', 'r')).split('')),
  );
  const others = args.filter((arg) => !isFlag(arg));
  if (letters.size === 0 || letters.size > MAX_FLAGS) return [];
  return listOrders([...letters]).map((order) => [name, `-${order}`, ...others]);
}

const FLAG_PROGRAMS: ReadonlySet<string> = new Set(['rm', 'chmod', 'chown', 'cp']);
const MAX_FLAGS = 4;

/** Every non-empty choice of letters in every order. */
function listOrders(letters: readonly string[]): readonly string[] {
  return letters.flatMap((letter) => [
    letter,
    ...listOrders(letters.filter((other) => other !== letter)).map((rest) => letter + rest),
  ]);
}

/** The commands that begin at some argument. */
function matchArguments(
  pattern: CommandPattern,
  program: string | null,
  words: CommandWords,
): GuardMatch {
  const matches = words.slice(1).flatMap((word, index) => {
    const name = getProgramName(word);
    const canStart = program === null || name === program || name.startsWith('git-');
    return canStart ? [matchSpellings(pattern, [name], words.slice(index + 1))] : [];
  });
  if (matches.includes('yes')) return 'yes';
  return matches.includes('maybe') ? 'maybe' : 'no';
}

/** `system("git push")` and `run(['git', 'push'])` in the code of another language. */
function matchCode(
  pattern: CommandPattern,
  program: string | null,
  texts: readonly string[],
): GuardMatch {
  if (program === null) return 'no';
  const found = texts.some((text) => {
    if (!text.includes(program) || !/[^\w./-]/.test(text)) return false;
    const tokens = splitCode(text);
    return matchArguments(pattern, program, ['', ...tokens]) !== 'no';
  });
  return found ? 'maybe' : 'no';
}

const SYSTEM_DIRECTORIES = [
  '/usr/bin',
  '/bin',
  '/usr/local/bin',
  '/usr/sbin',
  '/sbin',
  '/opt/homebrew/bin',
];

/** Programs that only look at a file. */
const ONLY_LOOKS = /^(?:ls|file|stat|which|type|test|\[|readlink|realpath|dirname|basename|echo)$/;

/** `cp /usr/bin/git g`, `ln -s $(which git) g` and `hash -p /usr/bin/git g` give it another name. */
function mentionsProgram([name = '', ...args]: CommandWords, program: string | null): boolean {
  if (program === null || ONLY_LOOKS.test(getProgramName(name))) return false;
  const isCopier = /^(?:cp|ln|mv|install|link|cat|dd|rsync|hash)$/.test(getProgramName(name));
  return args.some((arg) => {
    if (path.basename(arg) !== program) return false;
    return SYSTEM_DIRECTORIES.includes(path.dirname(arg)) || (isCopier && arg === program);
  });
}

const MAX_PROGRAM = 256 * 1024 * 1024;

/** Whether a program outside the system's directories has the bytes of the one that a rule names. */
function isCopyOf(name: string, program: string | null, { cwd }: PathContext): boolean {
  if (program === null || !name.includes('/')) return false;
  if (name.includes(UNKNOWN) || isGlob(name)) return false;
  const file = resolveTarget(resolveFrom(cwd, name)).path;
  if (SYSTEM_DIRECTORIES.includes(path.dirname(file))) return false;
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size > MAX_PROGRAM) return false;
    return SYSTEM_DIRECTORIES.some((directory) => {
      const original = path.join(directory, program);
      const known = statSync(original, { throwIfNoEntry: false });
      if (known?.isFile() !== true || known.size !== stats.size) return false;
      return readFileSync(original).equals(readFileSync(file));
    });
  } catch {
    // A file that cannot be read may be a copy.
    return true;
  }
}
