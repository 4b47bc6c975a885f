import { resolveFrom, resolveTarget } from '../../base/paths.ts';
import { getProgramName, isInert } from './carriers.ts';
import { type CommandPattern, isCommandMatch, isMatchAll } from './command-pattern.ts';
import { splitCode } from './foreign-code.ts';
import type { GuardMatch, PathContext } from './path-pattern.ts';
import { listGitSpellings } from './git-spellings.ts';
import { canBeProgram, isProgramCopy, hasProgramFile } from './program-copies.ts';
import type { CommandWords } from './visit-script.ts';
import { isGlob } from './glob-words.ts';
import { parseShellCommands } from './shell-commands.ts';
import { type CommandFiles, resolveShellFiles } from './shell-files.ts';
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
  const program = getPatternProgram(pattern);
  const candidates =
    program === null
      ? reading.commands
      : reading.commands.filter((command) => canRunProgram(command, program));
  const matches = candidates.map((command) => {
    const match = matchCommand(pattern, program, command, context);
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
  program: string | null,
  command: CommandFiles,
  context: PathContext,
): GuardMatch {
  const { words, runsArguments } = command;
  const [name = ''] = words;
  if (PSEUDO.test(name)) {
    return hasProgramFile(command, program)
      ? 'maybe'
      : matchCode(pattern, program, words.slice(1), context);
  }
  const own = matchSpellings(pattern, listPrograms(name, context), words, context);
  if (own === 'yes') return own;
  if (isProgramCopy(name, program, context.cwd)) {
    return matchSpellings(pattern, [program ?? ''], words, context);
  }
  if (hasProgramFile(command, program)) return 'maybe';
  if (runsArguments === 'no') return own;
  const carried = matchArguments(pattern, program, words, context);
  if (carried === 'yes' && runsArguments === 'yes') return 'yes';
  if (own === 'maybe' || carried !== 'no') return 'maybe';
  return matchCode(pattern, program, words.slice(1), context);
}

/** The program that a pattern names; null when it begins with a wildcard. */
function getPatternProgram({ words: [program] }: CommandPattern): string | null {
  return program === undefined ? null : getProgramName(program);
}

/**
 * Whether a command can run a program at all. Most commands name neither it nor a file of that name, and
 * then no spelling of them has to be tried.
 */
function canRunProgram(
  { words: [name = ''], files, text }: CommandFiles,
  program: string,
): boolean {
  if (text.includes(program) || files.some((file) => canBeProgram(file, program))) return true;
  // Aliases of git run any program, and so may a link or a name that is not known.
  return name === 'git' || name.includes('/') || name.includes(UNKNOWN) || isGlob(name);
}

/** The name as written, without its directory, and of the file that a link leads to. */
function listPrograms(name: string, { cwd }: PathContext): readonly string[] {
  const program = getProgramName(name);
  if (!name.includes('/') || name.includes(UNKNOWN)) return [program, name];
  const target = getProgramName(resolveTarget(resolveFrom(cwd, name)).path);
  return [...new Set([program, name, target, ...listScriptPrograms(target)])];
}

/** `npm` is a link to `npm-cli.js`. */
function listScriptPrograms(file: string): readonly string[] {
  const [, program] = /^([a-z]+)(?:-cli)?\.[cm]?js$/.exec(file) ?? [];
  return program === undefined ? [] : [program];
}

function matchSpellings(
  pattern: CommandPattern,
  programs: readonly string[],
  [, ...args]: CommandWords,
  context: PathContext,
): GuardMatch {
  const commands = programs.map((program) => [program, ...args]);
  const spellings = commands.flatMap((words) => listSpellings(pattern, words, context));
  const matches = spellings.map((words) => matchWords(pattern, words));
  if (matches.includes('yes')) return 'yes';
  const isPossible = () => commands.some((words) => isPossibleSubcommand(pattern, words));
  return matches.includes('maybe') || isPossible() ? 'maybe' : 'no';
}

/** What is unknown, or replaced by the names of files, may become anything. */
function matchWords(pattern: CommandPattern, words: CommandWords): GuardMatch {
  if (isCommandMatch(pattern, words.join(' '))) return 'yes';
  const unknown = words.findIndex((word) => word.includes(UNKNOWN) || isGlob(word));
  if (unknown === -1) return 'no';
  const known = words[unknown]?.split(/[\0*?[{]|[@+!]\(/, 1)[0] ?? '';
  const fixed = [...words.slice(0, unknown), known].join(' ');
  const [first = ''] = pattern.pieces;
  return fixed.startsWith(first) || first.startsWith(fixed) ? 'maybe' : 'no';
}

/** `git -C x push` and `git-push` are a `git push`, `npm -s publish` an `npm publish`, `rm -fr` an `rm -rf`. */
function listSpellings(
  pattern: CommandPattern,
  words: CommandWords,
  context: PathContext,
): readonly CommandWords[] {
  const [name = '', ...args] = words;
  if (name === 'git') return [words, ...listGitSpellings(args, context)];
  if (name.startsWith('git-')) return [words, ['git', name.slice('git-'.length), ...args]];
  const start = args.findIndex((arg) => !/^[-+]./.test(arg));
  const unabbreviated = expandSubcommand(pattern, name, args.slice(Math.max(0, start)));
  return [
    words,
    ...(start > 0 ? [[name, ...args.slice(start)]] : []),
    ...(unabbreviated === null ? [] : [unabbreviated]),
    ...listFlagSpellings(pattern, name, args),
  ];
}

/** npm takes the beginning of a command for it. */
function expandSubcommand(
  pattern: CommandPattern,
  name: string,
  [abbreviation = '', ...rest]: readonly string[],
): CommandWords | null {
  const [program, subcommand = ''] = pattern.words;
  if (name !== 'npm' || program !== 'npm' || abbreviation.length < MIN_ABBREVIATION) return null;
  const isMeant = subcommand.startsWith(abbreviation.toLowerCase()) && subcommand !== abbreviation;
  return isMeant ? [name, subcommand, ...rest] : null;
}

const MIN_ABBREVIATION = 3;

/** `npm --tag x publish`: behind an option, a word may be its value, and the next one the command. */
function isPossibleSubcommand(pattern: CommandPattern, [name, ...args]: CommandWords): boolean {
  const [program, ...meant] = pattern.words;
  if (program !== name || meant.length === 0 || name === 'git') return false;
  const isValue = (index: number): boolean => /^[-+]./.test(args[index - 1] ?? '');
  for (const [index, arg] of args.entries()) {
    const words = args.slice(index, index + meant.length).join(' ');
    if (index > 0 && words === meant.join(' ')) return true;
    if (!/^[-+]./.test(arg) && !isValue(index)) return false;
  }
  return false;
}

const LONG_FLAGS: Readonly<Record<string, string>> = {
  recursive: 'r',
  force: 'f',
  dir: 'd',
  verbose: 'v',
};

/** The letters of `-rf`, `-R`, `--recursive`, `--rec` and `--interactive=never`; null for no flag. */
function readFlags(arg: string): readonly string[] | null {
  if (/^-[a-zA-Z]+$/.test(arg)) return arg.slice(1).replaceAll('R', 'r').split('');
  const [, long] = /^--([a-z][\w-]*)(?:=.*)?$/.exec(arg) ?? [];
  if (long === undefined) return null;
  if (arg === '--interactive=never') return ['f'];
  const found = Object.entries(LONG_FLAGS).find(([name]) => name.startsWith(long));
  return found === undefined ? [] : [found[1]];
}

/** `rm -r -f`, `rm -fvr` and `rm --force -R` are an `rm -rf`: the flags of the pattern are put first. */
function listFlagSpellings(
  pattern: CommandPattern,
  name: string,
  args: readonly string[],
): readonly CommandWords[] {
  const [program, flag = ''] = pattern.words;
  if (program !== name || !FLAG_PROGRAMS.has(name) || readFlags(flag) === null) return [];
  const flags = new Set(args.flatMap((arg) => readFlags(arg) ?? []));
  const others = args.filter((arg) => readFlags(arg) === null);
  const hasAll = readFlags(flag)?.every((letter) => flags.has(letter)) === true;
  return hasAll ? [[name, flag, ...others]] : [];
}

const FLAG_PROGRAMS: ReadonlySet<string> = new Set(['rm', 'chmod', 'chown', 'cp']);

/** The commands that begin at some argument. */
function matchArguments(
  pattern: CommandPattern,
  program: string | null,
  words: CommandWords,
  context: PathContext,
): GuardMatch {
  const matches = words.slice(1, findCommandsEnd(words)).flatMap((word, index) => {
    const name = getProgramName(word);
    const names = [name, ...listScriptPrograms(name)];
    const canStart = program === null || names.includes(program) || name.startsWith('git-');
    return canStart ? [matchSpellings(pattern, names, words.slice(index + 1), context)] : [];
  });
  if (matches.includes('yes')) return 'yes';
  return matches.includes('maybe') ? 'maybe' : 'no';
}

/** `sudo apt install git`: what follows a program that runs none of its arguments is no command. */
function findCommandsEnd(words: CommandWords): number {
  const first = words.findIndex((word) => !isPlainCarrier(word));
  return first > 0 && isInert(getProgramName(words[first] ?? '')) ? first + 1 : words.length;
}

/** Carriers whose next word is a command, and words that may stand before it. */
function isPlainCarrier(word: string): boolean {
  return /^(?:sudo|doas|env|nice|nohup|time|command|setsid|exec|-[EnHkb]|\w+=.*)$/.test(word);
}

/** `system("git push")` and `run(['git', 'push'])` in the code of another language. */
function matchCode(
  pattern: CommandPattern,
  program: string | null,
  texts: readonly string[],
  context: PathContext,
): GuardMatch {
  if (program === null) return 'no';
  const found = texts.some((text) => {
    if (!text.includes(program) || !/[^\w./-]/.test(text)) return false;
    const tokens = splitCode(text);
    return matchTokens(pattern, program, tokens, context);
  });
  return found ? 'maybe' : 'no';
}

/** Code has no end of a command, so that each word may begin one. */
function matchTokens(
  pattern: CommandPattern,
  program: string,
  tokens: readonly string[],
  context: PathContext,
): boolean {
  return tokens.some(
    (token, index) =>
      (getProgramName(token) === program || token.startsWith('git-')) &&
      matchSpellings(pattern, [getProgramName(token)], tokens.slice(index), context) !== 'no',
  );
}
