import { REMINDER_START } from '../../sessions/synthetic-message.ts';

/** Text from Hookline or a hook, marked so that the model can tell it from the user's text. */
export function formatReminder(text: string): string {
  return `${REMINDER_START}\n${escapeReminderTags(text)}\n</system-reminder>`;
}

/**
 * Replaces the angle brackets of tags that only Hookline may write. The model follows their content, and
 * files, pages and programs could contain them, too.
 */
export function escapeReminderTags(text: string): string {
  return text.replaceAll(RESERVED_TAG, (_whole, tag: string, end: string | undefined) =>
    end === undefined ? `‹${tag}` : `‹${tag}${end.slice(0, -1)}›`,
  );
}

const RESERVED_TAG = /<([\s/]{0,9}(?:system[-_\s]?reminder|instructions\s{1,9}file))([^<>]*>)?/gi;
