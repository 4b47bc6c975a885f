import { type AgentContext, methods, type SessionUpdate } from '@agentclientprotocol/sdk';
import { getErrorMessage } from '../base/errors.ts';
import { readTranscript } from '../sessions/transcript/read-transcript.ts';
import { type Redact, redactUpdates } from './updates/redact-updates.ts';
import { replay } from './updates/replay.ts';

/** How many updates are redacted at once. */
const PORTION = 100;

/** Sends the updates of one session to the editor, in order and redacted. */
export class Connection {
  readonly #client: AgentContext;
  readonly #redact: Redact;
  readonly #note: (text: string) => void;
  /** Updates that wait until the editor knows the session. */
  readonly #waiting: SessionUpdate[] = [];
  /** Null until the editor knows the session. */
  #sessionId: string | null = null;
  // Redaction is asynchronous, and updates must keep their order.
  #sending = Promise.resolve();

  /** `note` reports a problem that no editor would show. */
  constructor(client: AgentContext, redact: Redact, note: (text: string) => void) {
    this.#client = client;
    this.#redact = redact;
    this.#note = note;
  }

  /** The session's id; null until the editor knows it. */
  sessionId(): string | null {
    return this.#sessionId;
  }

  /** Queues the update until the editor knows the session. */
  send(update: SessionUpdate): void {
    this.#sending = this.#sending
      .then(async () => {
        for (const each of await redactUpdates([update], this.#redact)) {
          if (this.#sessionId === null) this.#waiting.push(each);
          else this.#notify(this.#sessionId, each);
        }
      })
      .catch((error: unknown) =>
        this.#note(`not all of it can be shown: ${getErrorMessage(error)}`),
      );
  }

  /** Sends the stored transcript of a session, before what is queued. */
  async sendTranscript(sessionId: string, transcript: string, cwd: string): Promise<void> {
    try {
      const updates = [...replay(readTranscript(transcript, this.#note), cwd)];
      while (updates.length > 0) {
        const portion = await redactUpdates(updates.splice(0, PORTION), this.#redact);
        for (const update of portion) this.#notify(sessionId, update);
      }
    } catch (error) {
      this.#note(`the transcript ${transcript} cannot be read: ${getErrorMessage(error)}`);
    }
  }

  /** Sends what is queued, and all further updates at once: the editor knows the session now. */
  release(sessionId: string): void {
    this.#sessionId = sessionId;
    for (const update of this.#waiting.splice(0)) this.#notify(sessionId, update);
  }

  /** Settles when everything before it was sent. */
  settled(): Promise<void> {
    return this.#sending;
  }

  #notify(sessionId: string, update: SessionUpdate): void {
    const message = { sessionId, update };
    // A closed connection is noticed by the reader of requests.
    void this.#client.notify(methods.client.session.update, message).catch(() => undefined);
  }
}
