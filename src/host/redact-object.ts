import { redactTexts } from './redact.ts';

/** Plain data as it may be shown: without secrets, unless the person wants all of it. */
export async function redactObject<Value extends object>(
  value: Value,
  { raw }: { readonly raw?: boolean | undefined },
): Promise<Value> {
  if (raw === true) return value;
  const suspects = [...new Set(textsIn(value).filter(hasLikelySecret))];
  if (suspects.length === 0) return value;
  const clean = await redactTexts(suspects);
  const copy = structuredClone(value);
  replaceTexts(copy, new Map(suspects.map((text, index) => [text, clean[index] ?? ''])));
  return copy;
}

// What secrets begin with, or stand behind; those that have neither are long and hold digits.
const MARKED =
  /(?:^|[^A-Za-z0-9])(?:(?:gh[a-z]|github_pat|glpat|npm|xox[a-z]|sk|rk)[-_][\w-]{16}|(?:AKIA|ASIA|AIza|eyJ)\w{8})|\b(?:Bearer|Basic) +[\w.~+/=-]{16}|:\/\/[^\s/@]*@|PRIVATE KEY/u;
// Not a directory's name: it has a slash on both sides.
const LONG_WORD = /(?<![\w+/-])[\w+-]{16,}|(?<=\/)[\w+-]{16,}(?![\w+/-])/gu;

/**
 * Whether a text is worth asking the rule set about. Loading that takes longer than listing hooks
 * does, so ordinary commands, paths and ids must not look like secrets.
 */
export function hasLikelySecret(text: string): boolean {
  if (text.length < 8) return false;
  return MARKED.test(text) || (text.match(LONG_WORD) ?? []).some(isRandom);
}

// Sessions, prompts and calls have one, and whoever reads an output looks for them.
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u;

function isRandom(word: string): boolean {
  if (UUID.test(word)) return false;
  const digits = word.match(/\d/gu)?.length ?? 0;
  return digits >= 3 || (digits > 0 && /[A-Z]/u.test(word) && /[a-z]/u.test(word));
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

function replaceTexts(value: object, replacements: ReadonlyMap<string, string>): void {
  const fields: readonly [string, unknown][] = Object.entries(value);
  for (const [key, held] of fields) {
    if (typeof held === 'object' && held !== null) replaceTexts(held, replacements);
    const replacement = typeof held === 'string' ? replacements.get(held) : undefined;
    if (replacement !== undefined) Object.defineProperty(value, key, { value: replacement });
  }
}
