import type { Attributed } from '../hooks/decision.ts';

/** Joins the texts of several hooks, or returns null when there is none. */
export function joinTexts(texts: readonly Attributed[]): string | null {
  return texts.length === 0 ? null : texts.map(({ text }) => text).join('\n');
}

/** Lists the values that several hooks gave for a joined field. */
export function listJoined(joined: unknown): readonly unknown[] {
  if (!Array.isArray(joined)) return [];
  return joined.flatMap((each: unknown): readonly unknown[] => {
    const isAttributed = typeof each === 'object' && each !== null && 'value' in each;
    const value: unknown = isAttributed ? each.value : each;
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values;
  });
}
