import {
  PromptQueue,
  type PendingPrompt as QueuedPrompt,
} from '../../agent/session/prompt-queue.ts';
import type { AgentMode } from './start-input.ts';

/** A prompt that waits for the end of the current run. */
export interface PendingPrompt {
  id: string;
  prompt: string;
  delivery: 'queue' | 'steer';
  attachmentCount: number;
  /** Only for this prompt; the session's own when there is none. */
  mode?: AgentMode;
}

/** A prompt to be sent to the agent, and the mode to run it in. */
export type SentPrompt = Pick<PendingPrompt, 'prompt' | 'mode'>;

/** Opens the queue of a session; each change is reported as `@cline/core` does it. */
export function createPromptQueue(
  onChange: (prompts: PendingPrompt[]) => void,
  runNext: () => void,
): PromptQueue {
  return new PromptQueue((prompts) => onChange(prompts.map(toPendingPrompt)), runNext);
}

const MODES: readonly AgentMode[] = ['act', 'plan', 'yolo', 'zen'];

export function toPendingPrompt({ id, prompt, mode: queued }: QueuedPrompt): PendingPrompt {
  const mode = MODES.find((each) => each === queued);
  const delivery = { delivery: 'queue', attachmentCount: 0 } as const;
  return { ...(mode === undefined ? { prompt } : { prompt, mode }), id, ...delivery };
}

/** Creates the API of the queues; `find` returns the session with an id. */
export function createPendingPromptsApi(
  find: (sessionId: string) => {
    readonly pending: PromptQueue;
    steer(prompt: string): boolean;
    enqueue(sent: SentPrompt): void;
  },
) {
  const list = (sessionId: string): PendingPrompt[] =>
    find(sessionId).pending.list().map(toPendingPrompt);
  const answer = (sessionId: string, prompt: QueuedPrompt | null) => ({
    sessionId,
    prompts: list(sessionId),
    ...(prompt === null ? {} : { prompt: toPendingPrompt(prompt) }),
  });
  return {
    list: async ({ sessionId }: { sessionId: string }) => list(sessionId),
    update: async (request: { sessionId: string; promptId: string; prompt?: string }) => {
      const { sessionId, promptId, prompt } = request;
      const updated = find(sessionId).pending.update(promptId, prompt);
      return { ...answer(sessionId, updated), updated: updated !== null };
    },
    delete: async ({ sessionId, promptId }: { sessionId: string; promptId: string }) => {
      const removed = find(sessionId).pending.remove(promptId);
      return { ...answer(sessionId, removed), removed: removed !== null };
    },
    /** Sends the first queued prompt to the running agent. */
    steerFirst: async ({ sessionId }: { sessionId: string }) => {
      const session = find(sessionId);
      const first = session.pending.take();
      if (first !== null && !session.steer(first.prompt)) session.enqueue(toPendingPrompt(first));
      return { ...answer(sessionId, first), updated: first !== null };
    },
  };
}
