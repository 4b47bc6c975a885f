import * as unbash from 'unbash';
import { isTooComplex } from './shell-commands.ts';

export interface ShellWordContext {
  /** The value of `$(git rev-parse --show-toplevel)`. */
  readonly root: string;
  /** The value of `$(pwd)`. */
  readonly cwd: string;
  readonly variables: Variables;
  /** Whether to include files that are written; each is a separate list that begins with `>`. */
  readonly includesWritten?: true;
}

/** Stands in a word for a value that is not known before the command runs. */
export const UNKNOWN = '\0';

const MAX_DEPTH = 5;
/** No system accepts a longer argument. */
const MAX_STARTABLE = 1024 * 1024;

/**
 * Every word of a command line, at any depth and inside `bash -c '…'`, without its quotes and with
 * its variables replaced; one list for each command. Never throws.
 */
export function extractShellWords(
  line: string,
  context: ShellWordContext,
): readonly (readonly string[])[] {
  return extractAtDepth(line, context, 0);
}

/** The same for a program that is started without a shell, by its argument list. */
export function extractArgumentWords(
  words: readonly string[],
  context: ShellWordContext,
): readonly (readonly string[])[] {
  return expandInnerScripts(words, context, 0);
}

function extractAtDepth(
  line: string,
  context: ShellWordContext,
  depth: number,
): readonly (readonly string[])[] {
  if (line.length > MAX_STARTABLE) return [];
  if (isTooComplex(line) || depth > MAX_DEPTH) return [extractRoughWords(line, context)];
  const plain = tokenizePlainLine(line, context.variables);
  if (plain !== null) return expandInnerScripts(plain, context, depth);
  try {
    return extractParsedWords(line, context, depth);
  } catch {
    return [extractRoughWords(line, context)];
  }
}

