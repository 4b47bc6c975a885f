import type { IncomingMessage } from 'node:http';
import { ulid } from 'ulid';
import { systemClock } from '../base/clock.ts';
import { getErrorMessage } from '../base/errors.ts';
import { getTypeName, isRecord, parseJson } from '../base/json.ts';
import type { EventStore } from '../store/event-store.ts';
import { type Answer, checkContentType, refuse } from './check-request.ts';
import { createEvent } from './create-event.ts';
import { hasByteOrderMark, scanArray } from './json-elements.ts';
import { EVENT_ID_HEADER, formatElementId, isEventId } from './protocol.ts';

const MIB = 1024 * 1024;
const MOST_BODY_BYTES = 32 * MIB;
/** Of all bodies that are being received or stored at once. */
const MOST_PENDING_BYTES = 128 * MIB;
const MOST_PENDING_BODIES = 10_000;

const TOO_LARGE = refuse(413, `expected at most ${MOST_BODY_BYTES} bytes`);
const TOO_BUSY = refuse(503, 'too many events are waiting to be stored', { 'retry-after': '1' });
const CUT_OFF = refuse(400, 'the connection ended before the body did');

/** One posted body, and who posted it. */
export interface Post {
  readonly agent: string;
  /** Whether the client sent its secret. */
  readonly isVerified: boolean;
}

export interface IngestAnswer extends Answer {
  /** How many events were stored; absent when none could be. */
  readonly eventCount?: number;
}

/** Takes posted events into the store. */
export class Ingest {
  readonly #store: EventStore;
  readonly #onProblem: (text: string) => void;
  #pendingBytes = 0;
  #pendingBodies = 0;

  constructor(store: EventStore, onProblem: (text: string) => void) {
    this.#store = store;
    this.#onProblem = onProblem;
  }

  /** Answers when the events are on disk, or why they are not. */
  async take(request: IncomingMessage, post: Post): Promise<IngestAnswer> {
    const refusal = checkContentType(request) ?? checkEventId(request) ?? this.#checkLoad(request);
    if (refusal !== null) return refusal;
    const pending = { bytes: 0 };
    this.#pendingBodies++;
    try {
      const body = await this.#readBody(request, pending);
      if (!Buffer.isBuffer(body)) return body;
      return await this.#storeBody(body, post, findEventId(request));
    } finally {
      this.#pendingBodies--;
      this.#pendingBytes -= pending.bytes;
    }
  }

  #checkLoad({ headers }: IncomingMessage): Answer | null {
    const length = Number(headers['content-length'] ?? 0);
    if (length > MOST_BODY_BYTES) return TOO_LARGE;
    const isBusy =
      this.#pendingBodies >= MOST_PENDING_BODIES ||
      this.#pendingBytes + length > MOST_PENDING_BYTES;
    return isBusy ? TOO_BUSY : null;
  }

  #readBody(request: IncomingMessage, pending: { bytes: number }): Promise<Buffer | Answer> {
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => {
        pending.bytes += chunk.length;
        this.#pendingBytes += chunk.length;
        if (pending.bytes > MOST_BODY_BYTES) resolve(TOO_LARGE);
        else if (this.#pendingBytes > MOST_PENDING_BYTES) resolve(TOO_BUSY);
        else chunks.push(chunk);
      });
      request.on('end', () => {
        const [only] = chunks;
        resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
      });
      request.on('close', () => resolve(CUT_OFF));
    });
  }

  async #storeBody(body: Buffer, { agent, isVerified }: Post, id: string): Promise<IngestAnswer> {
    const bytes = hasByteOrderMark(body) ? body.subarray(3) : body;
    const parsed = parseJson(bytes.toString('utf8'));
    if (!parsed.ok) return fail(agent, `expected JSON: ${parsed.error}`);
    const elements = Array.isArray(parsed.value)
      ? listElements(bytes, parsed.value, id)
      : [{ index: 0, id, payload: body, value: parsed.value }];
    const good = elements.filter(({ value }) => isRecord(value));
    const failed = elements.flatMap(({ index, value }) =>
      isRecord(value) ? [] : [{ index, error: `expected an object, found ${getTypeName(value)}` }],
    );
    if (good.length === 0 && failed.length > 0) {
      const error = `expected an object or an array of objects, found ${getTypeName(parsed.value)}`;
      return fail(agent, error);
    }
    const receivedAt = systemClock.now();
    const events = good.map(({ id: elementId, payload, value }) =>
      createEvent({
        agent,
        id: elementId,
        receivedAt,
        isVerified,
        origin: 'bridge',
        payload,
        value,
      }),
    );
    try {
      const results = await this.#store.append(events);
      return succeed(agent, results.length, failed);
    } catch (error) {
      this.#onProblem(getErrorMessage(error));
      return refuse(503, 'the event could not be stored', { 'retry-after': '1' });
    }
  }
}

interface Element {
  readonly index: number;
  readonly id: string;
  readonly payload: Uint8Array;
  readonly value: unknown;
}

/** Each element with its own bytes. */
function listElements(bytes: Buffer, values: readonly unknown[], id: string): readonly Element[] {
  return (scanArray(bytes)?.elements ?? []).map(({ start, end }, index) => ({
    index,
    id: formatElementId(id, index),
    payload: bytes.subarray(start, end),
    value: values[index],
  }));
}

const EVENT_ID_KEY = EVENT_ID_HEADER.toLowerCase();

function checkEventId({ headers }: IncomingMessage): Answer | null {
  const id = headers[EVENT_ID_KEY];
  if (id === undefined || (typeof id === 'string' && isEventId(id))) return null;
  return refuse(400, `expected up to 128 letters, digits and ._:- in ${EVENT_ID_HEADER}`);
}

function findEventId({ headers }: IncomingMessage): string {
  const id = headers[EVENT_ID_KEY];
  return typeof id === 'string' ? id : ulid();
}

function fail(provider: string, error: string): Answer {
  return { status: 400, body: { success: false, provider, error } };
}

interface FailedElement {
  readonly index: number;
  readonly error: string;
}

function succeed(provider: string, count: number, failed: readonly FailedElement[]): IngestAnswer {
  const message = count === 1 ? 'Event processed successfully' : `${count} events processed`;
  const body = { success: true, provider, message };
  return { status: 200, body: failed.length === 0 ? body : { ...body, failed }, eventCount: count };
}
