import { connect } from 'node:net';
import { getErrorCode, getErrorMessage } from '../../base/errors.ts';

export interface HttpRequest {
  readonly host: '127.0.0.1' | '::1';
  readonly port: number;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface HttpAnswer {
  readonly status: number;
  /** By lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Why a request has no answer. */
export interface HttpFailure {
  readonly message: string;
  readonly code: string | null;
}

const MOST_ANSWER_BYTES = 256 * 1024;
/** Copied into one write with the head, because a second one costs more than the copy. */
const ONE_WRITE_BYTES = 64 * 1024;

const INVALID_ANSWER: HttpFailure = { message: 'the answer is not HTTP', code: 'EPROTO' };

/**
 * Sends one request and reads the answer, on a bare socket: loading Node's HTTP client takes longer than the exchange.
 */
export function exchange(request: HttpRequest, waitMs: number): Promise<HttpAnswer | HttpFailure> {
  const { host, port, body } = request;
  return new Promise((resolve) => {
    const socket = connect({ host, port, noDelay: true });
    let received: Buffer = Buffer.alloc(0);
    const settle = (outcome: HttpAnswer | HttpFailure) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(outcome);
    };
    const timer = setTimeout(
      () =>
        settle({
          message: `${host}:${port} did not answer within ${waitMs} ms`,
          code: 'ETIMEDOUT',
        }),
      waitMs,
    );
    // A server that refuses a body may answer and close the connection before all of it is sent.
    socket.on('error', (error) =>
      settle(
        parseAnswer(received) ?? { message: getErrorMessage(error), code: getErrorCode(error) },
      ),
    );
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const answer = parseAnswer(received);
      if (answer?.isComplete === true) settle(answer);
      else if (received.length > MOST_ANSWER_BYTES) settle(answer ?? INVALID_ANSWER);
    });
    socket.on('end', () => settle(parseAnswer(received) ?? INVALID_ANSWER));
    const head = Buffer.from(formatHead(request), 'latin1');
    if (body === undefined) socket.write(head);
    else if (body.length < ONE_WRITE_BYTES) socket.write(Buffer.concat([head, body]));
    else {
      socket.write(head);
      socket.write(body);
    }
  });
}

function formatHead({ host, port, method, path, headers = {}, body }: HttpRequest): string {
  // HTTP/1.0 for what is read, because its answers never come in chunks.
  const version = method === 'GET' ? '1.0' : '1.1';
  const lines = [
    `${method} ${path} HTTP/${version}`,
    `Host: ${host === '::1' ? '[::1]' : host}:${port}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [`Content-Length: ${body.length}`]),
    'Connection: close',
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: |$)/;

/** Null while the head is not there, or is no HTTP. */
function parseAnswer(received: Buffer): (HttpAnswer & { readonly isComplete: boolean }) | null {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const [statusLine = '', ...lines] = received.toString('latin1', 0, headEnd).split('\r\n');
  const [, status] = STATUS_LINE.exec(statusLine) ?? [];
  if (status === undefined) return null;
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = received.subarray(headEnd + 4);
  const length = headers.get('content-length');
  const isComplete = length !== undefined && body.length >= Number(length);
  return { status: Number(status), headers, body: body.toString('utf8'), isComplete };
}
