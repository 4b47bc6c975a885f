import { MAX_MESSAGE_BYTES, TransportFailure } from './failures.ts';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The usual fetch, but an answer, or one event of a stream of them, that is too long fails. */
export const fetchBounded: Fetch = async (url, init) => {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
  const { status, statusText, headers } = response;
  const body = response.body.pipeThrough(isStream ? boundedEvents() : boundedBytes());
  const bounded = new Response(body, { status, statusText, headers });
  // A response that is made has no address, and redirects are judged by it.
  Object.defineProperty(bounded, 'url', { value: response.url });
  return bounded;
};

function boundedBytes(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      pass(chunk, bytes, controller);
    },
  });
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Each event of a stream is bounded, not the stream, which may stay open for days. */
function boundedEvents(): TransformStream<Uint8Array, Uint8Array> {
  let begun: BegunEvent = { bytes: 0, isLineEmpty: true, last: 0 };
  return new TransformStream({
    transform(chunk, controller) {
      const { longest, rest } = readEvents(begun, chunk);
      begun = rest;
      pass(chunk, longest, controller);
    },
  });
}

/** What has come of an event that has not ended. */
interface BegunEvent {
  readonly bytes: number;
  readonly isLineEmpty: boolean;
  readonly last: number;
}

/** An empty line ends an event, and a line ends with either sign or both. A plain loop: it sees every byte. */
function readEvents(
  begun: BegunEvent,
  chunk: Uint8Array,
): { readonly longest: number; readonly rest: BegunEvent } {
  let { bytes, isLineEmpty, last } = begun;
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
  return { longest: Math.max(longest, bytes), rest: { bytes, isLineEmpty, last } };
}

function pass(
  chunk: Uint8Array,
  bytes: number,
  controller: TransformStreamDefaultController<Uint8Array>,
): void {
  if (bytes <= MAX_MESSAGE_BYTES) controller.enqueue(chunk);
  else controller.error(new TransportFailure(TOO_LONG));
}

const TOO_LONG = `the server sent a message of more than ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`;
