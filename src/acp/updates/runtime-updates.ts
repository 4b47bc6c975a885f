import type * as acp from '@agentclientprotocol/sdk';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import { truncateText } from '../../base/json.ts';
import { toCodeBlock, describeCall, describeResult, quoteText } from './tool-call.ts';
import { createPlan, isPlanTool } from './plan.ts';
import { isAwaitingTrust, type Verdict } from '../../hooks/decision.ts';
import type { LateOutcome } from '../../hooks/dispatch-record.ts';

interface UpdateOptions {
  /** Whether the editor shows notices. */
  readonly notices: boolean;
  /** Where the agent's relative paths start. */
  readonly cwd: () => string;
  /** Whether the model's text is shown only after hooks of MessageDisplay, which may change it. */
  readonly awaitsHooks: () => boolean;
}

/** Converts what happens in a session to updates of the protocol. */
interface UpdateConverter {
  convert(event: RuntimeEvent): readonly acp.SessionUpdate[];
  convertNotice(notice: Notice): readonly acp.SessionUpdate[];
}

export function createUpdateConverter(request: UpdateOptions): UpdateConverter {
  const plan = createPlan();
  // An untrusted hook is reported once, not with every call.
  const reported = new Set<string>();
  const open = new Set<string>();
  const turn = { cwd: request.cwd, awaitsHooks: false };
  const convertNotice = (notice: Notice): readonly acp.SessionUpdate[] => {
    if (notice.isShownOnce === true) {
      if (reported.has(notice.text)) return [];
      reported.add(notice.text);
    }
    return [toNoticeUpdate(notice, request)];
  };
  const toolEnd = (event: ToolEnd): readonly acp.SessionUpdate[] => {
    const list = plan.applyToolEnd(event);
    return list === null ? [toToolEndUpdate(event, request.cwd())] : [list];
  };
  return {
    convertNotice,
    convert(event) {
      if (event.type === 'turn-start') turn.awaitsHooks = request.awaitsHooks();
      trackOpenCalls(open, event);
      const notices = listNotices(event).flatMap(convertNotice);
      const updates = event.type === 'tool-end' ? toolEnd(event) : convertEvent(event, turn);
      return [...notices, ...updates, ...failOpenCalls(open, event)];
    },
  };
}

type ToolStart = Extract<RuntimeEvent, { type: 'tool-start' }>;
type ToolEnd = Extract<RuntimeEvent, { type: 'tool-end' }>;

/** Keeps the ids of the calls that have not ended. */
function trackOpenCalls(open: Set<string>, event: RuntimeEvent): void {
  if (event.type === 'tool-start' && !isPlanTool(event.tool)) open.add(event.callId);
  if (event.type === 'tool-end') open.delete(event.callId);
}

/** A cancelled run emits no `tool-end` for calls that it did not run. */
function failOpenCalls(open: Set<string>, event: RuntimeEvent): readonly acp.SessionUpdate[] {
  if (event.type !== 'run-end' || event.parentAgentId !== null) return [];
  const left = [...open];
  open.clear();
  return left.map((toolCallId) => ({
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: 'failed',
  }));
}

function convertEvent(
  event: RuntimeEvent,
  { cwd, awaitsHooks }: { readonly cwd: () => string; readonly awaitsHooks: boolean },
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
function toToolEndUpdate({ callId, tool, input, output }: ToolEnd, cwd: string): acp.SessionUpdate {
  const call = { tool, input, cwd };
  const outcome = {
    toolCallId: callId,
    status: output.success ? ('completed' as const) : ('failed' as const),
    content: describeResult(call, output),
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
function toNoticeUpdate(
  { severity, text }: Notice,
  { notices }: { readonly notices: boolean },
): acp.SessionUpdate {
  if (notices) return { sessionUpdate: 'notice', severity, title: text };
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
  const failed = outcomes.flatMap(({ hook, failure }) =>
    failure === null ? [] : [`The hook ${hook} failed: ${failure.message}`],
  );
  return [
    ...withheld.map(({ hook, why }) => ({
      severity: 'warning' as const,
      text: `The hook ${hook} was not run: ${why}. \`hookline trust\` shows it and lets it run.`,
      isShownOnce: true as const,
    })),
    ...failed.map((text) => ({ severity: 'warning' as const, text })),
    ...messages.map(({ hook, text }) => formatHookMessage(event, hook, text)),
  ];
}

/** The notices of a background hook. */
export function listLateNotices({
  event,
  outcome: { hook, decision },
}: LateOutcome): readonly Notice[] {
  const notice = decision?.notice;
  return notice === undefined ? [] : [formatHookMessage(event.name, hook, notice)];
}

function formatHookMessage(event: string, hook: string, text: string): Notice {
  return { severity: 'info', text: `${event} (${hook}) says: ${text}` };
}
