import type { ParsedShellLine } from './shell-reading.ts';

/** What variables of a command line stand for; those that are absent are not known. */
export type Variables = Readonly<Record<string, string | undefined>>;

const TOKEN =
  /(?<blank>[ \t]+)|"(?<double>[^"\\`!]*)"|'(?<single>[^']*)'|\$(?<short>[A-Za-z_]\w*)|\$\{(?<long>[A-Za-z_]\w*)\}|(?<plain>[\w@%+:,./-]+)/y;

/**
 * The words of a command line without operators, substitutions and escapes, as most are; null for
 * any other. Loading the shell parser takes longer than all else that is looked for at the start.
 */
export function tokenizePlainLine(line: string, variables: Variables): readonly string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < line.length) {
    const token = TOKEN.exec(line)?.groups;
    if (token === undefined) return null;
    const text: string | null = textOf(token, variables);
    if (text === null) return null;
    if (token['blank'] === undefined) word = (word ?? '') + text;
    else if (word !== null) words.push(word);
    if (token['blank'] !== undefined) word = null;
  }
  return word === null ? words : [...words, word];
}

function textOf(
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

const PLAIN = /^[\w@%+:,./-]+(?: [\w@%+:,./-]+)*$/;

/** Words that make more of a line than one command and its arguments. */
const SPECIAL: ReadonlySet<string> = new Set(
  'if then else elif fi for while until do done case esac in function select time coproc exec command builtin xargs'.split(
    ' ',
  ),
);

/** A line of nothing but a command and plain arguments, read without the parser; null for any other. */
export function parsePlainCommand(line: string): ParsedShellLine | null {
  if (!PLAIN.test(line)) return null;
  const words = line.split(' ');
  if (SPECIAL.has(words[0] ?? '')) return null;
  const command = { text: line, unquoted: line, fixedStart: null, words, hasAssignment: false };
  return {
    commands: [command],
    inner: [],
    hasExpansion: false,
    isOpen: false,
    writesFile: false,
    readsFile: false,
    isUnfinished: false,
    isProgram: false,
  };
}
