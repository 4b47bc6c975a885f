import { MAX_NAME } from './limits.ts';

/** Everything in the text that could be a path, without variables in front, each once. */
export function extractPathWords(text: string): Set<string> {
  const plain = stripVariables(text);
  const words = [...quotedStrings(plain), ...bareWords(plain), ...bareWords(text)];
  return new Set(words.map(stripLeadingSlash).filter(isUsableWord));
}

/** `"$DIR"/x`, `${DIR}/x`, `$(dirname "$0")/x` and `%DIR%\x` all become `/x`. */
export function stripVariables(text: string): string {
  const substitution = /\$\([^()\n]{0,200}\)/g;
  return text
    .replaceAll(substitution, '')
    .replaceAll(substitution, '')
    .replaceAll(/\$\{[^{}\n]{0,200}\}/g, '')
    .replaceAll(/\$(?:env:)?\w{1,100}/g, '')
    .replaceAll(/%\w{1,100}%/g, '');
}

/** Quoted strings, and lists of them joined as `path.join` and `pathlib` would. */
function quotedStrings(text: string): readonly string[] {
  const strings: string[] = [];
  let joined = '';
  let end = -1;
  for (const match of text.matchAll(/(["'`])([^"'`\n]{1,400})\1/g)) {
    const between = end < 0 ? '' : text.slice(end, match.index);
    const continues = joined.length < MAX_NAME && /^\s{0,20}[,/+]\s{0,20}$/.test(between);
    const string = match[2] ?? '';
    joined = continues ? `${joined}/${string}` : string;
    if (continues) strings.push(joined);
    strings.push(string);
    end = match.index + match[0].length;
  }
  return strings;
}

function bareWords(text: string): readonly string[] {
  const words = text.replaceAll(/["'`]/g, '').split(/[\s;|&()<>{}[\],=]+/);
  return words.filter((word) => /[./\\]/.test(word));
}

export function stripLeadingSlash(word: string): string {
  return word.replace(/^[/\\]+(?=\.|\w)/, '');
}

export function isUsableWord(word: string): boolean {
  return word.length <= MAX_NAME && /\w/.test(word) && !word.includes('\0');
}