/** The words of a line that cannot be parsed; errs towards too many. */
export function extractRoughWords(
  line: string,
  { variables }: ShellWordContext,
): readonly string[] {
  const filled = line.replaceAll(
    /\$\{?(\w+)\}?/g,
    (_all, name: string) => variables[name] ?? UNKNOWN,
  );
  const unquoted = filled.replaceAll(/["'\\]/g, '');
  return [...filled.split(/["'`]+/), ...unquoted.split(/[\s`;|&<>()]+/)];
}

function extractParsedWords(
  line: string,
  outer: ShellWordContext,
  depth: number,
): readonly (readonly string[])[] {
  const script = unbash.parse(line);
  const context = withAssignments(script, outer);
  const lists: (readonly string[])[] = [];
  const listed = new Set<unbash.SyntaxNode>();
  const visit = (node: unbash.SyntaxNode): void => {
    // A file that a hook writes changes with every run, and the hook does not run it.
    if (
      node.type === 'Redirect' &&
      node.target !== undefined &&
      !READ_OPERATORS.has(node.operator)
    ) {
      listed.add(node.target);
      if (context.includesWritten) lists.push(['>', expandWord(node.target, context)]);
    } else if (node.type === 'Command') {
      const words = [node.name, ...node.args].flatMap((word) => word ?? []);
      const expanded = words.map((word) => expandArgument(word, context));
      lists.push(...expandInnerScripts(expanded, context, depth));
      words.forEach((word) => listed.add(word));
    } else if (node.type === 'Remove') {
      // `${PATH##*:}`: a pattern for a text, not for files.
      listed.add(node.operand);
    } else if (node.type === 'Word' && !listed.has(node)) {
      lists.push([expandWord(node, context)]);
    } else if (node.type === 'Assignment' && node.name === 'PATH') {
      // Programs are searched in these directories, as after a `cd`.
      const directories = (context.variables['PATH'] ?? '').split(':');
      lists.push(...directories.map((directory) => ['cd', directory]));
    } else if (node.type === 'HereDocBody') {
      lists.push(...extractAtDepth(node.text, context, depth + 1));
    }
    unbash.forEachChild(node, visit);
  };
  visit(script);
  return lists;
}

/** Adds the variables that the line itself sets, with their last values. */
function withAssignments(script: unbash.SyntaxNode, context: ShellWordContext): ShellWordContext {
  const variables: Record<string, string | undefined> = { ...context.variables };
  const visit = (node: unbash.SyntaxNode): void => {
    if (node.type === 'Assignment' && node.value.type === 'Word') {
      variables[node.name] = expandWord(node.value, { ...context, variables });
    }
    unbash.forEachChild(node, visit);
  };
  visit(script);
  return { ...context, variables };
}

const READ_OPERATORS: ReadonlySet<string> = new Set(['<', '<&', '<<<']);

const SHELL = /(?:^|[\\/])(?:ba|z|da|k)?sh(?:\.exe)?$/;

/** Programs that create, touch or remove their arguments, and run none of them. */
const WRITERS: ReadonlySet<string> = new Set([
  'mkdir',
  'rm',
  'rmdir',
  'tee',
  'touch',
  'truncate',
  'unlink',
]);

function expandInnerScripts(
  words: readonly string[],
  context: ShellWordContext,
  depth: number,
): readonly (readonly string[])[] {
  const [program = ''] = words;
  if (WRITERS.has(program) && context.includesWritten !== true) return [[program]];
  const shell = words.findIndex((word) => SHELL.test(word));
  const flag = words.findIndex((word, index) => index > shell && /^-\w*c$/.test(word));
  const evaluated = words[0] === 'eval' ? words.slice(1).join(' ') : undefined;
  const script = evaluated ?? (shell === -1 || flag === -1 ? undefined : words[flag + 1]);
  return script === undefined ? [words] : [words, ...extractAtDepth(script, context, depth + 1)];
}

function expandArgument(word: unbash.CommandArgument, context: ShellWordContext): string {
  return word.type === 'Word' ? expandWord(word, context) : word.text;
}

function expandWord({ text, value, parts }: unbash.Word, context: ShellWordContext): string {
  const expanded =
    parts === undefined ? value : parts.map((part) => expandPart(part, context)).join('');
  return /^~(?:$|\/)/.test(text) ? expandHome(expanded, context) : expanded;
}

function expandHome(word: string, { variables }: ShellWordContext): string {
  return `${variables['HOME'] ?? UNKNOWN}${word.slice(1)}`;
}

function expandPart(part: unbash.WordPart, context: ShellWordContext): string {
  switch (part.type) {
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.map((child) => expandPart(child, context)).join('');
    case 'SimpleExpansion':
      return context.variables[part.text.slice(1)] ?? UNKNOWN;
    case 'ParameterExpansion':
      return expandParameter(part, context);
    case 'CommandExpansion':
      return expandCommand(part.text, context);
    case 'ArithmeticExpansion':
    case 'ProcessSubstitution':
      return UNKNOWN;
    default:
      return 'value' in part ? part.value : part.text;
  }
}

function expandParameter(
  { parameter, operation }: unbash.ParameterExpansionPart,
  context: ShellWordContext,
): string {
  const value = context.variables[parameter];
  if (operation === undefined) return value ?? UNKNOWN;
  if (operation.type !== 'Default') return UNKNOWN;
  return value ?? expandWord(operation.operand, context);
}

function expandCommand(text: string, { root, cwd }: ShellWordContext): string {
  const command = text.replaceAll(/^\$\(|^`|[)`]$/g, '').trim();
  if (/^pwd\b/.test(command)) return cwd;
  return /^git\s+rev-parse\s+--show-toplevel\b/.test(command) ? root : UNKNOWN;
}

/** Values of variables in a command line; absent ones are not known. */
type Variables = Readonly<Record<string, string | undefined>>;

const TOKEN =
  /(?<blank>[ \t]+)|"(?<double>[^"\\`!]*)"|'(?<single>[^']*)'|\$(?<short>[A-Za-z_]\w*)|\$\{(?<long>[A-Za-z_]\w*)\}|(?<plain>[\w@%+:,./-]+)/y;

/**
 * The words of a command line without operators, substitutions and escapes, which most are; null for
 * any other. Loading the shell parser would take longer than the rest of discovery.
 */
export function tokenizePlainLine(line: string, variables: Variables): readonly string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < line.length) {
    const token = TOKEN.exec(line)?.groups;
    if (token === undefined) return null;
    const text: string | null = expandToken(token, variables);
    if (text === null) return null;
    if (token['blank'] === undefined) word = (word ?? '') + text;
    else if (word !== null) words.push(word);
    if (token['blank'] !== undefined) word = null;
  }
  return word === null ? words : [...words, word];
}

function expandToken(
  token: Readonly<Record<string, string | undefined>>,
  variables: Variables,
): string | null {
  const { blank, double, single, plain, short, long } = token;
  if (double !== undefined) return expandQuoted(double, variables);
  const name = short ?? long;
  return name === undefined ? (blank ?? single ?? plain ?? null) : (variables[name] ?? null);
}

function expandQuoted(text: string, variables: Variables): string | null {
  let isPlain = true;
  const expanded = text.replaceAll(VARIABLE, (...match: (string | undefined)[]) => {
    const [, short, long] = match;
    const value = variables[short ?? long ?? ''];
    if (value === undefined) isPlain = false;
    return value ?? '';
  });
  return isPlain ? expanded : null;
}

const VARIABLE = /\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})?/g;
