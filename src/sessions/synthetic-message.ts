import type { UserBlock } from './messages.ts';

/** Prefixes of user messages that the agent wrote, not the user. */
export const REMINDER_START = '<system-reminder>';
export const SUMMARY_START =
  'This session is being continued from an earlier conversation that grew too long. Its summary:';

/** What a user message is, when no part of it was written by the user; else null. */
export function getSyntheticKind(content: readonly UserBlock[]): 'summary' | 'reminder' | null {
  const isEachStartingWith = (start: string): boolean =>
    content.length > 0 &&
    content.every((block) => block.type === 'text' && block.text.startsWith(start));
  if (isEachStartingWith(SUMMARY_START)) return 'summary';
  return isEachStartingWith(REMINDER_START) ? 'reminder' : null;
}
