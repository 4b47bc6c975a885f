import { randomUUID } from 'node:crypto';
import { isRecord } from '../../base/json.ts';

/** A prompt that waits until the run under way has ended. */
export interface PendingPrompt {
  readonly id: string;
  readonly prompt: string;
  /** How the client wants it to be run, in the client's own word; the session does not read it. */
  readonly mode?: string;
}

/** The prompts of one session that wait for their turn, in order. It exists before the session does. */
export class PromptQueue {
  readonly #onChange: (prompts: readonly PendingPrompt[]) => void;
  #prompts: readonly PendingPrompt[] = [];

  constructor(onChange: (prompts: readonly PendingPrompt[]) => void = () => undefined) {
    this.#onChange = onChange;
  }

  list(): readonly PendingPrompt[] {
    return this.#prompts;
  }

  add(pending: Omit<PendingPrompt, 'id'>): PendingPrompt {
    const added = { ...pending, id: randomUUID() };
    this.#replace([...this.#prompts, added]);
    return added;
  }

  /** Removes the first prompt and returns it. */
  take(): PendingPrompt | null {
    const [first, ...rest] = this.#prompts;
    if (first === undefined) return null;
    this.#replace(rest);
    return first;
  }

  /** Null when no prompt with this id is waiting. */
  update(id: string, prompt: string | undefined): PendingPrompt | null {
    const found = this.#find(id);
    if (found === null) return null;
    const updated = { ...found, prompt: prompt ?? found.prompt };
    this.#replace(this.#prompts.map((each) => (each.id === id ? updated : each)));
    return updated;
  }

  /** Null when no prompt with this id is waiting. */
  remove(id: string): PendingPrompt | null {
    const found = this.#find(id);
    if (found !== null) this.#replace(this.#prompts.filter((each) => each.id !== id));
    return found;
  }

  #find(id: string): PendingPrompt | null {
    return this.#prompts.find((each) => each.id === id) ?? null;
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
