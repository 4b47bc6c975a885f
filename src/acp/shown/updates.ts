import type * as acp from '@agentclientprotocol/sdk';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import { truncateText } from '../../base/json.ts';
import { type Aside, asidesOf, asideUpdate } from './asides.ts';
import { verbatim } from './content.ts';
import { createPlan, isPlanTool } from './plan.ts';
import { showCall } from './tool-call.ts';
import { showResult } from './tool-result.ts';

export interface UpdatesRequest {
  /** Whether the editor shows notices. */
  readonly notices: boolean;
  /** Where the agent's relative paths start. */
  readonly cwd: () => string;
  /** Whether the model's words are shown only once hooks have seen them, and may have changed them. */
  readonly awaitsHooks: () => boolean;
}

/** What happens in a session, in the protocol's words. */
export interface Updates {
  of(event: RuntimeEvent): readonly acp.SessionUpdate[];
  ofAside(aside: Aside): readonly acp.SessionUpdate[];
}

export function createUpdates(request: UpdatesRequest): Updates {
  const plan = createPlan();
  // A hook that nobody trusts is told of once, not with every call.
  const said = new Set<string>();
  const open = new Set<string>();
  const now = { cwd: request.cwd, awaitsHooks: false };
  const ofAside = (aside: Aside): readonly acp.SessionUpdate[] => {
    if (aside.isSaidOnce === true) {
      if (said.has(aside.text)) return [];
      said.add(aside.text);
    }
    return [asideUpdate(aside, request)];
  };
  const toolEnd = (event: ToolEnd): readonly acp.SessionUpdate[] => {
    const list = plan.after(event);
    return list === null ? [ended(event, request.cwd())] : [list];
  };
  return {
    ofAside,
    of(event) {
      if (event.type === 'turn-start') now.awaitsHooks = request.awaitsHooks();
      follow(open, event);
      const asides = asidesOf(event).flatMap(ofAside);
      const shown = event.type === 'tool-end' ? toolEnd(event) : shownOf(event, now);
      return [...asides, ...shown, ...leftOpen(open, event)];
    },
  };
}

type ToolStart = Extract<RuntimeEvent, { type: 'tool-start' }>;
type ToolEnd = Extract<RuntimeEvent, { type: 'tool-end' }>;

/** Which calls have begun and not ended. */
function follow(open: Set<string>, event: RuntimeEvent): void {
  if (event.type === 'tool-start' && !isPlanTool(event.tool)) open.add(event.callId);
  if (event.type === 'tool-end') open.delete(event.callId);
}

/** A cancelled run tells of no end of the calls that it did not come to. */
function leftOpen(open: Set<string>, event: RuntimeEvent): readonly acp.SessionUpdate[] {
  if (event.type !== 'run-end' || event.parentAgentId !== null) return [];
  const left = [...open];
  open.clear();
  return left.map((toolCallId) => ({
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: 'failed',
  }));
}

function shownOf(
  event: RuntimeEvent,
  { cwd, awaitsHooks }: { readonly cwd: () => string; readonly awaitsHooks: boolean },
): readonly acp.SessionUpdate[] {
  switch (event.type) {
    case 'text-delta':
      return awaitsHooks ? [] : words(event, 'agent_message_chunk', event.text);
    case 'reply':
      return words(event, 'agent_message_chunk', event.isAll ? event.text : `${event.text}\n\n`);
    case 'thinking-delta':
      return words(event, 'agent_thought_chunk', event.text);
    case 'message-end':
      return awaitsHooks ? words(event, 'agent_message_chunk', event.shown) : [];
    case 'tool-start':
      return isPlanTool(event.tool) ? [] : [started(event, cwd())];
    case 'tool-delta':
      return [progressOf(event)];
    default:
      return [];
  }
}

/** What sub-agents say is for the agent that started them. */
function words(
  { parentAgentId }: RuntimeEvent,
  sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk',
  text: string,
): readonly acp.SessionUpdate[] {
  if (parentAgentId !== null || text === '') return [];
  return [{ sessionUpdate, content: { type: 'text', text } }];
}

function started({ callId, tool, input }: ToolStart, cwd: string): acp.SessionUpdate {
  const call = showCall({ tool, input, cwd });
  return { sessionUpdate: 'tool_call', toolCallId: callId, status: 'in_progress', ...call };
}

function progressOf({
  callId,
  text,
}: Extract<RuntimeEvent, { type: 'tool-delta' }>): acp.SessionUpdate {
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId: callId,
    status: 'in_progress',
    content: [verbatim(text)],
  };
}

const LONGEST_RAW = 30_000;

/** A list that could not be changed was not shown as a call before, so all of it is said now. */
function ended({ callId, tool, input, output }: ToolEnd, cwd: string): acp.SessionUpdate {
  const call = { tool, input, cwd };
  const outcome = {
    toolCallId: callId,
    status: output.success ? ('completed' as const) : ('failed' as const),
    content: showResult(call, output),
    rawOutput: truncateText(output.text, LONGEST_RAW),
  };
  if (isPlanTool(tool)) return { sessionUpdate: 'tool_call', ...showCall(call), ...outcome };
  return { sessionUpdate: 'tool_call_update', ...outcome };
}
