import * as unbash from 'unbash';
import { parsePlainCommand } from './fast-tokenizer.ts';
import type { ShellCommand, ParsedShellLine } from './shell-reading.ts';

const MAX_LENGTH = 100_000;
const MAX_OPENINGS = 2000;
const UNREADABLE: ParsedShellLine = {
  commands: [],
  inner: [],
  hasExpansion: true,
  isOpen: true,
  writesFile: true,
  readsFile: true,
  isUnfinished: true,
  isProgram: true,
};

let last: { readonly line: string; readonly reading: ParsedShellLine } | null = null;

/**
 * Never throws. What `bash -c`, `sudo` and the like would run is not looked into.
 * The last line is remembered, as every condition of an event asks for the same.
 */
export function parseShellCommands(line: string): ParsedShellLine {
  if (last?.line !== line) last = { line, reading: readLine(line) };
  return last.reading;
}

/** Whether parsing it could take long: the time grows with the square of what is left open. */
export function isTooComplex(line: string): boolean {
  if (line.length > MAX_LENGTH) return true;
  return line.length > MAX_OPENINGS && (line.match(/[({`]/g)?.length ?? 0) > MAX_OPENINGS;
}

function readLine(line: string): ParsedShellLine {
  if (isTooComplex(line)) return UNREADABLE;
  const plain = parsePlainCommand(line);
  if (plain !== null) return plain;
  try {
    return readParsed(line);
  } catch {
    return UNREADABLE;
  }
}

interface Draft {
  readonly commands: ShellCommand[];
  readonly inner: ShellCommand[];
  hasExpansion: boolean;
  isOpen: boolean;
  writesFile: boolean;
  readsFile: boolean;
  isUnfinished: boolean;
  isProgram: boolean;
}

function readParsed(line: string): ParsedShellLine {
  const script = unbash.parse(line);
  const errors = script.errors ?? [];
  const draft: Draft = {
    commands: [],
    inner: [],
    hasExpansion: false,
    isOpen: errors.some(({ message }) => message !== OPEN_SINGLE_QUOTE),
    writesFile: false,
    readsFile: false,
    isUnfinished: errors.length > 0,
    isProgram: false,
  };
  visit(script, { source: line, isQuoted: false }, draft);
  return draft;
}

// All that follows the quote is one argument, so nothing in it is run.
const OPEN_SINGLE_QUOTE = 'unterminated single quote';

interface Surroundings {
  /** What positions count in. */
  readonly source: string;
  readonly isQuoted: boolean;
}

function visit(node: unbash.SyntaxNode, { source, isQuoted }: Surroundings, draft: Draft): void {
  draft.isProgram ||= !PLAIN_NODES.has(node.type);
  note(node, { source, isQuoted }, draft);
  const inside = {
    source: (node.type === 'Script' ? node.source : undefined) ?? source,
    isQuoted: node.type === 'DoubleQuoted' || (isQuoted && node.type !== 'Script'),
  };
  unbash.forEachChild(node, (child) => visit(child, inside, draft));
}

/** What commands in a row are made of. `for PATH in x` and `PATH=x` would change what the next one runs. */
const PLAIN_NODES: ReadonlySet<string> = new Set<unbash.SyntaxNode['type']>([
  'AndOr',
  'AnsiCQuoted',
  'BraceExpansion',
  'BraceGroup',
  'Command',
  'CommandExpansion',
  'CompoundList',
  'DoubleQuoted',
  'FileDescriptor',
  'Glob',
  'Literal',
  'LocaleString',
  'Negation',
  'Pipeline',
  'Redirect',
  'Redirected',
  'Script',
  'SimpleExpansion',
  'SingleQuoted',
  'Statement',
  'Subshell',
  'Time',
  'Word',
]);

function note(node: unbash.SyntaxNode, { source, isQuoted }: Surroundings, draft: Draft): void {
  switch (node.type) {
    case 'Command':
      return noteCommand(node, draft);
    case 'AndOr':
    case 'Pipeline':
      draft.isOpen ||= hasCommentBetween(node.commands, source);
      return;
    case 'CommandExpansion':
      draft.hasExpansion = true;
      return;
    case 'SimpleExpansion':
      draft.hasExpansion ||= !isQuoted;
      return;
    case 'ParameterExpansion':
    case 'ProcessSubstitution':
    case 'HereDoc':
    case 'HereString':
      draft.isOpen = true;
      return;
    case 'Redirect':
      draft.writesFile ||= writesFile(node);
      draft.readsFile ||= node.operator === '<' || node.operator === '<>';
      break;
    default:
  }
}

type Words = readonly [unbash.CommandArgument, ...unbash.CommandArgument[]];

function noteCommand({ name, args, prefix }: unbash.Command, draft: Draft): void {
  if (name === undefined) return;
  const hasAssignment = prefix.some(({ type }) => type === 'Assignment');
  const words: Words = [name, ...args];
  draft.commands.push(describe(words, hasAssignment));
  draft.isOpen ||= mayRunAnything(words);
  noteInner(words, hasAssignment, draft);
}

const MAX_WRAPPERS = 10;

function noteInner(outer: Words, hasAssignment: boolean, draft: Draft): void {
  let words = findWrapped(outer);
  for (let depth = 0; words !== null; depth += 1) {
    draft.isOpen ||= depth >= MAX_WRAPPERS || mayRunAnything(words);
    if (draft.isOpen) return;
    draft.inner.push(describe(words, hasAssignment));
    words = findWrapped(words);
  }
}

function mayRunAnything([name]: Words): boolean {
  return !isFixed(name) || valueOf(name) === 'xargs';
}

/** Whether something else than its commands as they stand may run, or a file be written. */
export function isUncertain(reading: ParsedShellLine): boolean {
  const { hasExpansion, isOpen, writesFile, isUnfinished, isProgram } = reading;
  return hasExpansion || isOpen || writesFile || isUnfinished || isProgram;
}

function describe(words: Words, hasAssignment: boolean): ShellCommand {
  return {
    text: words.map((word) => word.text).join(' '),
    unquoted: words.map(valueOf).join(' '),
    fixedStart: words.some(mayBecomeOthers) ? fixedStartOf(words) : null,
    words: words.every(isFixed) ? words.map(valueOf) : null,
    hasAssignment,
  };
}

// What is in quotes stays one word, and was observed to make no condition fire.
function mayBecomeOthers(word: unbash.CommandArgument): boolean {
  const parts = word.type === 'Word' ? word.parts : undefined;
  return parts?.some((part) => part.type !== 'DoubleQuoted' && !isFixedPart(part)) ?? false;
}

function fixedStartOf(words: Words): string {
  const fixed = words.slice(
    0,
    words.findIndex((word) => !isFixed(word)),
  );
  return fixed.map((word) => `${valueOf(word)} `).join('');
}

const WRAPPERS = ['exec', 'command', 'builtin'];

/** The command that follows `exec`, `command` or `builtin` and its options, or null. */
function findWrapped([name, ...rest]: Words): Words | null {
  const wrapper = valueOf(name);
  if (!WRAPPERS.includes(wrapper)) return null;
  let isValue = false;
  for (const [index, word] of rest.entries()) {
    const value = valueOf(word);
    const isOption = isFixed(word) && (isValue || /^-./.test(value));
    if (!isOption) return [word, ...rest.slice(index + 1)];
    if (wrapper === 'command' && /^-\w*[vV]/.test(value)) return null;
    if (value === '--' && !isValue) return firstOf(rest.slice(index + 1));
    isValue = !isValue && wrapper === 'exec' && /^-[cl]*a$/.test(value);
  }
  return null;
}

function firstOf([name, ...args]: readonly unbash.CommandArgument[]): Words | null {
  return name === undefined ? null : [name, ...args];
}

function valueOf(word: unbash.CommandArgument): string {
  return word.type === 'Word' ? word.value : word.text;
}

/** Whether a word stands for itself once its quotes are gone. */
function isFixed(word: unbash.CommandArgument): boolean {
  if (word.type === 'Word') return word.parts?.every(isFixedPart) ?? true;
  return word.value.type === 'Word' && isFixed(word.value);
}

function isFixedPart(part: unbash.WordPart): boolean {
  if (part.type === 'DoubleQuoted') return part.parts.every(isFixedPart);
  // `[` is a command of its own.
  if (part.type === 'Glob') return part.text === '[';
  return part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted';
}

function hasCommentBetween(commands: readonly unbash.SyntaxNode[], source: string): boolean {
  return commands.some((command, index) => {
    const next = commands[index + 1];
    return next !== undefined && source.slice(command.end, next.pos).includes('#');
  });
}

function writesFile({ operator, target }: unbash.Redirect): boolean {
  if (operator === '<' || operator === '<&') return false;
  if (target === undefined) return true;
  return target.value !== '/dev/null' && !(operator === '>&' && /^\d+-?$|^-$/.test(target.value));
}
