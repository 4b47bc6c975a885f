/** Values of variables in a command line; absent ones are not known. */
export type Variables = Readonly<Record<string, string | undefined>>;

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
