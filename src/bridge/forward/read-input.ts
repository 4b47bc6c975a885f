import { fstatSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import { getErrorMessage } from '../../base/errors.ts';

export interface Input {
  readonly bytes: Buffer;
  /** Why it may not be all; null when it ended by itself. */
  readonly problem: string | null;
}

/** Some agents never close the input of a hook. */
const WAIT_MS = 5000;
const MOST_BYTES = 256 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

const TOO_LARGE = `expected at most ${MOST_BYTES} bytes`;

/** Reads a descriptor to its end, or as far as that is possible. */
export async function readInput(descriptor: number): Promise<Input> {
  try {
    const stats = fstatSync(descriptor);
    // A pipe is read as a stream, because a blocked read could not be given up.
    const isStream = stats.isFIFO() || stats.isSocket();
    return isStream ? await readStream(descriptor) : readBlocking(descriptor);
  } catch (error) {
    return { bytes: Buffer.alloc(0), problem: getErrorMessage(error) };
  }
}

function readBlocking(descriptor: number): Input {
  const chunks: Buffer[] = [];
  for (let size = 0; size <= MOST_BYTES;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const count = readSync(descriptor, chunk, 0, CHUNK_BYTES, null);
    if (count === 0) return { bytes: Buffer.concat(chunks), problem: null };
    chunks.push(chunk.subarray(0, count));
    size += count;
  }
  return { bytes: Buffer.concat(chunks), problem: TOO_LARGE };
}

function readStream(descriptor: number): Promise<Input> {
  return new Promise((resolve) => {
    const stream = new Socket({ fd: descriptor, readable: true, writable: false });
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (problem: string | null) => {
      clearTimeout(timer);
      stream.destroy();
      resolve({ bytes: Buffer.concat(chunks), problem });
    };
    const timer = setTimeout(() => settle(`not closed within ${WAIT_MS} ms`), WAIT_MS);
    stream.on('data', (chunk) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MOST_BYTES) settle(TOO_LARGE);
    });
    stream.on('end', () => settle(null));
    stream.on('error', (error) => settle(getErrorMessage(error)));
  });
}
