import { MAX_MESSAGE_BYTES, TransportFailure } from './failures.ts';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Like fetch, but fails when a response, or one event of an event stream, is too long. */
export const fetchBounded: Fetch = async (url, init) => {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
  const { status, statusText, headers } = response;
  const body = response.body.pipeThrough(isStream ? createEventLimiter() : createByteLimiter());
  const bounded = new Response(body, { status, statusText, headers });
  // A constructed response has no URL, but the SDK checks redirects by it.
  Object.defineProperty(bounded, 'url', { value: response.url });
  return bounded;
};

function createByteLimiter(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      enqueueOrFail(chunk, bytes, controller);
    },
  });
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Limits each event of a stream, not the stream, which may stay open for days. */
function createEventLimiter(): TransformStream<Uint8Array, Uint8Array> {
  const meter = new EventMeter();
  return new TransformStream({
    transform(chunk, controller) {
      enqueueOrFail(chunk, meter.measure(chunk), controller);
    },
  });
}

/** Measures the events of a stream, across its chunks. */
class EventMeter {
  /** Of the event that has not ended. */
  #bytes = 0;
  #isLineEmpty = true;
  #lastByte = 0;

  /**
   * The bytes of the longest event that is in the chunk. An empty line ends an event, and CR, LF or CRLF
   * ends a line. A plain loop over local variables, because it sees every byte.
   */
  measure(chunk: Uint8Array): number {
    let bytes = this.#bytes;
    let isLineEmpty = this.#isLineEmpty;
    let last = this.#lastByte;
    let longest = 0;
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index] ?? 0;
      bytes += 1;
      const isLineEnd = byte === LINE_FEED || byte === CARRIAGE_RETURN;
      const isSecondHalf = byte === LINE_FEED && last === CARRIAGE_RETURN;
      last = byte;
      if (isSecondHalf) continue;
      if (isLineEnd && isLineEmpty) {
        longest = Math.max(longest, bytes);
        bytes = 0;
      }
      isLineEmpty = isLineEnd;
    }
    this.#bytes = bytes;
    this.#isLineEmpty = isLineEmpty;
    this.#lastByte = last;
    return Math.max(longest, bytes);
  }
}

function enqueueOrFail(
  chunk: Uint8Array,
  bytes: number,
  controller: TransformStreamDefaultController<Uint8Array>,
): void {
  if (bytes <= MAX_MESSAGE_BYTES) controller.enqueue(chunk);
  else controller.error(new TransportFailure(TOO_LONG));
}

const TOO_LONG = `the server sent a message of more than ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`;
