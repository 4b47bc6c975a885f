import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { HooklineError } from '../../base/errors.ts';

export interface TextLine {
  /** Counted from 1. */
  readonly number: number;
  /** Null when it is longer than a text can be. */
  readonly text: string | null;
  /** Whether a line break ends it: what was cut off in the middle has none. */
  readonly isWhole: boolean;
}

const CHUNK_BYTES = 1024 * 1024;
const LINE_BREAK = 0x0a;
// A file that was replaced by a pipe would otherwise wait for a writer.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** A file's lines one after the other, so that it need not fit into one text. */
export function* readTextLines(file: string, fromByte = 0): Generator<TextLine> {
  const handle = openSync(file, OPEN_FLAGS);
  try {
    if (!fstatSync(handle).isFile()) {
      throw new HooklineError('CONFIG_UNREADABLE', { message: 'it is not a regular file' });
    }
    let number = 0;
    let begun: Buffer[] = [];
    for (const chunk of readChunks(handle, fromByte)) {
      let start = 0;
      for (let end; (end = chunk.indexOf(LINE_BREAK, start)) !== -1; start = end + 1) {
        number += 1;
        const rest = chunk.subarray(start, end);
        yield { number, text: textOf([...begun, rest]), isWhole: true };
        begun = [];
      }
      // The chunk's memory is used again for the next one.
      if (start < chunk.length) begun.push(Buffer.from(chunk.subarray(start)));
    }
    if (begun.length > 0) yield { number: number + 1, text: textOf(begun), isWhole: false };
  } finally {
    closeSync(handle);
  }
}

function* readChunks(handle: number, fromByte: number): Generator<Buffer> {
  const memory = Buffer.allocUnsafe(CHUNK_BYTES);
  let at = fromByte;
  for (let length; (length = readSync(handle, memory, 0, memory.length, at)) > 0; at += length) {
    yield memory.subarray(0, length);
  }
}

function textOf(pieces: readonly Buffer[]): string | null {
  const [only, ...others] = pieces;
  try {
    const whole = only !== undefined && others.length === 0 ? only : Buffer.concat(pieces);
    return whole.toString('utf8');
  } catch {
    return null;
  }
}
