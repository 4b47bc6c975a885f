import { isJson } from './array-file.ts';
import { hasByteOrderMark, scanArray } from './json-elements.ts';

export interface FoundElements {
  /** The text of each, in order. */
  readonly elements: readonly string[];
  readonly problems: readonly string[];
}

/** Finds the elements of a file that is a JSON array, whole or torn, one JSON value per line, or a single value. */
export function readElements(bytes: Buffer): FoundElements {
  const scan = scanArray(bytes);
  if (scan === null) return readLines(bytes);
  const elements = scan.elements.map(({ start, end }) => bytes.toString('utf8', start, end));
  const behind = scan.closedAt === null ? '' : bytes.toString('utf8', scan.closedAt + 1).trim();
  const rest = scan.rest === null ? '' : bytes.toString('utf8', scan.rest.start, scan.rest.end);
  const torn = recoverLines(rest === '' ? behind : rest);
  return { elements: [...elements, ...torn.elements], problems: torn.problems };
}

function readLines(bytes: Buffer): FoundElements {
  const text = bytes.toString('utf8', hasByteOrderMark(bytes) ? 3 : 0);
  return isJson(text) ? { elements: [text.trim()], problems: [] } : recoverLines(text);
}

const PREVIEW_CHARACTERS = 80;

/** The lines that are whole: of a text with a torn end, or one that two writers have mixed up. */
function recoverLines(text: string): FoundElements {
  const elements: string[] = [];
  const problems: string[] = [];
  for (const line of text.split('\n')) {
    const json = line.trim().replace(/,$/, '');
    if (json === '' || json === '[' || json === ']') continue;
    if (isJson(json)) elements.push(json);
    else problems.push(`not JSON: ${json.slice(0, PREVIEW_CHARACTERS)}`);
  }
  return { elements, problems };
}
