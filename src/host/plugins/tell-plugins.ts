import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import { messageOf } from '../../base/errors.ts';
import type { ActivePlugin } from '../../plugins/registry.ts';
import type { AgentRuntimeEvent, AgentRuntimeNews } from '../../plugins/contract/runtime-hooks.ts';
import type { AgentMirror } from './agent-mirror.ts';
import { runtimeNews } from './runtime-news.ts';
import type { Snapshots } from './snapshots.ts';

export interface TellingMeans {
  readonly plugins: readonly ActivePlugin[];
  readonly mirror: AgentMirror;
  readonly snapshots: Snapshots;
  readonly onNews?: (event: AgentRuntimeEvent) => void;
}

export interface Telling {
  hear(event: RuntimeEvent): void;
  /** What a tool says of how far it is, before it tells the agent so in text. */
  noteUpdate(callId: string, update: unknown): void;
}

/** Tells the onEvent of every plugin what happens, in order. */
export function createTelling({ plugins, mirror, snapshots, onNews }: TellingMeans): Telling {
  const updates = new Map<string, unknown>();
  return {
    noteUpdate: (callId, update) => void updates.set(callId, update),
    hear(event) {
      const agent = mirror.agent(event.agentId, event.parentAgentId);
      const { agentId, calls: toolCallCount, iteration } = agent;
      mirror.hear(event);
      const tell = (news: AgentRuntimeNews): void => {
        const told = { ...news, snapshot: snapshots.of(agentId) };
        onNews?.(told);
        for (const plugin of plugins) tellPlugin(plugin, told);
      };
      // Calls belong to their turn, so that it is over only when something else begins.
      const endsTurn = event.type === 'turn-start' || event.type === 'run-end';
      if (endsTurn && iteration > 0) tell({ type: 'turn-finished', iteration, toolCallCount });
      const updateOf = (callId: string): unknown => updates.get(callId);
      runtimeNews(event, { agent, snapshots, updateOf }).forEach(tell);
      if (event.type === 'tool-end') updates.delete(event.callId);
    },
  };
}

/** What one of them does wrong is its own; nobody waits for any of them. */
function tellPlugin({ plugin, health }: ActivePlugin, event: AgentRuntimeEvent): void {
  const hooks = plugin.hooks ?? {};
  if (typeof hooks.onEvent !== 'function' || health.isOff('onEvent')) return;
  const fail = (error: unknown): void => health.strike('onEvent', messageOf(error));
  try {
    const result: unknown = hooks.onEvent(event);
    if (result instanceof Promise) result.catch(fail);
  } catch (error) {
    fail(error);
  }
}
