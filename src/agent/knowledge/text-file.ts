import { readdirSync } from 'node:fs';
import path from 'node:path';
import { isDirectory, isLink } from '../../base/files.ts';
import { cutText } from '../../base/json.ts';
import { lookInto, type Found } from '../tools/files/look-into.ts';
import { decodeText } from '../tools/files/text-file.ts';

/** Neither text nor note: there is no such file. */
export interface TextReading {
  readonly text: string | null;
  /** What a person should know: why there is no text, or that it was cut. */
  readonly note: string | null;
}

const MAX_BYTES = 4 * 1024 * 1024;

/** Reads a text that is written for a model, at most so many characters of it. Never throws. */
export function readTextFile(file: string, maxCharacters: number): TextReading {
  const found = lookInto(file, MAX_BYTES);
  if (found.is === 'absent' || !isDirectory(path.dirname(file))) return absent(file);
  const text = found.is === 'file' ? (decodeText(found.bytes)?.text ?? null) : null;
  if (text === null) return { text, note: `${file} is not read: ${whyNot(found)}` };
  if (text.length <= maxCharacters) return { text, note: null };
  const limit = maxCharacters.toLocaleString('en');
  return {
    text: cutText(text, maxCharacters),
    note: `${file} is longer than ${limit} characters; the rest is left out`,
  };
}

/** The names in a directory, sorted; none when it cannot be looked at. */
export function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).toSorted();
  } catch {
    return [];
  }
}

function absent(file: string): TextReading {
  return { text: null, note: isLink(file) ? `${file} is a link to nothing` : null };
}

function whyNot(found: Found): string {
  if (found.is === 'large') return 'it is larger than 4 MiB';
  if (found.is === 'directory') return 'it is a directory';
  return found.is === 'unreadable' ? found.why : 'it is not text';
}
