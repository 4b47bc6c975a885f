import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EventStore, StoredEvent } from '../store/event-store.ts';
import { type Answer, refuse } from './check-request.ts';

/** Each reads the database for itself. */
const MOST_READERS = 64;
/** Other processes write to the store, too, and nobody announces it. */
const POLL_MS = 500;
/** So that proxies and clients see that the connection still works. */
const HEARTBEAT_MS = 15_000;
const PAGE_EVENTS = 100;

/** Formats an event for `GET /events`, with secrets redacted. */
export type FormatEvent = (event: StoredEvent) => Promise<string>;

/**
 * Serves the stored events as they come (server-sent events). A reader that was cut off sends the last id that it got as
 * Last-Event-ID and goes on behind it; a new one gets what is stored from now on. Every reader is read for page by page
 * as fast as it takes them, so a slow one holds no events in memory.
 */
export class EventStreams {
  readonly #store: EventStore;
  readonly #format: FormatEvent;
  readonly #readers = new Set<Reader>();
  #timer: NodeJS.Timeout | null = null;

  constructor(store: EventStore, format: FormatEvent) {
    this.#store = store;
    this.#format = format;
  }

  get count(): number {
    return this.#readers.size;
  }

  /** Answers with a stream that stays open; returns why not otherwise. */
  open(request: IncomingMessage, response: ServerResponse): Answer | null {
    if (this.#readers.size >= MOST_READERS) {
      return refuse(503, `expected at most ${MOST_READERS} readers at once`, {
        'retry-after': '5',
      });
    }
    const last = request.headers['last-event-id'];
    if (last !== undefined && !/^\d{1,15}$/.test(String(last))) {
      return refuse(400, 'expected the id of an event in Last-Event-ID, which is a number');
    }
    const after = last === undefined ? this.#findLastSequence() : Number(last);
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.flushHeaders();
    const reader = { response, after, isFull: false, isSending: false, idleMs: 0 };
    this.#readers.add(reader);
    response.on('close', () => this.#remove(reader));
    response.on('drain', () => {
      reader.isFull = false;
      this.#send(reader);
    });
    this.#timer ??= setInterval(() => this.#poll(), POLL_MS);
    this.#send(reader);
    return null;
  }

  /** Sends what was stored since. */
  notify(): void {
    for (const reader of this.#readers) this.#send(reader);
  }

  close(): void {
    for (const { response } of this.#readers) response.end();
    this.#readers.clear();
    this.#stopTimer();
  }

  #findLastSequence(): number {
    let sequence = 0;
    for (const event of this.#store.list({ limit: 1 })) ({ sequence } = event);
    return sequence;
  }

  #poll(): void {
    for (const reader of this.#readers) {
      reader.idleMs += POLL_MS;
      if (reader.idleMs >= HEARTBEAT_MS) write(reader, ': still here\n\n');
      this.#send(reader);
    }
  }

  #send(reader: Reader): void {
    if (reader.isFull || reader.isSending) return;
    reader.isSending = true;
    this.#sendPages(reader).then(
      () => (reader.isSending = false),
      // The database cannot be read: the reader connects again, with the last id that it got.
      () => reader.response.destroy(),
    );
  }

  async #sendPages(reader: Reader): Promise<void> {
    for (let count = PAGE_EVENTS; count === PAGE_EVENTS;) {
      const page = [...this.#store.list({ afterSequence: reader.after, limit: PAGE_EVENTS })];
      count = page.length;
      for (const event of page) {
        const data = await this.#format(event);
        const isTaken = write(reader, `id: ${event.sequence}\nevent: hook\ndata: ${data}\n\n`);
        reader.after = event.sequence;
        if (!isTaken) return;
      }
      // One reader of a long history must not hold up everything else.
      await new Promise(setImmediate);
    }
  }

  #remove(reader: Reader): void {
    this.#readers.delete(reader);
    if (this.#readers.size === 0) this.#stopTimer();
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

interface Reader {
  readonly response: ServerResponse;
  /** The number of the last event that was sent. */
  after: number;
  /** Whether it has not taken yet what was written. */
  isFull: boolean;
  isSending: boolean;
  idleMs: number;
}

/** Returns whether the reader takes more. */
function write(reader: Reader, text: string): boolean {
  if (reader.response.destroyed) return false;
  reader.idleMs = 0;
  reader.isFull = !reader.response.write(text);
  return !reader.isFull;
}
