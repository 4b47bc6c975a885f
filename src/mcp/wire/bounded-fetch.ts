import { MAX_MESSAGE_BYTES, TransportFailure } from './limits.ts';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The usual fetch, but an answer, or one event of a stream of them, that is too long fails. */
export const boundedFetch: Fetch = async (url, init) => {
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

const NEWLINE = 0x0a;

/** Each line of a stream is bounded, not the stream, which may stay open for days. */
function boundedEvents(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const lastLine = chunk.lastIndexOf(NEWLINE);
      bytes = lastLine === -1 ? bytes + chunk.length : chunk.length - lastLine;
      pass(chunk, bytes, controller);
    },
  });
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
