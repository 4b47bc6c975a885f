import type * as acp from '@agentclientprotocol/sdk';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import { isRecord } from '../../base/json.ts';

type ToolEnd = Extract<RuntimeEvent, { type: 'tool-end' }>;

/** The agent's to-do list, which editors show beside the conversation. */
export interface Plan {
  /** The list after the call; null when the call did not change it. */
  applyToolEnd(end: ToolEnd): acp.SessionUpdate | null;
}

export function isPlanTool(tool: string): boolean {
  return tool === 'TodoWrite' || tool === 'TaskCreate' || tool === 'TaskUpdate';
}

export function createPlan(): Plan {
  const items = new Map<string, Item>();
  return {
    applyToolEnd({ tool, input, output: { response, success } }) {
      if (!success || !isPlanTool(tool) || !isRecord(response)) return null;
      if (tool === 'TodoWrite') return toPlanUpdate(readTodos(response));
      if (tool === 'TaskCreate') addItem(items, response['task']);
      else updateItem(items, input, response);
      return toPlanUpdate([...items.values()]);
    },
  };
}

interface Item {
  readonly content: string;
  readonly status: acp.PlanEntryStatus;
}

function toPlanUpdate(items: readonly Item[]): acp.SessionUpdate {
  const entries = items.map((item) => ({ ...item, priority: 'medium' as const }));
  return { sessionUpdate: 'plan', entries };
}

function readTodos({ newTodos }: Readonly<Record<string, unknown>>): readonly Item[] {
  const todos: readonly unknown[] = Array.isArray(newTodos) ? newTodos : [];
  return todos.flatMap((todo) => {
    const { content, status } = isRecord(todo) ? todo : {};
    return typeof content === 'string' ? [{ content, status: toStatus(status) }] : [];
  });
}

function addItem(items: Map<string, Item>, task: unknown): void {
  const { id, subject } = isRecord(task) ? task : {};
  if (typeof id !== 'string' || typeof subject !== 'string') return;
  items.set(id, { content: subject, status: 'pending' });
}

function updateItem(
  items: Map<string, Item>,
  input: unknown,
  { success, taskId }: Readonly<Record<string, unknown>>,
): void {
  const { subject, status } = isRecord(input) ? input : {};
  const item = typeof taskId === 'string' ? items.get(taskId) : undefined;
  if (item === undefined || typeof taskId !== 'string' || success !== true) return;
  if (status === 'deleted') {
    items.delete(taskId);
    return;
  }
  items.set(taskId, {
    content: typeof subject === 'string' ? subject : item.content,
    status: status === undefined ? item.status : toStatus(status),
  });
}

function toStatus(status: unknown): acp.PlanEntryStatus {
  return status === 'in_progress' || status === 'completed' ? status : 'pending';
}
