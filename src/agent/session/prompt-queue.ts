import { randomUUID } from 'node:crypto';
import { setImmediate as waitForEventLoop } from 'node:timers/promises';
import { isRecord } from '../../base/json.ts';

/** A prompt that waits until the run under way has ended. */
export interface PendingPrompt {
  readonly id: string;
  readonly prompt: string;
  /** How the client wants it to be run, in the client's own word; the session does not read it. */
  readonly mode?: string;
}

/**
 * Prompts that wait for their turn, in order: those of a session, and those that a client holds back. It
 * exists before the session does.
 */
export class PromptQueue {
  /** Starts the next run; null when the session does that itself. */
  readonly runByClient: (() => void) | null;
  readonly #onChange: (prompts: readonly PendingPrompt[]) => void;
  #prompts: readonly PendingPrompt[] = [];

  constructor(
    onChange: (prompts: readonly PendingPrompt[]) => void = () => undefined,
    runByClient: (() => void) | null = null,
  ) {
    this.#onChange = onChange;
    this.runByClient = runByClient;
  }

  list(): readonly PendingPrompt[] {
    return this.#prompts;
  }

  add(pending: Omit<PendingPrompt, 'id'>): PendingPrompt {
    const added = { ...pending, id: randomUUID() };
    this.#replace([...this.#prompts, added]);
    return added;
  }

  addFirst(pending: Omit<PendingPrompt, 'id'>): void {
    this.#replace([{ ...pending, id: randomUUID() }, ...this.#prompts]);
  }

  /** Removes the first prompt and returns it. */
  take(): PendingPrompt | null {
    const [first] = this.#prompts;
    return this.takeAll((each) => each === first)[0] ?? null;
  }

  /** Removes the prompts that are wanted and returns them. */
  takeAll(isWanted: (pending: PendingPrompt) => boolean): readonly PendingPrompt[] {
    const taken = this.#prompts.filter(isWanted);
    if (taken.length > 0) this.#replace(this.#prompts.filter((each) => !taken.includes(each)));
    return taken;
  }

  /**
   * Runs the waiting prompts one after the other, until none waits or `canRun` is false for the last
   * result; resolves to that result, or to null when none was run.
   */
  async drain<Result>(
    run: (pending: PendingPrompt) => Promise<Result>,
    canRun: (last: Result | null) => boolean,
  ): Promise<Result | null> {
    let last: Result | null = null;
    while (canRun(last)) {
      const next = this.take();
      if (next === null) break;
      last = await run(next);
      // A plugin may queue without end; an abort must be processed all the same.
      await waitForEventLoop();
    }
    return last;
  }

  /** Null when no prompt with this id is waiting. */
  update(id: string, prompt: string | undefined): PendingPrompt | null {
    const found = this.#prompts.find((each) => each.id === id);
    if (found === undefined) return null;
    const updated = { ...found, prompt: prompt ?? found.prompt };
    this.#replace(this.#prompts.map((each) => (each.id === id ? updated : each)));
    return updated;
  }

  /** Null when no prompt with this id is waiting. */
  remove(id: string): PendingPrompt | null {
    return this.takeAll((each) => each.id === id)[0] ?? null;
  }

  #replace(prompts: readonly PendingPrompt[]): void {
    this.#prompts = prompts;
    this.#onChange(prompts);
  }
}

/** A prompt that a plugin sends to its session, and how it is to be delivered. */
export interface PluginPrompt {
  readonly prompt: string;
  readonly delivery: 'steer' | 'queue';
}

const PROMPT_EVENTS = ['steer_message', 'queue_message', 'pending_prompt'];

/** Reads the prompt in an event that a plugin emits; null when the event carries none. */
export function readPluginPrompt(name: string, payload: unknown): PluginPrompt | null {
  const { prompt, delivery } = isRecord(payload) ? payload : {};
  if (!PROMPT_EVENTS.includes(name) || typeof prompt !== 'string' || prompt.trim() === '') {
    return null;
  }
  const isSteering = name === 'steer_message' || delivery === 'steer';
  return { prompt, delivery: isSteering ? 'steer' : 'queue' };
}
