import * as unbash from 'unbash';

export interface ShellCommand {
  /** Its name and arguments as written, without assignments, redirections and extra blanks. */
  readonly text: string;
  /** The same without quotes and backslashes. */
  readonly unquoted: string;
  /** Its words before the first that is only known when it runs, also in double quotes; null if all are known. */
  readonly fixedStart: string | null;
  /** Its name and arguments without quotes; null if any of them is not known before it runs. */
  readonly words: readonly string[] | null;
  /** Whether a `VAR=x` precedes it. */
  readonly hasAssignment: boolean;
}

/** Every simple command of a command line, at any depth, and how certain that is. */
export interface ParsedShellLine {
  readonly commands: readonly ShellCommand[];
  /** The commands that `exec`, `command` and `builtin` among them run. */
  readonly inner: readonly ShellCommand[];
  /** Whether a variable or a substitution may become other arguments. */
  readonly hasExpansion: boolean;
  /** Whether it may run any command at all, or could not be parsed. */
  readonly mayRunAnything: boolean;
  /** Whether it writes to a file. */
  readonly writesFile: boolean;
  /** Whether a redirection lets a command read a file that is not among its arguments. */
  readonly readsFile: boolean;
  /** Whether a quote or the like is left open. */
  readonly isUnfinished: boolean;
  /** Whether it has more than a list of commands: assignments, loops or function definitions. */
  readonly isProgram: boolean;
}

const MAX_LENGTH = 100_000;
const MAX_OPENINGS = 2000;
const UNREADABLE: ParsedShellLine = {
  commands: [],
  inner: [],
  hasExpansion: true,
  mayRunAnything: true,
  writesFile: true,
  readsFile: true,
  isUnfinished: true,
  isProgram: true,
};

let last: { readonly line: string; readonly parsedLine: ParsedShellLine } | null = null;

/**
 * Never throws. Scripts inside `bash -c`, `sudo` and the like are not parsed. The last line is cached,
 * because every condition of an event parses the same one.
 */
export function parseShellCommands(line: string): ParsedShellLine {
  if (last?.line !== line) last = { line, parsedLine: parseLine(line) };
  return last.parsedLine;
}

