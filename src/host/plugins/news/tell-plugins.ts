import type { RuntimeEvent } from '../../../agent/runtime-event.ts';
import { messageOf } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';
import { timerDelay } from '../../../base/time-limit.ts';
import { endingReader } from '../../../plugins/ending.ts';
import type { ActivePlugin } from '../../../plugins/registry.ts';
import { asItsOwn } from '../../../plugins/whose-work.ts';
import type {
  AgentRuntimeEvent,
  AgentRuntimeNews,
} from '../../../plugins/contract/runtime-hooks.ts';
import type { AgentMirror } from './agent-mirror.ts';
import { runtimeNews } from './runtime-news.ts';
import type { Snapshots } from './snapshots.ts';

export interface TellingMeans {
  readonly plugins: readonly ActivePlugin[];
  readonly mirror: AgentMirror;
  readonly snapshots: Snapshots;
  /** How long a listener may take; nobody waits for it, but it is told of. */
  readonly timeoutMs: number;
  readonly onNews?: (event: AgentRuntimeEvent) => void;
}

export interface Telling {
  hear(event: RuntimeEvent): void;
  /** What a tool says of how far it is, before it tells the agent so in text. */
  noteUpdate(callId: string, update: unknown): void;
}

/** Tells the onEvent of every plugin what happens, in order. */
export function createTelling(means: TellingMeans): Telling {
  const { mirror, snapshots } = means;
  const updates = new Map<string, unknown>();
  const unbegun = new Set<string>();
  return {
    noteUpdate: (callId, update) => void updates.set(callId, update),
    hear(event) {
      const agent = mirror.agent(event.agentId, event.parentAgentId);
      const { agentId, calls: toolCallCount, iteration } = agent;
      const isUntold = event.type === 'tool-end' && !agent.pending.has(event.callId);
      const tell = (news: AgentRuntimeNews): void =>
        tellAll(means, { ...news, snapshot: snapshots.of(agentId) });
      // A run has begun when beforeRun let it; one that it did not let begin only ends.
      const mayBegin = event.type !== 'run-start' && event.type !== 'hook';
      if (mayBegin && unbegun.delete(agentId) && event.type !== 'run-end') {
        tell({ type: 'run-started' });
      }
      if (event.type === 'run-start') unbegun.add(agentId);
      mirror.hear(event);
      // Calls belong to their turn, so that it is over only when something else begins.
      const endsTurn = event.type === 'turn-start' || event.type === 'run-end';
      if (endsTurn && iteration > 0) tell({ type: 'turn-finished', iteration, toolCallCount });
      const updateOf = (callId: string): unknown => updates.get(callId);
      const news = { agent, snapshots, updateOf };
      // A call that was left out because of one before it.
      if (isUntold) runtimeNews({ ...event, type: 'tool-start' }, news).forEach(tell);
      runtimeNews(event, news).forEach(tell);
      if (event.type === 'tool-end') updates.delete(event.callId);
    },
  };
}

function tellAll({ plugins, timeoutMs, onNews }: TellingMeans, told: AgentRuntimeEvent): void {
  onNews?.(told);
  for (const plugin of plugins) tellPlugin(plugin, told, timeoutMs);
}

/** What one of them does wrong is its own; nobody waits for any of them. */
function tellPlugin(
  { plugin, health }: ActivePlugin,
  event: AgentRuntimeEvent,
  timeoutMs: number,
): void {
  const hooks = plugin.hooks ?? {};
  if (typeof hooks.onEvent !== 'function' || health.isOff('onEvent')) return;
  const readEnding = endingReader(plugin);
  const hasEnded = (): boolean => readEnding !== null && readEnding() !== null;
  if (hasEnded()) return;
  // That its process has ended is told by whoever started it.
  const fail = (message: string): void => {
    if (!hasEnded()) health.strike('onEvent', message);
  };
  try {
    const result: unknown = asItsOwn(plugin, () => hooks.onEvent?.(event));
    if (!isPromiseLike(result)) return;
    // One that lives elsewhere says only when it has failed; how long it takes is looked after there.
    follow(result, readEnding === null ? timeoutMs : Number.POSITIVE_INFINITY, fail);
  } catch (error) {
    fail(messageOf(error));
  }
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return isRecord(value) && 'then' in value;
}

/** Tells once when it failed, or took too long. */
function follow(
  answer: PromiseLike<unknown>,
  timeoutMs: number,
  fail: (message: string) => void,
): void {
  let isOver = false;
  const end = (message: string | null): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    if (message !== null) fail(message);
  };
  const tooLate = (): void => end(`did not answer within ${timeoutMs} ms`);
  const timer = setTimeout(tooLate, timerDelay(timeoutMs)).unref();
  Promise.resolve(answer).then(
    () => end(null),
    (error: unknown) => end(messageOf(error)),
  );
}
