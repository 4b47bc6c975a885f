import type { RuntimeEvent } from '../../../agent/runtime-event.ts';
import { getErrorMessage } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';
import { clampTimerDelay } from '../../../base/time-limit.ts';
import { endingOf, endingReader } from '../../../plugins/ending.ts';
import type { ActivePlugin } from '../../../plugins/registry.ts';
import { asItsOwn } from '../../../plugins/whose-work.ts';
import type {
  AgentRuntimeEvent,
  AgentRuntimeNews,
} from '../../../plugins/contract/runtime-hooks.ts';
import type { Message } from '../../../sessions/messages.ts';
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
  /** The turn that an agent is in, if any, is over; calls belong to their turn, so that nobody knows before. */
  endTurn(agentId: string): void;
  /** What a tool says of how far it is, before it tells the agent so in text. */
  noteUpdate(callId: string, update: unknown): void;
}

/** Tells the onEvent of every plugin what happens, in order. */
export function createTelling(means: TellingMeans): Telling {
  return new TellingInOrder(means);
}

type ToolStart = Extract<RuntimeEvent, { type: 'tool-start' }>;

class TellingInOrder implements Telling {
  readonly #means: TellingMeans;
  readonly #updates = new Map<string, unknown>();
  /** Agents whose run may still be refused by beforeRun. */
  readonly #unbegun = new Set<string>();
  readonly #inTurn = new Set<string>();
  /** Calls of which beforeTool may still make others, by their agents. */
  readonly #asked = new Map<string, ToolStart>();

  constructor(means: TellingMeans) {
    this.#means = means;
  }

  noteUpdate(callId: string, update: unknown): void {
    this.#updates.set(callId, update);
  }

  hear(event: RuntimeEvent): void {
    const { mirror, snapshots } = this.#means;
    const agent = mirror.agent(event.agentId, event.parentAgentId);
    const said = snapshots.told.see(event);
    const isUntold = event.type === 'tool-end' && !agent.pending.has(event.callId);
    this.#begin(event);
    this.#startAsked(event);
    if (event.type === 'turn-start' || event.type === 'run-end') this.endTurn(event.agentId);
    mirror.hear(event);
    if (event.type === 'turn-start') this.#inTurn.add(event.agentId);
    if (event.type === 'tool-start' && this.#means.plugins.some(asksFirst)) {
      this.#asked.set(event.agentId, event);
      return;
    }
    // A call that was left out because of one before it.
    if (isUntold) this.#tellOf({ ...event, type: 'tool-start' });
    this.#tellOf(event);
    if (event.type === 'turn-start' && event.iteration > 1) this.#tellSaid(event.agentId, said);
    if (event.type === 'tool-end') this.#updates.delete(event.callId);
  }

  /** A run has begun when beforeRun let it; one that it did not let begin only ends. */
  #begin({ type, agentId }: RuntimeEvent): void {
    const mayBegin = type !== 'run-start' && type !== 'hook';
    const begins = mayBegin && this.#unbegun.delete(agentId) && type !== 'run-end';
    if (begins) this.#tell(agentId, { type: 'run-started' });
    if (type === 'run-start') this.#unbegun.add(agentId);
  }

  /** A call starts when hooks have said what becomes of it: with the input that they gave it. */
  #startAsked(event: RuntimeEvent): void {
    const asked = this.#asked.get(event.agentId);
    const given = asked === undefined ? null : inputGivenBy(event, asked);
    if (asked === undefined || given === null) return;
    this.#asked.delete(event.agentId);
    const { mirror } = this.#means;
    const { callId, tool } = asked;
    mirror.agent(event.agentId).pending.set(callId, { tool, input: given.input });
    this.#tellOf({ ...asked, input: given.input });
  }

  endTurn(agentId: string): void {
    if (!this.#inTurn.delete(agentId)) return;
    const { iteration, calls: toolCallCount } = this.#means.mirror.agent(agentId);
    this.#tell(agentId, { type: 'turn-finished', iteration, toolCallCount });
  }

  /** What a person or a hook said between two turns; answers and results are told of as they come. */
  #tellSaid(agentId: string, messages: readonly Message[]): void {
    for (const message of messages) {
      const isWords =
        message.role === 'user' && message.content.every(({ type }) => type === 'text');
      const told = isWords ? this.#means.snapshots.told.one(message) : null;
      if (told !== null) this.#tell(agentId, { type: 'message-added', message: told });
    }
  }

  #tellOf(event: RuntimeEvent): void {
    const { mirror, snapshots } = this.#means;
    const agent = mirror.agent(event.agentId);
    const updateOf = (callId: string): unknown => this.#updates.get(callId);
    for (const news of runtimeNews(event, { agent, snapshots, updateOf })) {
      this.#tell(event.agentId, news);
    }
  }

  #tell(agentId: string, news: AgentRuntimeNews): void {
    tellAll(this.#means, { ...news, snapshot: this.#means.snapshots.of(agentId) });
  }
}

function asksFirst({ plugin, health }: ActivePlugin): boolean {
  const asks = typeof plugin.hooks?.beforeTool === 'function' && !health.isOff('beforeTool');
  return asks && endingOf(plugin) === null;
}

/** What the call is made with, once that is known; null before. */
function inputGivenBy(
  event: RuntimeEvent,
  { callId, input }: ToolStart,
): { readonly input: unknown } | null {
  switch (event.type) {
    case 'hook':
      if (event.verdict.event !== 'PreToolUse') return null;
      return { input: event.verdict.input ?? input };
    case 'tool-delta':
      return event.callId === callId ? { input } : null;
    case 'tool-end':
      return event.callId === callId ? { input: event.input } : null;
    case 'run-end':
      return { input };
    default:
      return null;
  }
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
    fail(getErrorMessage(error));
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
  const timer = setTimeout(tooLate, clampTimerDelay(timeoutMs)).unref();
  Promise.resolve(answer).then(
    () => end(null),
    (error: unknown) => end(getErrorMessage(error)),
  );
}