/** Whether parsing could take long: the time grows with the square of the open brackets. */
export function isTooComplex(line: string): boolean {
  if (line.length > MAX_LENGTH) return true;
  return line.length > MAX_OPENINGS && (line.match(/[({`]/g)?.length ?? 0) > MAX_OPENINGS;
}

function parseLine(line: string): ParsedShellLine {
  if (isTooComplex(line)) return UNREADABLE;
  const plain = parsePlainCommand(line);
  if (plain !== null) return plain;
  try {
    return parseWithUnbash(line);
  } catch {
    return UNREADABLE;
  }
}

const PLAIN = /^[\w@%+:,./-]+(?: [\w@%+:,./-]+)*$/;

/** Keywords and wrappers: a line that begins with one is more than one simple command. */
const SPECIAL: ReadonlySet<string> = new Set(
  'if then else elif fi for while until do done case esac in function select time coproc exec command builtin xargs'.split(
    ' ',
  ),
);

/** Parses a line of one command and plain arguments without the parser; null for any other line. */
export function parsePlainCommand(line: string): ParsedShellLine | null {
  if (!PLAIN.test(line)) return null;
  const words = line.split(' ');
  if (SPECIAL.has(words[0] ?? '')) return null;
  const command = { text: line, unquoted: line, fixedStart: null, words, hasAssignment: false };
  return {
    commands: [command],
    inner: [],
    hasExpansion: false,
    mayRunAnything: false,
    writesFile: false,
    readsFile: false,
    isUnfinished: false,
    isProgram: false,
  };
}

let lastScript: { readonly line: string; readonly script: unbash.ParsedScript } | null = null;

/** Caches the last line, because it is read in several ways. */
export function parseScript(line: string): unbash.ParsedScript {
  if (lastScript?.line !== line) lastScript = { line, script: unbash.parse(line) };
  return lastScript.script;
}

/**
 * The statements of a line without those that repeat an earlier one, as long lines often do. The text of a
 * here-document is not part of its statement, so that such a statement may differ from one of the same text.
 */
export function listDistinctStatements(
  { commands }: unbash.ParsedScript,
  line: string,
): readonly unbash.Statement[] {
  const texts = new Set<string>();
  return commands.filter(({ pos, end }) => {
    const text = line.slice(pos, end);
    const isNew = !texts.has(text) || text.includes('<<');
    texts.add(text);
    return isNew;
  });
}

function parseWithUnbash(line: string): ParsedShellLine {
  const script = parseScript(line);
  const errors = script.errors ?? [];
  const draft = new LineDraft();
  draft.mayRunAnything = errors.some(({ message }) => message !== OPEN_SINGLE_QUOTE);
  draft.isUnfinished = errors.length > 0;
  for (const each of listDistinctStatements(script, line)) draft.visit(each, line, false);
  return draft;
}

// Everything after the quote is one argument, so none of it runs.
const OPEN_SINGLE_QUOTE = 'unterminated single quote';

const MAX_WRAPPERS = 10;

/** Collects the commands of a line while it visits the nodes of the parsed line. */
class LineDraft implements ParsedShellLine {
  readonly commands: ShellCommand[] = [];
  readonly inner: ShellCommand[] = [];
  hasExpansion = false;
  mayRunAnything = false;
  writesFile = false;
  readsFile = false;
  isUnfinished = false;
  isProgram = false;

  /** `source` is the text that positions of the node refer to. */
  visit(node: unbash.SyntaxNode, source: string, isQuoted: boolean): void {
    this.isProgram ||= !PLAIN_NODES.has(node.type);
    this.#record(node, source, isQuoted);
    const innerSource = (node.type === 'Script' ? node.source : undefined) ?? source;
    const isInnerQuoted = node.type === 'DoubleQuoted' || (isQuoted && node.type !== 'Script');
    unbash.forEachChild(node, (child) => this.visit(child, innerSource, isInnerQuoted));
  }

  #record(node: unbash.SyntaxNode, source: string, isQuoted: boolean): void {
    switch (node.type) {
      case 'Command':
        return this.#recordCommand(node);
      case 'AndOr':
      case 'Pipeline':
        this.mayRunAnything ||= hasCommentBetween(node.commands, source);
        return;
      case 'CommandExpansion':
        this.hasExpansion = true;
        return;
      case 'SimpleExpansion':
        this.hasExpansion ||= !isQuoted;
        return;
      case 'ParameterExpansion':
      case 'ProcessSubstitution':
      case 'HereDoc':
      case 'HereString':
        this.mayRunAnything = true;
        return;
      case 'Redirect':
        this.writesFile ||= isFileWrite(node);
        this.readsFile ||= node.operator === '<' || node.operator === '<>';
        break;
      default:
    }
  }

  #recordCommand({ name, args, prefix }: unbash.Command): void {
    if (name === undefined) return;
    const hasAssignment = prefix.some(({ type }) => type === 'Assignment');
    const words: Words = [name, ...args];
    this.commands.push(describeCommand(words, hasAssignment));
    this.mayRunAnything ||= canRunAnything(words);
    this.#recordWrappedCommands(words, hasAssignment);
  }

  #recordWrappedCommands(outer: Words, hasAssignment: boolean): void {
    let words = findWrapped(outer);
    for (let depth = 0; words !== null; depth += 1) {
      this.mayRunAnything ||= depth >= MAX_WRAPPERS || canRunAnything(words);
      if (this.mayRunAnything) return;
      this.inner.push(describeCommand(words, hasAssignment));
      words = findWrapped(words);
    }
  }
}

/** Nodes of a list of simple commands. `for PATH in x` and `PATH=x` could change what the next one runs. */
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

type Words = readonly [unbash.CommandArgument, ...unbash.CommandArgument[]];

function canRunAnything([name]: Words): boolean {
  return !isFixed(name) || getWordValue(name) === 'xargs';
}

/** Whether the line may run something else than the listed commands, or write a file. */
export function isUncertain(parsedLine: ParsedShellLine): boolean {
  const { hasExpansion, mayRunAnything, writesFile, isUnfinished, isProgram } = parsedLine;
  return hasExpansion || mayRunAnything || writesFile || isUnfinished || isProgram;
}

function describeCommand(words: Words, hasAssignment: boolean): ShellCommand {
  return {
    text: words.map((word) => word.text).join(' '),
    unquoted: words.map(getWordValue).join(' '),
    fixedStart: words.every(isFixed) ? null : getFixedStart(words),
    words: words.every(isFixed) ? words.map(getWordValue) : null,
    hasAssignment,
  };
}

function getFixedStart(words: Words): string {
  const fixed = words.slice(
    0,
    words.findIndex((word) => !isFixed(word)),
  );
  return fixed.map((word) => `${getWordValue(word)} `).join('');
}

const WRAPPERS = ['exec', 'command', 'builtin'];

/** The command that follows `exec`, `command` or `builtin` and its options, or null. */
function findWrapped([name, ...rest]: Words): Words | null {
  const wrapper = getWordValue(name);
  if (!WRAPPERS.includes(wrapper)) return null;
  let isValue = false;
  for (const [index, word] of rest.entries()) {
    const value = getWordValue(word);
    const isOption = isFixed(word) && (isValue || /^-./.test(value));
    if (!isOption) return [word, ...rest.slice(index + 1)];
    if (wrapper === 'command' && /^-\w*[vV]/.test(value)) return null;
    if (value === '--' && !isValue) return toWords(rest.slice(index + 1));
    isValue = !isValue && wrapper === 'exec' && /^-[cl]*a$/.test(value);
  }
  return null;
}

function toWords([name, ...args]: readonly unbash.CommandArgument[]): Words | null {
  return name === undefined ? null : [name, ...args];
}

function getWordValue(word: unbash.CommandArgument): string {
  return word.type === 'Word' ? word.value : word.text;
}

/** Whether the value of a word is known without running anything. */
function isFixed(word: unbash.CommandArgument): boolean {
  if (word.type === 'Word') return word.parts?.every(isFixedPart) ?? true;
  return word.value.type === 'Word' && isFixed(word.value);
}

function isFixedPart(part: unbash.WordPart): boolean {
  if (part.type === 'DoubleQuoted') return part.parts.every(isFixedPart);
  // `[` is also a command.
  if (part.type === 'Glob') return part.text === '[';
  return part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted';
}

/** Claude Code was observed to match every condition on a line that has a comment between its commands. */
function hasCommentBetween(commands: readonly unbash.SyntaxNode[], source: string): boolean {
  return commands.some((command, index) => {
    const next = commands[index + 1];
    return next !== undefined && source.slice(command.end, next.pos).includes('#');
  });
}

function isFileWrite({ operator, target }: unbash.Redirect): boolean {
  if (operator === '<' || operator === '<&') return false;
  if (target === undefined) return true;
  return target.value !== '/dev/null' && !(operator === '>&' && /^\d+-?$|^-$/.test(target.value));
}
