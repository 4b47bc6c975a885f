import { redactTexts } from './redact.ts';

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
  for (const [key, held] of fields) {
    if (typeof held === 'object' && held !== null) replaceTexts(held, replacements);
    const replacement = typeof held === 'string' ? replacements.get(held) : undefined;
    if (replacement !== undefined) Object.defineProperty(value, key, { value: replacement });
  }
}
