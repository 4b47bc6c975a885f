import { type AgentContext, methods, type SessionUpdate } from '@agentclientprotocol/sdk';
import { getErrorMessage } from '../base/errors.ts';
import { type Clean, withoutSecretsIn } from './shown/without-secrets.ts';

/** Updates to the editor, in their order and without secrets. */
export interface Line {
  readonly name: (sessionId: string) => void;
  /** The session's id once the editor knows it. */
  readonly knownId: () => string | null;
  /** Waits until the editor knows which session it is about. */
  readonly send: (update: SessionUpdate) => void;
  /** Past what waits. */
  readonly sendNow: (updates: readonly SessionUpdate[]) => Promise<void>;
  readonly release: () => void;
  /** Waits until all before it is on its way. */
  readonly settled: () => Promise<void>;
}

export interface LineRequest {
  readonly client: AgentContext;
  readonly clean: Clean;
  /** Told what goes wrong where no editor would show it. */
  readonly note: (text: string) => void;
}

export function createLine({ client, clean, note }: LineRequest): Line {
  const waiting: SessionUpdate[] = [];
  let sessionId = '';
  let isKnown = false;
  // Looking for secrets takes its time, and what is shown must keep its order.
  let told = Promise.resolve();
  const notify = (update: SessionUpdate): void => {
    // An editor that is gone is noticed by whoever reads what it sends.
    void client.notify(methods.client.session.update, { sessionId, update }).catch(() => undefined);
  };
  const tell = (update: SessionUpdate): void =>
    void (isKnown ? notify(update) : waiting.push(update));
  return {
    name: (id) => void (sessionId = id),
    knownId: () => (isKnown ? sessionId : null),
    async sendNow(updates) {
      for (const update of await withoutSecretsIn(updates, clean)) notify(update);
    },
    send(update) {
      told = told
        .then(async () => (await withoutSecretsIn([update], clean)).forEach(tell))
        .catch((error: unknown) => note(`not all of it can be shown: ${getErrorMessage(error)}`));
    },
    release() {
      isKnown = true;
      waiting.splice(0).forEach(notify);
    },
    settled: () => told,
  };
}
