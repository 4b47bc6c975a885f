import type * as unbash from 'unbash';
import { UNKNOWN } from './shell-words.ts';

/** What is known while the words of a line are read. */
export interface WordScope {
  readonly home: string | null;
  /** The root of the repository, the value of `$(git rev-parse --show-toplevel)`. */
  readonly root: string;
  /** Every value that a variable may have; any value when it is absent. */
  readonly variables: ReadonlyMap<string, readonly string[]>;
  /** Whether the line defines functions or aliases, after which `echo` may print anything. */
  readonly redefinesCommands: boolean;
}

const MAX_VALUES = 16;

/** Every value that a word may have, with UNKNOWN for parts that are only known when it runs. */
export function listWordValues(word: unbash.Word, scope: WordScope): readonly string[] {
  if (word.parts === undefined && !word.value.startsWith('~')) return [hideInvalidText(word.value)];
  const parts = word.parts?.map((part) => listPartValues(part, scope)) ?? [[word.value]];
  const values = joinValues(parts).map((value) => replaceNumbers(value, word.text));
  return word.text.startsWith('~') ? values.flatMap((value) => expandTilde(value, scope)) : values;
}

export function listArgumentValues(
  word: unbash.CommandArgument,
  scope: WordScope,
): readonly string[] {
  if (word.type === 'Word') return listWordValues(word, scope);
  if (word.value.type !== 'Word') return [word.text.includes('$') ? UNKNOWN : word.text];
  return listWordValues(word.value, scope).map((value) => `${word.name}=${value}`);
}

/** Every combination, or an unknown value when there are too many. */
export function joinValues(parts: readonly (readonly string[])[]): readonly string[] {
  const count = parts.reduce((product, values) => product * values.length, 1);
  if (count > MAX_VALUES) return [UNKNOWN];
  return parts.reduce<readonly string[]>(
    (starts, values) => starts.flatMap((start) => values.map((value) => start + value)),
    [''],
  );
}

/** Stands for a number that is only known when the command runs. */
const NUMBER = '\u0001';

/** A number alone, in an option or before one letter names no file; elsewhere it may be part of a name. */
function replaceNumbers(value: string, text: string): string {
  if (!value.includes(NUMBER)) return value;
  const isName = !text.startsWith('-') && /[a-z]{2}|[/.]/i.test(value);
  return value.replaceAll(NUMBER, isName ? UNKNOWN : '0');
}

/** Bytes that are not UTF-8, such as `$'\xff'`, are decoded to this character and name another file. */
function hideInvalidText(value: string): string {
  return value.includes('\uFFFD') ? UNKNOWN : value;
}

function expandTilde(value: string, { home, variables }: WordScope): readonly string[] {
  if (/^~(?:$|\/)/.test(value)) {
    const homes = variables.get('HOME') ?? [home ?? UNKNOWN];
    return homes.map((each) => `${each}${value.slice(1)}`);
  }
  if (/^~\+(?:$|\/)/.test(value)) return [`.${value.slice(2)}`];
  return /^~[\w.+-]*(?:$|\/)/.test(value) ? [value.replace(/^~[^/]*/, UNKNOWN)] : [value];
}

function listPartValues(part: unbash.WordPart, scope: WordScope): readonly string[] {
  switch (part.type) {
    case 'DoubleQuoted':
    case 'LocaleString':
      return joinValues(part.parts.map((child) => listPartValues(child, scope)));
    case 'SimpleExpansion':
      return listVariableValues(part.text.slice(1), scope);
    case 'ParameterExpansion':
      return listParameterValues(part, scope);
    case 'CommandExpansion':
      return listOutputValues(part.script, scope);
    case 'ArithmeticExpansion':
      return [NUMBER];
    case 'ProcessSubstitution':
      return ['/dev/fd/63'];
    case 'ExtendedGlob':
    case 'BraceExpansion':
      return [part.text];
    default:
      return [hideInvalidText(part.value)];
  }
}

/** `$?`, `$#`, `$$` and `$!` are numbers. */
function listVariableValues(name: string, { variables }: WordScope): readonly string[] {
  return /^[?#$!]$/.test(name) ? [NUMBER] : (variables.get(name) ?? [UNKNOWN]);
}

function listParameterValues(
  { parameter, prefix, index, operation }: unbash.ParameterExpansionPart,
  scope: WordScope,
): readonly string[] {
  if (prefix === '#') return [NUMBER];
  if (prefix === '!') return [UNKNOWN];
  const values = listVariableValues(parameter, scope);
  if (operation === undefined) return index === undefined ? values : [...values, UNKNOWN];
  if (operation.type !== 'Default') return [UNKNOWN];
  const others = listWordValues(operation.operand, scope);
  if (operation.operator.endsWith('+')) return ['', ...others];
  return operation.operator.endsWith('?') ? values : [...values, ...others];
}

/** What a command substitution prints, where that follows from its text. */
function listOutputValues(
  script: unbash.ParsedScript | undefined,
  scope: WordScope,
): readonly string[] {
  const command = script?.commands.length === 1 ? script.commands[0]?.command : undefined;
  if (command?.type !== 'Command' || command.redirects.length > 0) return [UNKNOWN];
  if (scope.redefinesCommands) return [UNKNOWN];
  const words = [command.name, ...command.args].flatMap((word) =>
    word === undefined ? [] : [listArgumentValues(word, scope)],
  );
  const [name = '', ...args] = words.map(([value = UNKNOWN]) => value);
  if (name === 'pwd') return ['.'];
  if (name === 'git' && args.join(' ') === 'rev-parse --show-toplevel') return [scope.root];
  if (words.some((values) => values.length > 1)) return [UNKNOWN];
  if (name === 'echo' && !args.some((arg) => /^-|\\/.test(arg))) return [args.join(' ')];
  if (name === 'printf' && args.length === 1 && !/[%\\]/.test(args[0] ?? '')) return args;
  // The path of a program means the program.
  const finds = name === 'which' || /^(?:command -[vV]|type -[pP])$/.test(`${name} ${args[0]}`);
  return finds ? [args.at(-1) ?? UNKNOWN] : [UNKNOWN];
}
