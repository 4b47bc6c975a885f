import { dropUndefined } from '../../base/defined.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { waitOrAbort } from '../../base/abort.ts';
import { isRefusal, type Stop } from '../../hooks/decision.ts';
import type { PermissionCall, PermissionRuling } from '../../permissions/permissions.ts';
import { getSandboxedCommand } from '../../permissions/rules/call-arguments.ts';
import type { ToolUseBlock } from '../../sessions/messages.ts';
import type { Agent } from '../agent.ts';
import { MutableInput } from './mutable-input.ts';
import { type PreparedToolCall, prepareToolCall, toToolFacts } from '../tools/prepare-tool-call.ts';
import type { DeniedBy, DeniedQuestion } from '../runtime-event.ts';
import { collectValues, joinReasons } from '../conversation/hook-messages.ts';
import { notify } from './background-events.ts';
import type { Approval, Person } from '../session-context.ts';

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
      readonly question: DeniedQuestion | null;
      readonly stop: Stop | null;
    };

/** Asks hooks of PermissionRequest, then the user. Without a user, a hook's question is a denial. */
export async function requestApproval(
  agent: Agent,
  undecided: UndecidedCall,
  signal: AbortSignal,
): Promise<ApprovalResult> {
  const { person } = agent.session;
  if (person === null && undecided.by === 'hook') {
    return denyUnanswered(undecided, undecided.reason);
  }
  const answered = await askHooks(agent, undecided, signal);
  if (answered !== null) return answered;
  if (person === null) {
    const { reason, ruling } = undecided;
    const why = [reason, ruling.hintWithoutUser].filter((text) => text !== undefined).join(' ');
    return denyUnanswered(
      undecided,
      `${why} No user is available to approve it, so the call is denied.`,
    );
  }
  return askUser(agent, undecided, person, signal);
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
  return { kind: 'refused', by, reason, question: null, stop };
}

function denyUnanswered({ by }: UndecidedCall, reason: string): ApprovalResult {
  const question = { askedBy: by, userReason: null };
  return { kind: 'refused', by: 'nobody', reason, question, stop: null };
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
    return createRefusal(joinReasons(verdict), 'hook', verdict.stop);
  }
  // Only a user may change a file that decides what runs here.
  if (verdict.effect !== 'allow' || ruling.needsPerson === true) return null;
  applyPermissionUpdates(agent, collectValues(verdict, 'permissions'));
  if (verdict.input === null) return { kind: 'granted', prepared };
  return approveRewrite(agent, call, verdict.input);
}

/** A hook's rewrite is checked by tool and rules like any call. */
async function approveRewrite(
  agent: Agent,
  { name }: ToolUseBlock,
  input: unknown,
): Promise<ApprovalResult> {
  const prepared = prepareToolCall(
    { name, input },
    { context: agent.toolContext, tools: agent.tools },
  );
  if (typeof prepared === 'string') return createRefusal(prepared, 'hook');
  const ruling = await findStrictestRuling(agent, prepared);
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
  { call, prepared, reason, by, ruling }: UndecidedCall,
  person: Person,
  signal: AbortSignal,
): Promise<ApprovalResult> {
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
  return {
    kind: 'refused',
    by: 'person',
    reason: formatUserDenial(approval.reason),
    question: { askedBy: by, userReason: approval.reason ?? null },
    stop: null,
  };
}

function formatUserDenial(reason: string | undefined): string {
  return reason === undefined
    ? 'The user denied this call.'
    : `The user denied this call: ${reason}`;
}

/** The strictest ruling of all parts of a call. */
export async function findStrictestRuling(
  agent: Agent,
  prepared: PreparedToolCall,
): Promise<PermissionRuling> {
  const order = ['allow', 'ask', 'deny'] as const;
  const cwd = agent.toolContext.cwd();
  // Which files a tool of an MCP server writes is not known.
  const { mcpServer } = prepared;
  const findQuestion = await createSandboxCheck(agent, prepared);
  const rulings = prepared.parts.map(({ names, input, kind: own }) =>
    agent.session.permissions.judge(
      mcpServer === undefined
        ? { names, input, kind: own, cwd, ...findQuestion({ names, input, kind: own, cwd }) }
        : { names, input, kind: 'foreign', cwd, server: mcpServer.name },
    ),
  );
  // Of two with the same effect, the one that no hook may override, because an allow is for all parts.
  const computeWeight = ({ effect, isOverridable, needsPerson }: PermissionRuling): number =>
    3 * order.indexOf(effect) + (isOverridable ? 0 : 1) + (needsPerson === true ? 1 : 0);
  const strictest = rulings.reduce((one, other) =>
    computeWeight(other) > computeWeight(one) ? other : one,
  );
  const opening = rulings.filter((each) => each.sandboxAccess !== undefined && each !== strictest);
  // All parts start in one directory, so the profile of one is that of all.
  const gitProfile = rulings.find((each) => each.gitProfile !== undefined)?.gitProfile;
  const files = rulings.flatMap(({ programFiles = {} }) => Object.entries(programFiles));
  return {
    ...opening.reduce(addSandboxAccess, strictest),
    ...dropUndefined({ gitProfile }),
    ...(files.length === 0 ? {} : { programFiles: Object.fromEntries(files) }),
  };
}

/** A user who is asked about one part is asked about what is opened for the others, too. */
function addSandboxAccess(strictest: PermissionRuling, other: PermissionRuling): PermissionRuling {
  const one = strictest.sandboxAccess;
  const two = other.sandboxAccess;
  if (strictest.effect !== 'ask' || two === undefined) return strictest;
  const sandboxAccess =
    one === undefined
      ? two
      : {
          readable: [...one.readable, ...two.readable],
          variables: [...one.variables, ...two.variables],
          changeable: [...one.changeable, ...two.changeable],
          isIncomplete: one.isIncomplete || two.isIncomplete,
        };
  return { ...strictest, sandboxAccess, reason: `${strictest.reason} ${other.reason}` };
}

/** Finds out what the user must be asked because a command runs in the sandbox. */
async function createSandboxCheck(
  { toolContext }: Agent,
  { parts }: PreparedToolCall,
): Promise<(call: PermissionCall) => Pick<PermissionCall, 'sandboxQuestion'>> {
  const isCommand = parts.some(({ names }) => names.includes('Bash'));
  const sandbox = isCommand ? ((await toolContext.sandbox?.open()) ?? null) : null;
  if (sandbox === null || typeof sandbox === 'string') return () => ({});
  return (call) => {
    const command = getSandboxedCommand(call);
    const question = command === null ? null : sandbox.findQuestion(command, call.cwd);
    return question === null ? {} : { sandboxQuestion: question };
  };
}
