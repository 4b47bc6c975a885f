import type { CommanderError } from 'commander';
import { findClosestName } from '../base/did-you-mean.ts';
import { HooklineError } from '../base/errors.ts';
import { COMMANDS } from './commands.ts';

/** What the parser of the command line says, and how errors of Hookline say it. */
const REWORDINGS: readonly (readonly [RegExp, (...parts: string[]) => string])[] = [
  [/^unknown option '(.*)'$/s, (name) => `unknown option ${JSON.stringify(name)}`],
  [/^missing required argument '(.*)'$/s, (name) => `missing argument ${JSON.stringify(name)}`],
  [
    /^option '(?:-\w, )?(\S+) (.*)' argument missing$/s,
    (flag, value) => `${flag} needs a value: ${value}`,
  ],
  [
    /^option '(?:-\w, )?(\S+) .*' argument '(.*)' is invalid\. Allowed choices are (.*)\.$/s,
    (flag, found, choices) =>
      `${flag} must be ${choices?.replace(/, ([^,]*)$/, ' or $1')}, found ${JSON.stringify(found)}`,
  ],
];

/** Makes an error like any other of the parser's; its hint leads to the help of the command. */
export function createUsageError(
  { code, message }: Pick<CommanderError, 'code' | 'message'>,
  args: readonly string[],
): HooklineError {
  const [text = '', suggestion = ''] = message.replace(/^error: /, '').split('\n');
  const name = findCommandName(args);
  const [, command] = /^unknown command '(.*)'$/s.exec(text) ?? [];
  if (command !== undefined) return createUnknownCommand(command, name ?? null);
  return new HooklineError('USAGE_INVALID', {
    message: code === 'commander.help' ? 'missing command' : reword(text, name),
    hint: formatHint(suggestion.replace(/^\((.*)\)$/, '$1') || suggestChoice(text), name),
  });
}

function formatHint(suggestion: string, command: string | undefined): string {
  const help = `See \`${['hookline', command, '--help'].filter(Boolean).join(' ')}\`.`;
  return suggestion === '' ? help : `${suggestion} ${help}`;
}

function reword(text: string, command: string | undefined): string {
  const tooMany =
    /^too many arguments for '(.*)'\. Expected (\d+) arguments? but got (\d+)\.$/s.exec(text);
  if (tooMany !== null) {
    const [, name, expected, found] = tooMany;
    return `too many arguments for ${command ?? name}: expected ${expected}, found ${found}`;
  }
  for (const [pattern, format] of REWORDINGS) {
    const found = pattern.exec(text);
    if (found !== null) return format(...found.slice(1));
  }
  return text;
}

function suggestChoice(text: string): string {
  const [, found = '', choices = ''] =
    /argument '(.*)' is invalid\. Allowed choices are (.*)\.$/s.exec(text) ?? [];
  return suggestName(found, choices === '' ? [] : choices.split(', '));
}

function suggestName(written: string, known: readonly string[]): string {
  const meant = findClosestName(written, known);
  return meant === null ? '' : `Did you mean ${meant}?`;
}

const COMMAND_WORDS: readonly { readonly words: readonly string[] }[] = COMMANDS.flatMap(
  ({ usage, aliases = [] }) => {
    const words = usage.replace(/ [[<].*$/s, '').split(' ');
    return [{ words }, ...aliases.map((alias) => ({ words: [...words.slice(0, -1), alias] }))];
  },
);

/** The longest command that the words of the line begin with. */
function findCommandName(args: readonly string[]): string | undefined {
  const words = args.filter((word) => /^\w+$/.test(word)).join(' ');
  return COMMAND_WORDS.flatMap(({ words: own }) => [own.join(' '), own[0] ?? ''])
    .filter((usage) => words === usage || words.startsWith(`${usage} `))
    .toSorted((one, other) => other.length - one.length)
    .at(0);
}

/** The commands of a group, or, for null, all first words that mean something. */
function listCommandWords(group: string | null): readonly string[] {
  if (group === null) {
    return [...new Set(COMMAND_WORDS.map(({ words: [first = ''] }) => first)), 'help', 'version'];
  }
  return COMMAND_WORDS.flatMap(({ words: [first, second] }) =>
    first === group && second !== undefined ? [second] : [],
  );
}

function createUnknownCommand(name: string, group: string | null): HooklineError {
  return new HooklineError('USAGE_INVALID', {
    message: `unknown command ${JSON.stringify(name)}`,
    hint: formatHint(suggestName(name, listCommandWords(group)), group ?? undefined),
  });
}

/** Refuses words after `help` that are no command: the parser would print the help of what comes before them. */
export function checkHelpWords(words: readonly string[]): void {
  const [first, second] = words.filter((word) => !word.startsWith('-'));
  if (first === undefined) return;
  if (!listCommandWords(null).includes(first)) throw createUnknownCommand(first, null);
  const inside = listCommandWords(first);
  const isKnown = second === undefined || inside.length === 0 || inside.includes(second);
  if (!isKnown) throw createUnknownCommand(second, first);
}
