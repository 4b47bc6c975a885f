import { truncateText } from '../../../base/json.ts';
import { withPlainLineEnds } from './text-file.ts';

export interface Replacement {
  /** Not empty. */
  readonly before: string;
  readonly after: string;
  readonly isForAll: boolean;
}

export interface Replaced {
  readonly text: string;
  /** Where in the new text the first change begins and ends. */
  readonly start: number;
  readonly end: number;
}

/**
 * Replaces text that stands exactly once, or everywhere. Models know one kind of line end only: their
 * lines match both kinds, and new ones end as most lines of the text do. A string says why not.
 */
export function replaceText(text: string, change: Replacement): Replaced | string {
  const matches = findMatches(text, withPlainLineEnds(change.before));
  const [first] = matches;
  if (first === undefined) return sayNotFound(change.before);
  if (matches.length > 1 && !change.isForAll) return sayAmbiguous(change.before, matches.length);
  const after = withLineEndsOf(text, change.after);
  const parts = matches.map(({ start }, index) => {
    const kept = text.slice(matches[index - 1]?.end ?? 0, start);
    return kept + after;
  });
  const rest = text.slice(matches.at(-1)?.end);
  return {
    text: parts.join('') + rest,
    start: first.start,
    end: first.start + after.length,
  };
}

interface Match {
  readonly start: number;
  readonly end: number;
}

function findMatches(text: string, sought: string): readonly Match[] {
  const matches: Match[] = [];
  const plain = withPlainLineEnds(text);
  const placeIn = createPlaceFinder(text);
  for (let at = plain.indexOf(sought); at !== -1; at = plain.indexOf(sought, at + sought.length)) {
    matches.push({ start: placeIn(at), end: placeIn(at + sought.length) });
  }
  return matches;
}

/** Finds where a place in the text with plain line ends is in the text itself; asked in rising order. */
function createPlaceFinder(text: string): (index: number) => number {
  let removed = 0;
  let pair = text.indexOf('\r\n');
  return (index) => {
    while (pair !== -1 && pair - removed < index) {
      removed += 1;
      pair = text.indexOf('\r\n', pair + 2);
    }
    return index + removed;
  };
}

function withLineEndsOf(text: string, added: string): string {
  const pairs = text.split('\r\n').length - 1;
  const all = text.split('\n').length - 1;
  return pairs * 2 > all ? withPlainLineEnds(added).replaceAll('\n', '\r\n') : added;
}

const LONGEST_SHOWN = 2000;

function sayNotFound(sought: string): string {
  return `String to replace not found in file.\nString: ${truncateText(sought, LONGEST_SHOWN)}`;
}

function sayAmbiguous(sought: string, count: number): string {
  return [
    `Found ${count} matches of the string to replace, but replace_all is false.`,
    'To replace all occurrences, set replace_all to true.',
    'To replace only one occurrence, please provide more context to uniquely identify the instance.',
    `\nString: ${truncateText(sought, LONGEST_SHOWN)}`,
  ]
    .join(' ')
    .replace(' \n', '\n');
}
