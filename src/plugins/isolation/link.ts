import { HooklineError } from '../../base/errors.ts';
import { clampTimerDelay } from '../../base/abort.ts';
import {
  describeEnding,
  type ProcessEnding,
  type PluginProcess,
  type ProcessRequest,
} from './plugin-process.ts';
import { serializeValue, deserializeValue } from './wire/serialize.ts';
import type { AnswerForm, FromChild, Order, ToChild } from './wire/protocol.ts';

export interface AskOptions {
  /** A call that is not answered in this time fails. */
  readonly timeoutMs?: number;
  /** Its abort is forwarded to the process, which may still answer. */
  readonly signal?: AbortSignal | undefined;
  readonly onUpdate?: (update: unknown) => void;
}

export interface LinkRequest {
  /** The plugin's name for messages. */
  readonly name: () => string;
  readonly start: (on: Pick<ProcessRequest, 'onMessage' | 'onEnd'>) => PluginProcess;
  /** Gets every message that is not an answer. */
  readonly onMessage: (message: FromChild) => void;
  /** Called before a call is sent, so that queued events are sent first. */
  readonly beforeCall: () => void;
  /** Called when a message could not be sent. */
  readonly onUnsent: () => void;
  readonly onEnded: (sentence: string, isExpected: boolean) => void;
}

/** How long a process may take to answer a ping. */
const REACTION_MS = 4000;

interface Pending {
  readonly settle: (answer: AnswerForm) => void;
  /** Gets whatever the process threw, an error or not. */
  readonly fail: (thrown: unknown) => void;
  readonly onUpdate: ((update: unknown) => void) | undefined;
}

/** The connection to a plugin's process: calls with answers, and messages without. */
export class Link {
  readonly #request: LinkRequest;
  readonly #process: PluginProcess;
  readonly #pending = new Map<number, Pending>();
  /** Ids of calls that still have a waiting caller. */
  readonly #awaited = new Set<number>();
  readonly #whenEnded: Promise<void>;
  #resolveEnded: () => void = () => undefined;
  #lastId = 0;
  #ended: string | null = null;
  #isExpected = false;
  #reaction: { readonly id: number; readonly limit: NodeJS.Timeout } | null = null;

  constructor(request: LinkRequest) {
    this.#request = request;
    this.#whenEnded = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#process = request.start({
      onMessage: (message) => this.#receive(message),
      onEnd: (ending) => this.#handleEnd(ending),
    });
  }

  /** How the process ended, as one sentence; null while it runs. */
  getEnding(): string | null {
    return this.#ended;
  }

  hasWaitingCalls(): boolean {
    return this.#awaited.size > 0;
  }

  kill(reason: string): void {
    this.#process.kill(reason);
  }

  /** Asks the process to end, and resolves when it has exited. */
  async end(withinMs: number): Promise<void> {
    if (this.#ended !== null) return;
    this.#isExpected = true;
    this.#process.hold(true);
    this.#process.expectEnd(withinMs);
    await this.#whenEnded;
  }

  /** Sends a message that has no answer. */
  send(message: ToChild): void {
    try {
      if (this.#ended === null) this.#process.send(message);
    } catch {
      // Packed values can be cloned, so only a message that is too large fails here.
      this.#request.onUnsent();
    }
  }

  /** Rejects with what the process threw, on a timeout, and when the process has exited. */
  async ask(order: Order, { timeoutMs, signal, onUpdate }: AskOptions = {}): Promise<AnswerForm> {
    if (this.#ended !== null) throw createExitError(this.#ended);
    this.#request.beforeCall();
    this.#lastId += 1;
    const id = this.#lastId;
    this.#await(id);
    const abort = (): void => {
      this.send({ kind: 'abort', id, reason: serializeValue(signal?.reason) });
      // The caller no longer waits, but the process may still answer.
      this.#release(id);
      this.check();
    };
    let limit: NodeJS.Timeout | null = null;
    try {
      return await new Promise<AnswerForm>((settle, fail) => {
        this.#pending.set(id, { settle, fail, onUpdate });
        this.#sendCall({ kind: 'call', id, order });
        signal?.addEventListener('abort', abort, { once: true });
        if (signal?.aborted === true) abort();
        if (timeoutMs !== undefined) {
          limit = setTimeout(() => {
            fail(createTimeoutError(timeoutMs));
            this.#removeCall(id);
            this.send({ kind: 'abort', id, reason: serializeValue(undefined) });
            this.check();
          }, clampTimerDelay(timeoutMs));
        }
      });
    } finally {
      if (limit !== null) clearTimeout(limit);
      signal?.removeEventListener('abort', abort);
      this.#removeCall(id);
    }
  }

  #sendCall(call: ToChild): void {
    try {
      this.#process.send(call);
    } catch (error) {
      this.#request.onUnsent();
      throw error;
    }
  }

  /** Pings the process, and kills it when it does not answer. */
  check(): void {
    if (this.#ended !== null || this.#reaction !== null) return;
    this.#lastId += 1;
    const id = this.#lastId;
    const limit = setTimeout(() => {
      this.#reaction = null;
      this.kill(`did not react for ${REACTION_MS} ms, as in an endless loop, and was ended`);
    }, REACTION_MS);
    this.#reaction = { id, limit: limit.unref() };
    this.send({ kind: 'ping', id });
  }

  #await(id: number): void {
    this.#awaited.add(id);
    if (this.#awaited.size === 1) this.#process.hold(true);
  }

  #release(id: number): void {
    if (this.#awaited.delete(id) && this.#awaited.size === 0 && !this.#isExpected) {
      this.#process.hold(false);
    }
  }

  #removeCall(id: number): void {
    this.#pending.delete(id);
    this.#release(id);
  }

  #receive(message: FromChild): void {
    switch (message.kind) {
      case 'answer':
        this.#handleAnswer(message);
        return;
      case 'update':
        this.#handleUpdate(message.id, deserializeValue(message.update));
        return;
      case 'pong':
        if (message.id !== this.#reaction?.id) return;
        clearTimeout(this.#reaction.limit);
        this.#reaction = null;
        return;
      default:
        this.#request.onMessage(message);
    }
  }

  #handleUpdate(id: number, update: unknown): void {
    const pending = this.#pending.get(id);
    try {
      pending?.onUpdate?.(update);
    } catch (error) {
      // The update callback threw; the tool call fails with its error.
      pending?.fail(error);
    }
  }

  #handleAnswer(answer: AnswerForm & { readonly id: number }): void {
    const pending = this.#pending.get(answer.id);
    if (answer.ok) pending?.settle(answer);
    else pending?.fail(deserializeValue(answer.value));
  }

  #handleEnd(ending: ProcessEnding): void {
    const sentence = describeEnding(this.#request.name(), ending);
    this.#ended = sentence;
    if (this.#reaction !== null) clearTimeout(this.#reaction.limit);
    for (const { fail } of this.#pending.values()) fail(createExitError(sentence));
    this.#request.onEnded(sentence, this.#isExpected);
    this.#resolveEnded();
  }
}

function createExitError(message: string): HooklineError {
  const hint = 'It is started again with the next session.';
  return new HooklineError('PLUGIN_ENDED', { message, hint });
}

function createTimeoutError(timeoutMs: number): HooklineError {
  return new HooklineError('PLUGIN_ENDED', { message: `did not answer within ${timeoutMs} ms` });
}
