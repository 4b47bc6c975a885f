import type { UserBlock } from './messages.ts';

/** What begins a text for the model that no person said, though it stands where a person speaks. */
export const REMINDER_START = '<system-reminder>';
export const SUMMARY_START =
  'This session is being continued from an earlier conversation that grew too long. Its summary:';

/** What a message in the person's place is, when nothing in it was said by a person. */
export function getSyntheticKind(content: readonly UserBlock[]): 'summary' | 'reminder' | null {
  const isEachStartingWith = (start: string): boolean =>
    content.length > 0 &&
    content.every((block) => block.type === 'text' && block.text.startsWith(start));
  if (isEachStartingWith(SUMMARY_START)) return 'summary';
  return isEachStartingWith(REMINDER_START) ? 'reminder' : null;
}
