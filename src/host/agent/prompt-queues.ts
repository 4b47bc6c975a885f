import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RunResult } from '../../agent/runtime-event.ts';
import type { Session } from '../../agent/session/session.ts';
import { isRecord } from '../../base/json.ts';
import { promptUntil } from './prompt-until.ts';

/** What plugins want to be said to their sessions, and when. */
export interface PromptQueues {
  /** Takes `steer_message`, `queue_message` and `pending_prompt`; others are nobody's. */
  take(sessionId: string, name: string, payload: unknown): void;
  /** Runs what came to wait meanwhile, until nothing does; how the last of all ended. */
  drain(sessionId: string, result: RunResult, signal?: AbortSignal): Promise<RunResult>;
}

const NAMES = ['steer_message', 'queue_message', 'pending_prompt'];

export function createPromptQueues(sessions: ReadonlyMap<string, Session>): PromptQueues {
  const waiting = new Map<string, string[]>();
  const enqueue = (id: string, prompt: string): void => {
    waiting.set(id, [...(waiting.get(id) ?? []), prompt]);
    // Nobody waits for a session that is idle: it works by itself.
    const session = sessions.get(id);
    if (session !== undefined && !session.isRunning) void goOn(id).catch(() => undefined);
  };
  async function goOn(id: string, signal?: AbortSignal): Promise<RunResult | null> {
    const session = sessions.get(id);
    const prompt = session?.isRunning === false ? waiting.get(id)?.shift() : undefined;
    if (session === undefined || prompt === undefined) return null;
    return promptUntil(session, prompt, signal);
  }
  return {
    take(sessionId, name, payload) {
      const { prompt, delivery } = isRecord(payload) ? payload : {};
      if (!NAMES.includes(name) || typeof prompt !== 'string' || prompt.trim() === '') return;
      const isSteering = name === 'steer_message' || delivery === 'steer';
      if (isSteering && sessions.get(sessionId)?.steer(prompt) === true) return;
      enqueue(sessionId, prompt);
    },
    async drain(sessionId, result, signal) {
      let last = result;
      while (last.status === 'completed' && signal?.aborted !== true) {
        const next = await goOn(sessionId, signal);
        if (next === null) break;
        last = next;
        // A plugin may queue without end; whoever wants to end that must be heard.
        await nextTurn();
      }
      return last;
    },
  };
}
