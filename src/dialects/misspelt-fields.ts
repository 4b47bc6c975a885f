import { findClosestName } from '../base/did-you-mean.ts';
import { isRecord } from '../base/json.ts';

/**
 * Warns about keys of an answer that are nearly one of those that are read: hooks may print fields of their own, but
 * one that is nearly a field of an answer is probably meant as it. `place` is what stands before a key in a message.
 */
export function listMisspeltKeys(
  answer: unknown,
  known: readonly string[],
  place = '',
): readonly string[] {
  if (!isRecord(answer)) return [];
  return Object.keys(answer).flatMap((key) => {
    const meant = known.includes(key) ? null : findClosestName(key, known);
    if (meant === null) return [];
    return [`unknown field "${place}${key}", not read: did you mean "${place}${meant}"?`];
  });
}
