import { dropUndefined } from '../base/defined.ts';
import { isRefusal, type Verdict } from '../hooks/decision.ts';
import type { Agent } from './agent.ts';
import { formatHookMessage, joinReasons } from './conversation/hook-messages.ts';
import type { TaskItem, TaskItems, TaskRefusal } from './tools/tool-context.ts';

/** One list for all agents of a session; the only place where TaskCreated and TaskCompleted are fired. */
export function createTaskItems(): (agent: () => Agent) => TaskItems {
  const items = new Map<string, TaskItem>();
  let count = 0;
  return (agent) => ({
    find: (id) => items.get(id) ?? null,
    async create({ subject, description }, signal) {
      count += 1;
      const item: TaskItem = { id: String(count), subject, description, status: 'pending' };
      const facts = { itemId: item.id, subject, description };
      const verdict = await agent().fire({ name: 'TaskCreated', ...facts }, signal);
      if (isRefusal(verdict.effect)) return createRefusal('TaskCreated', verdict);
      items.set(item.id, item);
      return item;
    },
    async update(id, { status, ...texts }, signal) {
      const item = items.get(id);
      if (item === undefined) return { reason: `item ${JSON.stringify(id)} not found` };
      if (status === 'deleted') {
        items.delete(id);
        return item;
      }
      if (status === 'completed' && item.status !== 'completed') {
        const { subject, description } = item;
        const facts = { itemId: id, subject, description };
        const verdict = await agent().fire({ name: 'TaskCompleted', ...facts }, signal);
        if (isRefusal(verdict.effect)) return createRefusal('TaskCompleted', verdict);
      }
      const changed = { ...item, ...texts, ...dropUndefined({ status }) };
      items.set(id, changed);
      return changed;
    },
  });
}

function createRefusal(event: string, verdict: Verdict): TaskRefusal {
  const reason = formatHookMessage({ kind: 'feedback', event, reason: joinReasons(verdict) });
  return { reason, refusedByHook: true };
}
