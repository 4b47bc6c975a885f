import { dropUndefined } from '../../base/defined.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { waitOrAbort } from '../../base/abort.ts';
import { isRefusal, type Stop } from '../../hooks/decision.ts';
import type { PermissionRuling } from '../../permissions/permissions.ts';
import type { ToolUseBlock } from '../../sessions/messages.ts';
import type { Agent } from '../agent.ts';
import { MutableInput } from './mutable-input.ts';
import { type PreparedToolCall, prepareToolCall, toToolFacts } from '../tools/prepare-tool-call.ts';
import type { DeniedBy } from '../runtime-event.ts';
import { collectValues, joinReasons } from '../conversation/hook-messages.ts';
import { formatMissingUserDenial, formatUserDenial } from '../user-denial.ts';
import { notify } from './background-events.ts';
import type { Approval } from '../session-context.ts';

export interface UndecidedCall {
  readonly call: ToolUseBlock;
  readonly prepared: PreparedToolCall;
  /** Why it needs an approval. */
  readonly reason: string;
  readonly by: 'hook' | 'rule';
  readonly ruling: PermissionRuling;
}

export type ApprovalResult =
  | { readonly kind: 'granted'; readonly prepared: PreparedToolCall }
  | {
      readonly kind: 'refused';
      readonly by: DeniedBy;
      readonly reason: string;
      readonly stop: Stop | null;
    };

/** Asks hooks of PermissionRequest, then the user. Without a user, a hook's question is a denial. */
export async function requestApproval(
  agent: Agent,
  undecided: UndecidedCall,
  signal: AbortSignal,
): Promise<ApprovalResult> {
  const { person } = agent.session;
  if (person === null && undecided.by === 'hook') return createRefusal(undecided.reason, 'nobody');
  const answered = await askHooks(agent, undecided, signal);
  if (answered !== null) return answered;
  if (person === null) {
    return createRefusal(formatMissingUserDenial(undecided.reason), 'nobody');
  }
  return askUser(agent, undecided, signal);
}

/** Asks hooks of PermissionRequest only; without an answer of theirs, the call asks the user itself. */
export async function requestHookApproval(
  agent: Agent,
  undecided: UndecidedCall,
  signal: AbortSignal,
): Promise<ApprovalResult> {
  const answered = await askHooks(agent, undecided, signal);
  return answered ?? { kind: 'granted', prepared: undecided.prepared };
}

function createRefusal(reason: string, by: DeniedBy, stop: Stop | null = null): ApprovalResult {
  return { kind: 'refused', by, reason, stop };
}

/** The answer of hooks instead of the user, or null. */
async function askHooks(
  agent: Agent,
  { call, prepared, ruling }: UndecidedCall,
  signal: AbortSignal,
): Promise<ApprovalResult | null> {
  const verdict = await agent.fire(
    {
      name: 'PermissionRequest',
      ...toToolFacts(call, prepared),
      suggestions: ruling.suggestions,
      handed: new MutableInput(),
    },
    signal,
  );
  if (isRefusal(verdict.effect)) {
    return createRefusal(joinReasons(verdict, 'Permission denied by hook'), 'hook', verdict.stop);
  }
  // Only a user may change a file that decides what runs here.
  if (verdict.effect !== 'allow' || ruling.needsPerson === true) return null;
  applyPermissionUpdates(agent, collectValues(verdict, 'permissions'));
  if (verdict.input === null) return { kind: 'granted', prepared };
  return approveRewrite(agent, call, verdict.input);
}

/** A hook's rewrite is checked by tool and rules like any call. */
function approveRewrite(agent: Agent, { name }: ToolUseBlock, input: unknown): ApprovalResult {
  const prepared = prepareToolCall(
    { name, input },
    { context: agent.toolContext, tools: agent.tools },
  );
  if (typeof prepared === 'string') return createRefusal(prepared, 'hook');
  const ruling = findStrictestRuling(agent, prepared);
  const isOpen = ruling.effect === 'allow' || (ruling.effect === 'ask' && ruling.isOverridable);
  return isOpen ? { kind: 'granted', prepared } : createRefusal(ruling.reason, 'rule');
}

function applyPermissionUpdates(agent: Agent, updates: readonly unknown[]): void {
  for (const note of agent.session.permissions.update(updates)) {
    agent.emit({ type: 'notice', level: 'warning', text: note });
  }
}

/** A user who does not answer must not prevent an abort. */
async function waitForApproval(
  ask: () => Promise<Approval>,
  signal: AbortSignal,
): Promise<Approval> {
  try {
    return await waitOrAbort(ask(), signal);
  } catch (error) {
    signal.throwIfAborted();
    return { isAllowed: false, reason: `(no answer: ${getErrorMessage(error)})` };
  }
}

async function askUser(
  agent: Agent,
  { call, prepared, reason, ruling }: UndecidedCall,
  signal: AbortSignal,
): Promise<ApprovalResult> {
  const { person } = agent.session;
  if (person === null) return createRefusal(reason, 'nobody');
  const message = `Hookline needs your permission to use ${prepared.toolName}`;
  notify(agent, { type: 'permission_prompt', message, waiting: true });
  const { toolName: tool, input } = prepared;
  const { suggestions } = ruling;
  const request = { callId: call.id, tool, input, reason, suggestions, agentId: agent.facts.id };
  const approval = await waitForApproval(
    () => person.approve(request, signal, call, agent.turn.iteration),
    signal,
  );
  applyPermissionUpdates(agent, approval.updates ?? []);
  if (approval.isAllowed) return { kind: 'granted', prepared };
  return createRefusal(formatUserDenial(approval.reason), 'person');
}

/** The strictest ruling of all parts of a call. */
export function findStrictestRuling(agent: Agent, prepared: PreparedToolCall): PermissionRuling {
  const order = ['allow', 'ask', 'deny'] as const;
  const cwd = agent.toolContext.cwd();
  // Which files a tool of an MCP server writes is not known.
  const { mcpServer } = prepared;
  const rulings = prepared.parts.map(({ names, input, kind: own }) =>
    agent.session.permissions.judge(
      mcpServer === undefined
        ? { names, input, kind: own, cwd }
        : { names, input, kind: 'foreign', cwd, server: mcpServer.name },
    ),
  );
  // Of two with the same effect, the one that no hook may override, because an allow is for all parts.
  const computeWeight = ({ effect, isOverridable, needsPerson }: PermissionRuling): number =>
    3 * order.indexOf(effect) + (isOverridable ? 0 : 1) + (needsPerson === true ? 1 : 0);
  const strictest = rulings.reduce((one, other) =>
    computeWeight(other) > computeWeight(one) ? other : one,
  );
  // All parts start in one directory, so the profile of one is that of all.
  const gitProfile = rulings.find((each) => each.gitProfile !== undefined)?.gitProfile;
  return { ...strictest, ...dropUndefined({ gitProfile }) };
}
