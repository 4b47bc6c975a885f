import { getErrorMessage } from '../../base/errors.ts';
import { waitOrAbort } from '../../base/abort.ts';
import { isRefusal, type Stop } from '../../hooks/decision.ts';
import type { PermissionRuling } from '../../permissions/permissions.ts';
import type { ToolUseBlock } from '../../sessions/messages.ts';
import type { Agent } from '../agent.ts';
import { MutableInput } from '../tools/edits/mutable-input.ts';
import { type PreparedToolCall, prepareToolCall, toToolFacts } from '../tools/prepare-tool-call.ts';
import type { DeniedBy } from '../runtime-event.ts';
import { collectValues, joinReasons } from '../conversation/hook-messages.ts';
import { notify } from './notify.ts';
import type { Approval, ApprovalRequest, Person } from '../world.ts';

export interface CallInDoubt {
  readonly call: ToolUseBlock;
  readonly prepared: PreparedToolCall;
  /** Why it cannot just run. */
  readonly reason: string;
  readonly by: 'hook' | 'rule';
  readonly ruling: PermissionRuling;
}

export type CallAnswer =
  | { readonly kind: 'granted'; readonly prepared: PreparedToolCall }
  | {
      readonly kind: 'refused';
      readonly by: DeniedBy;
      readonly reason: string;
      readonly stop: Stop | null;
    };

/** Asks hooks of PermissionRequest, then the person. Without a person, a hook's question is a denial. */
export async function askForCall(
  agent: Agent,
  doubt: CallInDoubt,
  signal: AbortSignal,
): Promise<CallAnswer> {
  const { person } = agent.world;
  if (person === null && doubt.by === 'hook') return refused(doubt.reason, 'nobody');
  const answered = await askHooks(agent, doubt, signal);
  if (answered !== null) return answered;
  if (person === null) {
    return refused(`${doubt.reason} Nobody is here to be asked, so the call is denied.`, 'nobody');
  }
  return askPerson(agent, doubt, signal);
}

/** Hooks of PermissionRequest may answer a question to the person; what they leave open goes on to them. */
export async function letHooksAnswer(
  agent: Agent,
  doubt: CallInDoubt,
  signal: AbortSignal,
): Promise<CallAnswer> {
  const answered = await askHooks(agent, doubt, signal);
  return answered ?? { kind: 'granted', prepared: doubt.prepared };
}

function refused(reason: string, by: DeniedBy, stop: Stop | null = null): CallAnswer {
  return { kind: 'refused', by, reason, stop };
}

/** What hooks answer in the person's place, or null. */
async function askHooks(
  agent: Agent,
  { call, prepared, ruling }: CallInDoubt,
  signal: AbortSignal,
): Promise<CallAnswer | null> {
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
    return refused(joinReasons(verdict, 'Permission denied by hook'), 'hook', verdict.stop);
  }
  // What decides what runs here is a person's to change, whatever a hook says.
  if (verdict.effect !== 'allow' || ruling.needsPerson === true) return null;
  takeOver(agent, collectValues(verdict, 'permissions'));
  if (verdict.input === null) return { kind: 'granted', prepared };
  return regrant(agent, call, verdict.input);
}

/** A hook's rewrite must please tool and rules as any call must. */
function regrant(agent: Agent, { name }: ToolUseBlock, input: unknown): CallAnswer {
  const prepared = prepareToolCall({ name, input }, { context: agent.bench, tools: agent.tools });
  if (typeof prepared === 'string') return refused(prepared, 'hook');
  const ruling = strictestRuling(agent, prepared);
  const isOpen = ruling.effect === 'allow' || (ruling.effect === 'ask' && ruling.isOverridable);
  return isOpen ? { kind: 'granted', prepared } : refused(ruling.reason, 'rule');
}

function takeOver(agent: Agent, updates: readonly unknown[]): void {
  for (const note of agent.world.permissions.update(updates)) {
    agent.tell({ type: 'notice', level: 'warning', text: note });
  }
}

/** A person who does not answer must not keep a run from being aborted. */
async function askSafely(
  person: Person,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<Approval> {
  try {
    return await waitOrAbort(person.approve(request, signal), signal);
  } catch (error) {
    signal.throwIfAborted();
    return { isAllowed: false, reason: `(they could not be asked: ${getErrorMessage(error)})` };
  }
}

async function askPerson(
  agent: Agent,
  { call, prepared, reason, ruling }: CallInDoubt,
  signal: AbortSignal,
): Promise<CallAnswer> {
  const { person } = agent.world;
  if (person === null) return refused(reason, 'nobody');
  const message = `Hookline needs your permission to use ${prepared.toolName}`;
  notify(agent, { type: 'permission_prompt', message, waiting: true });
  const { toolName: tool, input } = prepared;
  const { suggestions } = ruling;
  const request = { callId: call.id, tool, input, reason, suggestions, agentId: agent.facts.id };
  const approval = await askSafely(person, request, signal);
  takeOver(agent, approval.updates ?? []);
  if (approval.isAllowed) return { kind: 'granted', prepared };
  const said = approval.reason === undefined ? '' : ` They said: ${approval.reason}`;
  return refused(`The person did not allow this call.${said}`, 'person');
}

/** What permissions say of a call with several parts: the strictest of it. */
export function strictestRuling(agent: Agent, prepared: PreparedToolCall): PermissionRuling {
  const order = ['allow', 'ask', 'deny'] as const;
  const cwd = agent.bench.cwd();
  // What a tool of a server does is what its server says, and nobody knows which files it writes.
  const { mcpServer } = prepared;
  const rulings = prepared.parts.map(({ names, input, kind: own }) =>
    agent.world.permissions.judge(
      mcpServer === undefined
        ? { names, input, kind: own, cwd }
        : { names, input, kind: 'foreign', cwd, server: mcpServer.name },
    ),
  );
  // Of two that are alike, the one that no hook stands above: an allow is for all parts.
  const weight = ({ effect, isOverridable, needsPerson }: PermissionRuling): number =>
    3 * order.indexOf(effect) + (isOverridable ? 0 : 1) + (needsPerson === true ? 1 : 0);
  return rulings.reduce((one, other) => (weight(other) > weight(one) ? other : one));
}
