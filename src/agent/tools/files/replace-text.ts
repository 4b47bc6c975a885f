import { truncateText } from '../../../base/json.ts';
import { normalizeLineEnds } from './text-file.ts';

export interface ReplacedText {
  readonly text: string;
  /** The offsets of the first change in the new text. */
  readonly start: number;
  readonly end: number;
}

interface Replacement {
  readonly before: string;
  readonly after: string;
  readonly isForAll: boolean;
  /** Whether the model's tool has `replace_all`. */
  readonly offersAll?: boolean;
}

/**
 * Replaces a text that occurs exactly once, or everywhere. Both kinds of line end match, because models
 * write only \n; inserted lines use the line end of most lines. `before` must not be empty. A string
 * says why it failed.
 */
export function replaceText(
  text: string,
  { before, after, isForAll, offersAll = false }: Replacement,
): ReplacedText | string {
  const matches = findMatches(text, normalizeLineEnds(before));
  const [first] = matches;
  if (first === undefined) return formatNotFound(before);
  if (matches.length > 1 && !isForAll) return formatAmbiguous(before, matches.length, offersAll);
  const inserted = matchLineEnds(text, after);
  const parts = matches.map(
    ({ start }, index) => text.slice(matches[index - 1]?.end ?? 0, start) + inserted,
  );
  const rest = text.slice(matches.at(-1)?.end);
  return {
    text: parts.join('') + rest,
    start: first.start,
    end: first.start + inserted.length,
  };
}

function findMatches(text: string, sought: string) {
  const matches: { readonly start: number; readonly end: number }[] = [];
  const plain = normalizeLineEnds(text);
  const toOriginalOffset = createOffsetMapper(text);
  for (let at = plain.indexOf(sought); at !== -1; at = plain.indexOf(sought, at + sought.length)) {
    matches.push({ start: toOriginalOffset(at), end: toOriginalOffset(at + sought.length) });
  }
  return matches;
}

/**
 * Maps offsets in the text with normalized line ends to offsets in the original; must be called in
 * ascending order.
 */
function createOffsetMapper(text: string): (index: number) => number {
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

function matchLineEnds(text: string, added: string): string {
  const pairs = text.split('\r\n').length - 1;
  const all = text.split('\n').length - 1;
  return pairs * 2 > all ? normalizeLineEnds(added).replaceAll('\n', '\r\n') : added;
}

const MAX_SHOWN_CHARACTERS = 2000;

function formatNotFound(sought: string): string {
  return `String to replace not found in file.\nString: ${truncateText(sought, MAX_SHOWN_CHARACTERS)}`;
}

function formatAmbiguous(sought: string, count: number, offersAll: boolean): string {
  const found = `Found ${count} matches of the string to replace`;
  return [
    offersAll ? `${found}, but replace_all is false.` : `${found}.`,
    ...(offersAll ? ['To replace all occurrences, set replace_all to true.'] : []),
    'To replace only one occurrence, please provide more context to uniquely identify the instance.',
    `\nString: ${truncateText(sought, MAX_SHOWN_CHARACTERS)}`,
  ]
    .join(' ')
    .replace(' \n', '\n');
}
