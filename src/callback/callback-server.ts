import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { getErrorMessage } from '../base/errors.ts';
import { readBoundedBody } from '../base/http-body.ts';
import { isRecord, parseJson } from '../base/json.ts';
import {
  formatCallbackAddress,
  HOOK_CALLS,
  type HookCallName,
  isReadingCall,
} from './callback-address.ts';

/** One call of a hook that was answered. */
export interface HookCall {
  readonly hook: string;
  readonly call: HookCallName;
  /** The prompt, message or reason; null for a call that reads. */
  readonly text: string | null;
}

/** Carries a call out. It answers at once, because the run may be waiting for the hook that calls. */
export type AnswerHookCall = (call: HookCall) => Readonly<Record<string, unknown>>;

const WINDOWS_PIPES = '\\\\.\\pipe\\';
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const IDLE_MS = 30_000;
const CLOSING_MS = 500;

/**
 * Listens on a Unix socket for the hooks of one session, in HTTP, because every language has a client
 * for it. Without a token of this session nothing is answered but 401.
 */
export class CallbackServer {
  readonly #socketPath: string;
  readonly #answer: AnswerHookCall;
  readonly #secret = randomBytes(32);
  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  #accepted = 0;
  #http: Promise<HttpServer> | null = null;

  /** Throws when the socket cannot be made. */
  constructor(socketPath: string, answer: AnswerHookCall) {
    this.#socketPath = socketPath;
    this.#answer = answer;
    this.#server = createServer((connection) => this.#serve(connection));
    // One that a killed process left behind.
    rmSync(socketPath, { force: true });
    // Reported later than it happens; without a socket, the next line but two throws.
    this.#server.on('error', () => this.#server.close());
    // Node.js binds within this call, so that a hook that starts next can connect.
    this.#server.listen(socketPath);
    this.#server.unref();
    if (!socketPath.startsWith(WINDOWS_PIPES)) chmodSync(socketPath, 0o600);
  }

  /** What a hook needs to call, as the value of its variable. */
  formatAddress(hook: string): string {
    return formatCallbackAddress({ socket: this.#socketPath, token: this.#createToken(hook) });
  }

  /** Answers what has been asked, then ends every connection and removes the socket. */
  async close(): Promise<void> {
    await this.#acceptWaiting();
    rmSync(this.#socketPath, { force: true });
    // Each connection ends with its answer; one that asks nothing is not waited for long.
    const isClosed = new Promise((resolve) => this.#server.close(resolve));
    await Promise.race([isClosed, wait(CLOSING_MS)]);
    for (const connection of this.#connections) connection.destroy();
  }

  /** Turns the event loop until no connection waits to be accepted any more. */
  async #acceptWaiting(): Promise<void> {
    let before: number;
    do {
      before = this.#accepted;
      // The first one comes before the next poll for connections, the second after it.
      await new Promise(setImmediate);
      await new Promise(setImmediate);
    } while (this.#accepted > before);
  }

  #createToken(hook: string): string {
    const name = Buffer.from(hook).toString('base64url');
    return `${name}.${this.#sign(name).toString('base64url')}`;
  }

  #sign(name: string): Buffer {
    return createHmac('sha256', this.#secret).update(name).digest();
  }

  #serve(connection: Socket): void {
    this.#accepted += 1;
    this.#connections.add(connection);
    connection.on('close', () => this.#connections.delete(connection));
    connection.on('error', () => connection.destroy());
    connection.setTimeout(IDLE_MS, () => connection.destroy());
    this.#http ??= this.#createHttpServer();
    this.#http.then(
      (server) => server.emit('connection', connection),
      () => connection.destroy(),
    );
  }

  /** Loaded with the first call, because most hooks never make one. */
  async #createHttpServer(): Promise<HttpServer> {
    const http = await import('node:http');
    return http.createServer((request, response) => void this.#respond(request, response));
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body } = await this.#findAnswer(request).catch((error: unknown) =>
      refuse(500, getErrorMessage(error)),
    );
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
    response.end(`${JSON.stringify(body)}\n`);
  }

  async #findAnswer(request: IncomingMessage): Promise<CallAnswer> {
    const hook = this.#findCaller(request.headers.authorization ?? '');
    if (hook === null) {
      return refuse(401, 'Expected "Authorization: Bearer TOKEN" with a token of this session.');
    }
    const call = HOOK_CALLS.find((name) => request.url === `/${name}`);
    if (call === undefined) return refuse(404, `Expected one of /${HOOK_CALLS.join(', /')}.`);
    const method = isReadingCall(call) ? 'GET' : 'POST';
    if (request.method !== method) return refuse(405, `Expected ${method} /${call}.`);
    const text = isReadingCall(call) ? null : await readText(request);
    if (typeof text === 'object' && text !== null) return text;
    if (text === '' && call !== 'abort') return refuse(400, `Expected a text for /${call}.`);
    return { status: 200, body: this.#answer({ hook, call, text }) };
  }

  /** The hook that a token was made for; null when this session made none such. */
  #findCaller(authorization: string): string | null {
    const [, name = '', signature = ''] = /^Bearer ([\w-]+)\.([\w-]+)$/iu.exec(authorization) ?? [];
    const expected = this.#sign(name);
    const found = Buffer.from(signature, 'base64url');
    const isGenuine = found.length === expected.length && timingSafeEqual(found, expected);
    return isGenuine ? Buffer.from(name, 'base64url').toString('utf8') : null;
  }
}

interface CallAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

function refuse(status: number, message: string): CallAnswer {
  return { status, body: { error: message } };
}

/** Reads `{"text": …}` from a body of JSON; any other body is the text itself. */
async function readText(request: IncomingMessage): Promise<string | CallAnswer> {
  const body = await readBoundedBody(request, MAX_BODY_BYTES);
  if (body === null) return refuse(413, `Expected at most ${MAX_BODY_BYTES} bytes.`);
  const text = body.toString('utf8');
  if (!/^application\/json\b/iu.test(request.headers['content-type'] ?? '')) return text;
  const parsed = parseJson(text);
  const value = parsed.ok && isRecord(parsed.value) ? (parsed.value['text'] ?? '') : null;
  return typeof value === 'string' ? value : refuse(400, 'Expected {"text": "…"}.');
}
