import type * as acp from '@agentclientprotocol/sdk';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import { truncateText, isRecord } from '../../base/json.ts';
import { toCodeBlock, describeCall, describeResult, quoteText } from './tool-call.ts';
import { type HookProblem, listHookProblems } from '../../dialects/index.ts';
import { isAwaitingTrust, type Verdict } from '../../hooks/decision.ts';

/** Converts what happens in a session to updates of the protocol. */
export class UpdateConverter {
  readonly #plan = new Plan();
  // An untrusted hook is reported once, not with every call.
  readonly #reported = new Set<string>();
  /** The calls that the editor was sent as in progress, and not as ended. */
  readonly #sentInProgress = new Set<string>();
  readonly #showsNotices: boolean;
  readonly #cwd: () => string;
  readonly #awaitsHooks: () => boolean;
  #turnAwaitsHooks = false;

  /**
   * `showsNotices`: whether the editor has a place for them. `cwd`: where the agent's relative paths
   * start. `awaitsHooks`: whether the model's text is shown only after hooks of MessageDisplay, which
   * may change it.
   */
  constructor(showsNotices: boolean, cwd: () => string, awaitsHooks: () => boolean) {
    this.#showsNotices = showsNotices;
    this.#cwd = cwd;
    this.#awaitsHooks = awaitsHooks;
  }

