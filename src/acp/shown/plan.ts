import type * as acp from '@agentclientprotocol/sdk';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import { isRecord } from '../../base/json.ts';

type ToolEnd = Extract<RuntimeEvent, { type: 'tool-end' }>;

/** The agent's list of things to do, as editors show it beside the conversation. */
export interface ShownPlan {
  /** The list after the call; null when it did not change it. */
  after(end: ToolEnd): acp.SessionUpdate | null;
}

export function isPlanTool(tool: string): boolean {
  return tool === 'TodoWrite' || tool === 'TaskCreate' || tool === 'TaskUpdate';
}

export function createPlan(): ShownPlan {
  const items = new Map<string, Item>();
  return {
    after({ tool, input, output: { response, success } }) {
      if (!success || !isPlanTool(tool) || !isRecord(response)) return null;
      if (tool === 'TodoWrite') return planOf(todosIn(response));
      if (tool === 'TaskCreate') addItem(items, response['task']);
      else changeItem(items, input, response);
      return planOf([...items.values()]);
    },
  };
}

interface Item {
  readonly content: string;
  readonly status: acp.PlanEntryStatus;
}

function planOf(items: readonly Item[]): acp.SessionUpdate {
  const entries = items.map((item) => ({ ...item, priority: 'medium' as const }));
  return { sessionUpdate: 'plan', entries };
}

function todosIn({ newTodos }: Readonly<Record<string, unknown>>): readonly Item[] {
  const todos: readonly unknown[] = Array.isArray(newTodos) ? newTodos : [];
  return todos.flatMap((todo) => {
    const { content, status } = isRecord(todo) ? todo : {};
    return typeof content === 'string' ? [{ content, status: statusOf(status) }] : [];
  });
}

function addItem(items: Map<string, Item>, task: unknown): void {
  const { id, subject } = isRecord(task) ? task : {};
  if (typeof id !== 'string' || typeof subject !== 'string') return;
  items.set(id, { content: subject, status: 'pending' });
}

function changeItem(
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
    status: status === undefined ? item.status : statusOf(status),
  });
}

function statusOf(status: unknown): acp.PlanEntryStatus {
  return status === 'in_progress' || status === 'completed' ? status : 'pending';
}
