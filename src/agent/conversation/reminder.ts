import { REMINDER_START } from '../../sessions/nobodys-words.ts';

/** What Hookline and hooks tell the model, told apart from what a person says. */
export function reminder(text: string): string {
  return `${REMINDER_START}\n${defuse(text)}\n</system-reminder>`;
}

/**
 * The text with the tags that only Hookline writes made harmless, and still readable: the model follows
 * what stands in them, and files, pages and programs could write them, too.
 */
export function defuse(text: string): string {
  return text.replaceAll(OUR_TAG, (_whole, tag: string, end: string | undefined) =>
    end === undefined ? `‹${tag}` : `‹${tag}${end.slice(0, -1)}›`,
  );
}

const OUR_TAG = /<([\s/]{0,9}(?:system[-_\s]?reminder|instructions\s{1,9}file))([^<>]*>)?/gi;
