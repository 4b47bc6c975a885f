import { isNestedTooDeep, isRecord, parseJson } from '../base/json.ts';
import type { TrustUnit } from './trust-unit.ts';

export const MAX_FINDINGS = 50;
export const MAX_WORDS = 2_000;
/** Longer words are not names. */
const MAX_NAME = 400;

/** Every word of the text that could be a path, without leading variables, each once. */
export function extractPathWords(text: string): Set<string> {
  const plain = stripVariables(text);
  const words = [
    ...extractQuotedStrings(plain),
    ...extractBareWords(plain),
    ...extractBareWords(text),
  ];
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

/** Quoted strings, and lists of them joined like `path.join` and `pathlib` do. */
function extractQuotedStrings(text: string): readonly string[] {
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

function extractBareWords(text: string): readonly string[] {
  const words = text.replaceAll(/["'`]/g, '').split(/[\s;|&()<>{}[\],=]+/);
  return words.filter((word) => /[./\\]/.test(word));
}

export function stripLeadingSlash(word: string): string {
  return word.replace(/^[/\\]+(?=\.|\w)/, '');
}

export function isUsableWord(word: string): boolean {
  return word.length <= MAX_NAME && /\w/.test(word) && !word.includes('\0');
}

/**
 * The shell text that a hook runs: a script is returned as it is, of a config entry the command with its
 * environment; an entry that calls a service or a model runs nothing.
 */
export function extractCommandText(unit: TrustUnit, text: string): string {
  const parsed = unit.text === undefined ? null : parseJson(text);
  if (parsed === null || !parsed.ok || isNestedTooDeep(parsed.value)) return text;
  return extractCommandLines(parsed.value).join('\n');
}

function extractCommandLines(value: unknown): readonly string[] {
  if (!isRecord(value)) return [];
  const { command, args, environment } = value;
  const variables = isRecord(environment) ? Object.values(environment).map(String) : [];
  if (typeof command !== 'string') {
    return [...Object.values(value).flatMap(extractCommandLines), ...variables];
  }
  return [[command, ...(Array.isArray(args) ? args.map(String) : [])].join(' '), ...variables];
}

/** The words of each command; `cleanLine` removes what does not belong to words. */
export function* splitCommands(
  text: string,
  cleanLine: (line: string) => string,
): Generator<readonly string[]> {
  for (const line of text.split('\n')) {
    if (/^\s*(?:#|\/\/)/.test(line)) continue;
    for (const command of cleanLine(line).split(/[;|&()`]+/)) yield command.trim().split(/\s+/);
  }
}

const COMMAND_STARTERS = new Set(
  '|then|do|else|if|while|until|!|{|exec|time|command|builtin|env|sudo|nohup|-c'.split('|'),
);

/** Whether a command begins at this word, judged by the word before it. */
export function isCommandStart(words: readonly string[], index: number): boolean {
  const before = words[index - 1] ?? '';
  return COMMAND_STARTERS.has(before) || /^\w+=/.test(before);
}
