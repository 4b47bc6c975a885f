import { disableProfiler } from './disable-profiler.ts';
import type { Redact } from '../trace/jsonl.ts';

/** A copy of plain data with secrets redacted, unless `raw` is set. */
export async function redactObject<Value extends object>(
  value: Value,
  { raw }: { readonly raw?: boolean | undefined },
): Promise<Value> {
  if (raw === true) return value;
  const suspects = [...new Set(collectTexts(value).filter(hasLikelySecret))];
  if (suspects.length === 0) return value;
  const clean = await redactTexts(suspects);
  const copy = structuredClone(value);
  replaceTexts(copy, new Map(suspects.map((text, index) => [text, clean[index] ?? ''])));
  return copy;
}

// Prefixes and contexts of secrets; other secrets are long words with digits.
const SECRET_MARKS =
  /(?:^|[^A-Za-z0-9])(?:(?:gh[a-z]|github_pat|glpat|npm|xox[a-z]|sk|rk)[-_][\w-]{16}|(?:AKIA|ASIA|AIza|eyJ)\w{8})|\b(?:Bearer|Basic) +[\w.~+/=-]{16}|:\/\/[^\s/@]*@|PRIVATE KEY/u;
// Not a directory name, which has a slash on both sides.
const LONG_WORD = /(?<![\w+/-])[\w+-]{16,}|(?<=\/)[\w+-]{16,}(?![\w+/-])/gu;

/**
 * Whether a text must be checked by the rule set. Loading the rule set takes longer than listing hooks,
 * so ordinary commands, paths and ids must not match.
 */
export function hasLikelySecret(text: string): boolean {
  if (text.length < 8) return false;
  return SECRET_MARKS.test(text) || (text.match(LONG_WORD) ?? []).some(isRandomWord);
}

// Ids of sessions, prompts and calls must stay readable.
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u;

function isRandomWord(word: string): boolean {
  if (UUID.test(word)) return false;
  const digits = word.match(/\d/gu)?.length ?? 0;
  return digits >= 3 || (digits > 0 && /[A-Z]/u.test(word) && /[a-z]/u.test(word));
}

function collectTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(collectTexts);
}

function replaceTexts(value: object, replacements: ReadonlyMap<string, string>): void {
  const fields: readonly [string, unknown][] = Object.entries(value);
  for (const [key, fieldValue] of fields) {
    if (typeof fieldValue === 'object' && fieldValue !== null) {
      replaceTexts(fieldValue, replacements);
    }
    const replacement = typeof fieldValue === 'string' ? replacements.get(fieldValue) : undefined;
    if (replacement !== undefined) Object.defineProperty(value, key, { value: replacement });
  }
}

// Secrets that the rule set does not detect: Google, Stripe, OpenAI, JSON web tokens, private keys,
// passwords in URLs, and bearer tokens.
const OWN_RULES: readonly RegExp[] = [
  /\bAIza[\w-]{35}/gu,
  /\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}/gu,
  /\bsk-[A-Za-z0-9_-]{20,}/gu,
  /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/gu,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gu,
  /(?<=:\/\/[^\s/:@]{0,64}:)[^\s/@]{1,256}(?=@)/gu,
  /(?<=\b(?:Bearer|Basic) {1,8})(?=[A-Za-z._~+/=-]*\d)[\w.~+/=-]{16,}/gu,
];

const REDACTED = '[redacted]';
const SEPARATOR = '\n\u0000\n';

/** Redacts secrets in texts. The rule set is loaded on first use, because most commands never need it. */
export const redactTexts: Redact = async (texts) => {
  const joined = texts.map(redactOwn).join(SEPARATOR);
  const ranges = await findSecrets(joined);
  return removeRanges(joined, ranges).split(SEPARATOR);
};

function redactOwn(text: string): string {
  // A text that contains the separator would be split in two.
  const safeText = text.replaceAll('\u0000', '\u2400');
  return OWN_RULES.reduce((clean, rule) => clean.replace(rule, REDACTED), safeText);
}

async function findSecrets(content: string): Promise<readonly (readonly [number, number])[]> {
  const [{ lintSource }, { creator }] = await Promise.all([
    import('@secretlint/core'),
    import('@secretlint/secretlint-rule-preset-recommend'),
    disableProfiler(),
  ]);
  const { messages } = await lintSource({
    source: { content, filePath: 'trace.txt', ext: '.txt', contentType: 'text' },
    options: {
      config: { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator }] },
    },
  });
  return messages.map((message) => message.range);
}

function removeRanges(text: string, ranges: readonly (readonly [number, number])[]): string {
  let clean = '';
  let at = 0;
  for (const [start, found] of ranges.toSorted((one, other) => one[0] - other[0])) {
    if (start < at) continue;
    const end = findWordEnd(text, found);
    const separators = text.slice(start, end).split(SEPARATOR).length - 1;
    clean += `${text.slice(at, start)}${REDACTED}${SEPARATOR.repeat(separators)}`;
    at = end;
  }
  return clean + text.slice(at);
}

/** For some secrets the rule set reports the start of their name but the length without it. */
function findWordEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && /[\w+/=-]/u.test(text[end] ?? '')) end += 1;
  return end;
}
