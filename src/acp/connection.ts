import { type AgentContext, methods, type SessionUpdate } from '@agentclientprotocol/sdk';
import { getErrorMessage } from '../base/errors.ts';
import { type Redact, redactUpdates } from './updates/redact-updates.ts';

/** Sends updates to the editor, in order and redacted. */
export interface Connection {
  readonly setSessionId: (sessionId: string) => void;
  /** The session's id; null until the editor knows it. */
  readonly sessionId: () => string | null;
  /** Queued until the editor knows the session. */
  readonly send: (update: SessionUpdate) => void;
  /** Sent before what is queued. */
  readonly sendNow: (updates: readonly SessionUpdate[]) => Promise<void>;
  readonly release: () => void;
  /** Settles when everything before it was sent. */
  readonly settled: () => Promise<void>;
}

export interface ConnectionOptions {
  readonly client: AgentContext;
  readonly redact: Redact;
  /** Reports a problem that no editor would show. */
  readonly note: (text: string) => void;
}

export function createConnection({ client, redact, note }: ConnectionOptions): Connection {
  const waiting: SessionUpdate[] = [];
  let sessionId = '';
  let isKnown = false;
  // Redaction is asynchronous, and updates must keep their order.
  let sending = Promise.resolve();
  const notify = (update: SessionUpdate): void => {
    // A closed connection is noticed by the reader of requests.
    void client.notify(methods.client.session.update, { sessionId, update }).catch(() => undefined);
  };
  const sendOrQueue = (update: SessionUpdate): void =>
    void (isKnown ? notify(update) : waiting.push(update));
  return {
    setSessionId: (id) => void (sessionId = id),
    sessionId: () => (isKnown ? sessionId : null),
    async sendNow(updates) {
      for (const update of await redactUpdates(updates, redact)) notify(update);
    },
    send(update) {
      sending = sending
        .then(async () => (await redactUpdates([update], redact)).forEach(sendOrQueue))
        .catch((error: unknown) => note(`not all of it can be shown: ${getErrorMessage(error)}`));
    },
    release() {
      isKnown = true;
      waiting.splice(0).forEach(notify);
    },
    settled: () => sending,
  };
}
