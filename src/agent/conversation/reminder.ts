import { REMINDER_START } from '../../sessions/nobodys-words.ts';

/** What Hookline and hooks tell the model, told apart from what a person says. */
export function formatReminder(text: string): string {
  return `${REMINDER_START}\n${escapeReminderTags(text)}\n</system-reminder>`;
}

/**
 * The text with the tags that only Hookline writes made harmless, and still readable: the model follows
 * what stands in them, and files, pages and programs could write them, too.
 */
export function escapeReminderTags(text: string): string {
  return text.replaceAll(RESERVED_TAG, (_whole, tag: string, end: string | undefined) =>
    end === undefined ? `‹${tag}` : `‹${tag}${end.slice(0, -1)}›`,
  );
}

const RESERVED_TAG = /<([\s/]{0,9}(?:system[-_\s]?reminder|instructions\s{1,9}file))([^<>]*>)?/gi;
