import { randomUUID } from 'node:crypto';
import type { AgentMode } from './start-input.ts';

/** A prompt that waits for the run under way. */
export interface PendingPrompt {
  id: string;
  prompt: string;
  delivery: 'queue' | 'steer';
  attachmentCount: number;
  /** Only for this prompt; the session's own when there is none. */
  mode?: AgentMode;
}

/** Something to be said to the agent. */
export type SaidPrompt = Pick<PendingPrompt, 'prompt' | 'mode'>;

/** The prompts of one session that wait for their turn. */
export interface PendingPrompts {
  list(): PendingPrompt[];
  add(said: SaidPrompt): PendingPrompt;
  /** The first one, which is then no longer waiting. */
  take(): PendingPrompt | null;
  update(
    id: string,
    change: Partial<Pick<PendingPrompt, 'prompt' | 'delivery'>>,
  ): PendingPrompt | null;
  remove(id: string): PendingPrompt | null;
}

export function createPendingPrompts(onChange: (prompts: PendingPrompt[]) => void): PendingPrompts {
  let prompts: readonly PendingPrompt[] = [];
  const list = (): PendingPrompt[] => prompts.map((each) => ({ ...each }));
  const replace = (next: readonly PendingPrompt[]): void => {
    prompts = next;
    onChange(list());
  };
  const find = (id: string): PendingPrompt | null => prompts.find((each) => each.id === id) ?? null;
  return {
    list,
    add(said) {
      const added = { ...said, id: randomUUID(), delivery: 'queue', attachmentCount: 0 } as const;
      replace([...prompts, added]);
      return added;
    },
    take() {
      const [first, ...rest] = prompts;
      if (first === undefined) return null;
      replace(rest);
      return first;
    },
    update(id, change) {
      const found = find(id);
      if (found === null) return null;
      const updated = { ...found, ...change };
      replace(prompts.map((each) => (each.id === id ? updated : each)));
      return updated;
    },
    remove(id) {
      const found = find(id);
      if (found !== null) replace(prompts.filter((each) => each.id !== id));
      return found;
    },
  };
}

interface Waiting {
  readonly pending: PendingPrompts;
  steer(prompt: string): boolean;
  enqueue(said: SaidPrompt): void;
}

/** The same for the sessions of a host, by their ids. */
export function pendingPromptsApi(find: (sessionId: string) => Waiting) {
  const answer = (sessionId: string, prompt: PendingPrompt | null) => ({
    sessionId,
    prompts: find(sessionId).pending.list(),
    ...(prompt === null ? {} : { prompt }),
  });
  return {
    list: async ({ sessionId }: { sessionId: string }) => find(sessionId).pending.list(),
    update: async (wanted: { sessionId: string; promptId: string; prompt?: string }) => {
      const { sessionId, promptId, prompt } = wanted;
      const change = prompt === undefined ? {} : { prompt };
      const updated = find(sessionId).pending.update(promptId, change);
      return { ...answer(sessionId, updated), updated: updated !== null };
    },
    delete: async ({ sessionId, promptId }: { sessionId: string; promptId: string }) => {
      const removed = find(sessionId).pending.remove(promptId);
      return { ...answer(sessionId, removed), removed: removed !== null };
    },
    /** The first one is said to the agent at work instead of being run afterwards. */
    steerFirst: async ({ sessionId }: { sessionId: string }) => {
      const session = find(sessionId);
      const first = session.pending.take();
      if (first !== null && !session.steer(first.prompt)) session.enqueue(first);
      return { ...answer(sessionId, first), updated: first !== null };
    },
  };
}
