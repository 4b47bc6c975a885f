import { methods, type PermissionOption, type ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { Approval, ApprovalRequest } from '../../agent/world.ts';
import type { PermissionRuleText, PermissionUpdate } from '../../permissions/permissions.ts';
import { textContent } from '../shown/content.ts';
import { showCall } from '../shown/tool-call.ts';
import type { Editor } from './editor.ts';

/** Has the editor ask whether a call may run, with its change or its command in view. */
export async function approveInEditor(
  editor: Editor,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<Approval> {
  const sessionId = editor.sessionId();
  if (sessionId === null) return { isAllowed: false, reason: '(the session is not open yet)' };
  const { reason } = await editor.clean({ reason: request.reason });
  // The call must be known to the editor before it is asked about.
  await editor.settled();
  const toolCall = callOf({ ...request, reason }, editor.cwd());
  const { outcome } = await editor.client.request(
    methods.client.session.requestPermission,
    { sessionId, toolCall, options: optionsFor(request) },
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  if (outcome.outcome === 'cancelled') return { isAllowed: false };
  if (outcome.optionId !== ALLOW && outcome.optionId !== ALWAYS) return { isAllowed: false };
  editor.tell({
    sessionUpdate: 'tool_call_update',
    toolCallId: request.callId,
    status: 'in_progress',
  });
  const updates = outcome.optionId === ALWAYS ? request.suggestions : [];
  return { isAllowed: true, updates };
}

function callOf({ callId, tool, input, reason }: ApprovalRequest, cwd: string): ToolCallUpdate {
  const call = showCall({ tool, input, cwd });
  const content = [...call.content, textContent(reason)];
  return { toolCallId: callId, status: 'pending', ...call, content };
}

const ALLOW = 'allow';
const ALWAYS = 'allow-always';

function optionsFor({ suggestions }: ApprovalRequest): PermissionOption[] {
  const always = suggestions.map(promiseOf).filter((words) => words !== null);
  return [
    { optionId: ALLOW, kind: 'allow_once', name: 'Allow' },
    ...(always.length === 0
      ? []
      : [{ optionId: ALWAYS, kind: 'allow_always' as const, name: always.join('; ') }]),
    { optionId: 'reject', kind: 'reject_once', name: 'Reject' },
  ];
}

/** What a suggestion would mean for the rest of the session. */
function promiseOf(update: PermissionUpdate): string | null {
  switch (update.type) {
    case 'addRules':
      return `Always allow ${update.rules.map(ruleText).join(', ')}`;
    case 'setMode':
      return update.mode === 'acceptEdits' ? 'Allow all edits' : `Go on in mode ${update.mode}`;
    case 'addDirectories':
      return `Always allow work in ${update.directories.join(', ')}`;
    default:
      return null;
  }
}

function ruleText({ toolName, ruleContent }: PermissionRuleText): string {
  return ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`;
}
