import { TextDecoder } from 'node:util';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { truncateText } from '../../base/json.ts';
import { MAX_PLAIN_CHARACTERS, toPlainText } from './plain-value.ts';

/** Whether the value is async iterable, as streams of Node.js and of the web and async generators are. */
export function isStream(value: unknown): value is AsyncIterable<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  try {
    return typeof Reflect.get(value, Symbol.asyncIterator) === 'function';
  } catch {
    return false;
  }
}

const GOES_ON = '\n[cut: the stream goes on]';
const MAX_CHARACTERS = MAX_PLAIN_CHARACTERS - GOES_ON.length;

/** How many chunks are read before the event loop runs again: some streams never wait. */
const PIECES_IN_A_TURN = 100;

/**
 * Reads the text of a stream until it ends or exceeds the limit. Then, or when the signal aborts, the
 * stream is asked to end, without waiting for that.
 */
export async function readStream(
  stream: AsyncIterable<unknown>,
  signal: AbortSignal,
): Promise<string> {
  const iterator = stream[Symbol.asyncIterator]();
  const texts = createTexts();
  const end = (): void => endStream(iterator);
  signal.addEventListener('abort', end, { once: true });
  try {
    for (let count = 1; !texts.isFull() && !signal.aborted; count += 1) {
      const piece: IteratorResult<unknown, unknown> = await iterator.next();
      if (piece.done === true) return texts.all();
      texts.add(piece.value);
      if (count % PIECES_IN_A_TURN === 0) await nextTurn();
    }
  } finally {
    signal.removeEventListener('abort', end);
  }
  end();
  return `${texts.all()}${GOES_ON}`;
}

function createTexts() {
  const decoder = new TextDecoder();
  const texts: string[] = [];
  let length = 0;
  return {
    isFull: () => length > MAX_CHARACTERS,
    add(piece: unknown) {
      const text = toText(piece, decoder);
      length += text.length;
      texts.push(text);
    },
    all: () => truncateText(texts.join(''), MAX_CHARACTERS),
  };
}

function toText(piece: unknown, decoder: TextDecoder): string {
  if (typeof piece === 'string') return piece;
  if (piece instanceof Uint8Array) return decoder.decode(piece, { stream: true });
  return `${toPlainText(piece, MAX_PLAIN_CHARACTERS).text}\n`;
}

/** Errors of the iterator's `return` are ignored. */
function endStream(iterator: AsyncIterator<unknown>): void {
  const callReturn = async (): Promise<unknown> => iterator.return?.();
  callReturn().catch(() => undefined);
}