  convert(event: RuntimeEvent): readonly acp.SessionUpdate[] {
    if (event.type === 'turn-start') this.#turnAwaitsHooks = this.#awaitsHooks();
    const notices = listNotices(event).flatMap((notice) => this.convertNotice(notice));
    const updates =
      event.type === 'tool-end'
        ? [this.#plan.applyToolEnd(event) ?? toToolEndUpdate(event, this.#cwd())]
        : convertEvent(event, this.#cwd, this.#turnAwaitsHooks);
    this.#recordSent(updates);
    return [...notices, ...updates, ...this.#failUnfinished(event)];
  }

  #recordSent(updates: readonly acp.SessionUpdate[]): void {
    for (const update of updates) {
      if (update.sessionUpdate === 'tool_call' && update.status === 'in_progress') {
        this.#sentInProgress.add(update.toolCallId);
      }
      const isEnd = update.sessionUpdate === 'tool_call_update' && update.status !== 'in_progress';
      if (isEnd) this.#sentInProgress.delete(update.toolCallId);
    }
  }

  /** A cancelled run emits no `tool-end` for calls that it did not run; the editor must not show them as running. */
  #failUnfinished(event: RuntimeEvent): readonly acp.SessionUpdate[] {
    if (event.type !== 'run-end' || event.parentAgentId !== null) return [];
    const unfinished = [...this.#sentInProgress];
    this.#sentInProgress.clear();
    return unfinished.map((toolCallId) => ({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      status: 'failed',
    }));
  }

  convertNotice(notice: Notice): readonly acp.SessionUpdate[] {
    if (notice.isShownOnce === true) {
      if (this.#reported.has(notice.text)) return [];
      this.#reported.add(notice.text);
    }
    return [toNoticeUpdate(notice, this.#showsNotices)];
  }
}

type ToolStart = Extract<RuntimeEvent, { type: 'tool-start' }>;
type ToolEnd = Extract<RuntimeEvent, { type: 'tool-end' }>;

function convertEvent(
  event: RuntimeEvent,
  cwd: () => string,
  awaitsHooks: boolean,
): readonly acp.SessionUpdate[] {
  switch (event.type) {
    case 'text-delta':
      return awaitsHooks ? [] : toMessageChunks(event, 'agent_message_chunk', event.text);
    case 'reply':
      return toMessageChunks(
        event,
        'agent_message_chunk',
        event.isAll ? event.text : `${event.text}\n\n`,
      );
    case 'thinking-delta':
      return toMessageChunks(event, 'agent_thought_chunk', event.text);
    case 'message-end':
      return awaitsHooks ? toMessageChunks(event, 'agent_message_chunk', event.shown) : [];
    case 'tool-start':
      return isPlanTool(event.tool) ? [] : [toToolCallUpdate(event, cwd())];
    case 'tool-delta':
      return [toProgressUpdate(event)];
    default:
      return [];
  }
}

/** A sub-agent's text is for the agent that started it. */
function toMessageChunks(
  { parentAgentId }: RuntimeEvent,
  sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk',
  text: string,
): readonly acp.SessionUpdate[] {
  if (parentAgentId !== null || text === '') return [];
  return [{ sessionUpdate, content: { type: 'text', text } }];
}

function toToolCallUpdate({ callId, tool, input }: ToolStart, cwd: string): acp.SessionUpdate {
  const call = describeCall({ tool, input, cwd });
  return { sessionUpdate: 'tool_call', toolCallId: callId, status: 'in_progress', ...call };
}

function toProgressUpdate({
  callId,
  text,
}: Extract<RuntimeEvent, { type: 'tool-delta' }>): acp.SessionUpdate {
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId: callId,
    status: 'in_progress',
    content: [toCodeBlock(text)],
  };
}

const LONGEST_RAW = 30_000;

/** Calls that change the plan are not shown, so that a failed one is sent as a whole. */
function toToolEndUpdate(ended: ToolEnd, cwd: string): acp.SessionUpdate {
  const { callId, tool, input, output, deniedByHooks = [] } = ended;
  const call = { tool, input, cwd };
  const denial = `${output.error ?? output.text} (${deniedByHooks.join(', ')})`;
  const outcome = {
    toolCallId: callId,
    status: output.success ? ('completed' as const) : ('failed' as const),
    content: describeResult(
      call,
      deniedByHooks.length === 0 ? output : { ...output, error: denial },
    ),
    rawOutput: truncateText(output.text, LONGEST_RAW),
  };
  if (isPlanTool(tool)) return { sessionUpdate: 'tool_call', ...describeCall(call), ...outcome };
  return { sessionUpdate: 'tool_call_update', ...outcome };
}

/** A message to the user beside the agent's own text. */
export interface Notice {
  readonly severity: 'info' | 'warning' | 'error';
  readonly text: string;
  /** Whether it is shown only once in a session. */
  readonly isShownOnce?: true;
}

/** A notice where the editor supports them, else a quotation in the agent's text. */
function toNoticeUpdate({ severity, text }: Notice, showsNotices: boolean): acp.SessionUpdate {
  if (showsNotices) return { sessionUpdate: 'notice', severity, title: text };
  return {
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text: quoteText(text) },
  };
}

/** The notices of an event; hooks that ran without objection have none. */
function listNotices(event: RuntimeEvent): readonly Notice[] {
  switch (event.type) {
    case 'hook':
      return listVerdictNotices(event.verdict);
    case 'hook-late':
      return [
        ...listHookProblems([event]).map(formatHookProblem),
        ...(event.notice === null
          ? []
          : [formatHookMessage(event.event, event.hook, event.notice)]),
      ];
    case 'retry-start':
      return [{ severity: 'warning', text: `${event.failure.message} The model is asked again.` }];
    case 'notice':
      return event.level === 'info' ? [] : [{ severity: event.level, text: event.text }];
    case 'compaction-end':
      return event.summary === null ? [] : [{ severity: 'info', text: 'Conversation compacted.' }];
    default:
      return [];
  }
}

function listVerdictNotices({ event, outcomes, skipped, messages }: Verdict): readonly Notice[] {
  const withheld = skipped.filter(isAwaitingTrust);
  return [
    ...withheld.map(({ hook, why }) => ({
      severity: 'warning' as const,
      text: `The hook ${hook} was not run: ${why}. \`hookline trust\` shows it and lets it run.`,
      isShownOnce: true as const,
    })),
    ...listHookProblems(outcomes).map(formatHookProblem),
    ...messages.map(({ hook, text }) => formatHookMessage(event, hook, text)),
  ];
}

function formatHookProblem({ hook, kind, message, hint }: HookProblem): Notice {
  const text =
    kind === 'failed' ? `The hook ${hook} failed: ${message}` : `The hook ${hook}: ${message}`;
  return { severity: 'warning', text: hint === null ? text : `${text}\n${hint}` };
}

function formatHookMessage(event: string, hook: string, text: string): Notice {
  return { severity: 'info', text: `${event} (${hook}) says: ${text}` };
}

function isPlanTool(tool: string): boolean {
  return tool === 'TodoWrite' || tool === 'TaskCreate' || tool === 'TaskUpdate';
}

/** The agent's to-do list, which editors show beside the conversation. */
class Plan {
  readonly #items = new Map<string, Item>();

  /** Returns the list after the call; null when the call did not change it. */
  applyToolEnd({
    tool,
    input,
    output: { response, success },
  }: Extract<RuntimeEvent, { type: 'tool-end' }>): acp.SessionUpdate | null {
    if (!success || !isPlanTool(tool) || !isRecord(response)) return null;
    if (tool === 'TodoWrite') return toPlanUpdate(readTodos(response));
    if (tool === 'TaskCreate') addItem(this.#items, response['task']);
    else updateItem(this.#items, input, response);
    return toPlanUpdate([...this.#items.values()]);
  }
}

type Item = Pick<acp.PlanEntry, 'content' | 'status'>;

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
