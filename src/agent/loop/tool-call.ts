import { getErrorMessage } from '../../base/errors.ts';
import { isNestedTooDeep, MAX_NESTING } from '../../base/json.ts';
import { isRefusal, type Stop, type Verdict } from '../../hooks/decision.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import type { ToolUseBlock } from '../../sessions/messages.ts';
import type { Agent } from '../agent.ts';
import { askForCall, letHooksAnswer, strictestRuling } from './approval.ts';
import { fireAside, watchPaths } from './fire-aside.ts';
import { applyHookOutputs } from '../conversation/hook-output.ts';
import {
  formatHookMessage,
  formatContexts,
  formatDenial,
  formatObjections,
  joinReasons,
  findPluginDenial,
} from '../conversation/hook-messages.ts';
import type { DeniedBy } from '../runtime-event.ts';
import { nestedInstructions } from './nested-instructions.ts';
import { MutableInput } from '../tools/edits/mutable-input.ts';
import {
  removeHookFields,
  type PreparedToolCall,
  prepareToolCall,
  toToolFacts,
} from '../tools/prepare-tool-call.ts';
import { createFailedOutput, type RunningCall, type ToolOutput } from '../tools/tool.ts';

/** What became of one call. */
export interface CallReport {
  readonly call: ToolUseBlock;
  /** As it was run, after rewrites. */
  readonly input: unknown;
  readonly output: ToolOutput;
  readonly durationMs: number;
  readonly deniedBy: DeniedBy | null;
  /** What hooks say about it, for the model. */
  readonly reminders: readonly string[];
  /** Set when the run ends after it. */
  readonly stop: Stop | null;
}

/** A call on its way through the gates: it may run, it is answered already, or it waits for a later day. */
export type Gate =
  | { readonly kind: 'open'; readonly pass: PassedCall }
  | { readonly kind: 'closed'; readonly report: CallReport }
  | { readonly kind: 'deferred'; readonly call: ToolUseBlock };

export interface PassedCall {
  readonly call: ToolUseBlock;
  readonly prepared: PreparedToolCall;
  readonly reminders: readonly string[];
  readonly stop: Stop | null;
}

export interface GateRequest {
  readonly call: ToolUseBlock;
  /** Whether the call may be left undecided: it is alone, and nobody is there. */
  readonly mayDefer: boolean;
  readonly signal: AbortSignal;
}

/** Asks hooks, rules and the person about a call; the only place where PreToolUse is fired. */
export async function gateCall(agent: Agent, request: GateRequest): Promise<Gate> {
  const { call, signal } = request;
  agent.tell({ type: 'tool-start', callId: call.id, tool: call.name, input: call.input });
  const prepared = prepare(agent, call, removeHookFields(call, agent.tools));
  if (typeof prepared === 'string') return closed({ call, input: call.input, error: prepared });
  const facts = { ...toToolFacts(call, prepared), handed: new MutableInput() };
  const verdict = await agent.fire({ name: 'PreToolUse', ...facts }, signal);
  const subject = prepared.toolName;
  const reminders = formatContexts(verdict, { event: 'PreToolUse', subject });
  const seen: Seen = { call, prepared, verdict, reminders, signal };
  if (isRefusal(verdict.effect)) {
    return deny(agent, seen, { ...deniedBy(verdict, subject), by: 'hook' });
  }
  const final = verdict.input === null ? prepared : prepare(agent, call, verdict.input);
  if (typeof final === 'string') {
    const text = formatHookMessage({ kind: 'bad-rewrite', tool: subject, problem: final });
    return deny(agent, seen, { error: text, by: 'hook' });
  }
  if (verdict.effect === 'defer' && request.mayDefer) return { kind: 'deferred', call };
  return judge(agent, { ...seen, prepared: final }, signal);
}

/** What is known of a call once its hooks have spoken. */
interface Seen {
  readonly call: ToolUseBlock;
  readonly prepared: PreparedToolCall;
  readonly verdict: Verdict;
  readonly reminders: readonly string[];
  readonly signal: AbortSignal;
}

async function judge(agent: Agent, seen: Seen, signal: AbortSignal): Promise<Gate> {
  const { call, prepared, verdict, reminders } = seen;
  const ruling = strictestRuling(agent, prepared);
  const isAskedByHook = verdict.effect === 'ask' || verdict.effect === 'defer';
  const isAllowedByHook = verdict.effect === 'allow' && ruling.isOverridable;
  if (ruling.effect === 'deny' && !isAllowedByHook) {
    return deny(agent, seen, { error: ruling.reason, by: 'rule' });
  }
  const pass: PassedCall = { call, prepared, reminders, stop: verdict.stop };
  const isOpen = !isAskedByHook && (ruling.effect === 'allow' || isAllowedByHook);
  const isQuestion = prepared.kind === 'ask' && verdict.effect !== 'allow';
  if (isOpen && !isQuestion) return { kind: 'open', pass };
  const reason = isAskedByHook
    ? joinReasons(verdict, `a hook wants ${prepared.toolName} to be approved`)
    : ruling.reason;
  const by = isAskedByHook ? 'hook' : 'rule';
  const doubt = { call, prepared, reason, by, ruling } as const;
  const answer = isOpen
    ? await letHooksAnswer(agent, doubt, signal)
    : await askForCall(agent, doubt, signal);
  if (answer.kind === 'granted') {
    return { kind: 'open', pass: { ...pass, prepared: answer.prepared } };
  }
  const { reason: error, by: decider } = answer;
  return deny(agent, withStop(seen, answer.stop), { error, by: decider });
}

function withStop(seen: Seen, stop: Stop | null): Seen {
  return stop === null ? seen : { ...seen, verdict: { ...seen.verdict, stop } };
}

interface Denied {
  readonly error: string;
  readonly by: DeniedBy;
  /** What the model reads instead of the error. */
  readonly answer?: ToolOutput;
}

function deniedBy(verdict: Verdict, tool: string): Pick<Denied, 'error' | 'answer'> {
  const said = findPluginDenial(verdict);
  if (said === null) return { error: formatDenial(verdict, tool) };
  // A skipped call of Cline's has failed with this as its result.
  const response = { error: said };
  const heard = createFailedOutput(JSON.stringify(response));
  const answer = { ...heard, text: said, response, replaced: true } as const;
  return { error: said, answer };
}

/** Plugins hear of a denied call as of a failed one; nobody else does. */
async function deny(agent: Agent, seen: Seen, { error, by, answer }: Denied): Promise<Gate> {
  const { call, prepared, verdict, reminders, signal } = seen;
  const { input } = prepared;
  agent.denials.push({ callId: call.id, tool: prepared.toolName, input, reason: error });
  const told = toToolFacts(call, prepared);
  const facts = { ...told, result: createFailedOutput(error), durationMs: 0, denied: true };
  const heard = await agent.fire({ name: 'PostToolUseFailure', ...facts }, signal);
  const output = answer ?? createFailedOutput(error);
  const after = toldBy([heard], { output, prepared });
  return {
    kind: 'closed',
    report: {
      call,
      input,
      output: after.output,
      durationMs: 0,
      deniedBy: by,
      reminders: [...reminders, ...after.reminders],
      stop: verdict.stop ?? after.stop,
    },
  };
}

function closed({
  call,
  input,
  error,
}: {
  call: ToolUseBlock;
  input: unknown;
  error: string;
}): Gate {
  const output = createFailedOutput(error);
  const report = { call, input, output, durationMs: 0, deniedBy: null, reminders: [], stop: null };
  return { kind: 'closed', report };
}

function prepare(agent: Agent, { name }: ToolUseBlock, input: unknown): PreparedToolCall | string {
  if (typeof input === 'string') {
    return `The arguments of ${name} are not valid JSON: ${input.slice(0, 500)}`;
  }
  if (isNestedTooDeep(input)) {
    return `The arguments of ${name} are nested deeper than ${MAX_NESTING} levels.`;
  }
  const { bench, tools, world } = agent;
  const toldNames = (): readonly string[] => world.specsOf(tools).map((spec) => spec.name);
  return prepareToolCall({ name, input }, { context: bench, tools, modelToolNames: toldNames });
}

/** Runs a call that passed its gates; the only place where PostToolUse and PostToolUseFailure are fired. */
export async function runCall(
  agent: Agent,
  { call, prepared, reminders, stop }: PassedCall,
  signal: AbortSignal,
): Promise<CallReport> {
  const { world, bench } = agent;
  const before = bench.cwd();
  const startedAt = world.clock.elapsed();
  const done = await runSafely(prepared, {
    callId: call.id,
    signal,
    onProgress: (text) => agent.tell({ type: 'tool-delta', callId: call.id, text }),
  });
  const durationMs = Math.round(world.clock.elapsed() - startedAt);
  agent.toolCalls += 1;
  const told = { call, prepared, output: done, durationMs, movedFrom: before };
  const after = await tellOfCall(agent, told, signal);
  const nested = done.success ? await nestedInstructions(agent, prepared) : [];
  return {
    call,
    input: prepared.input,
    output: after.output,
    durationMs,
    deniedBy: null,
    reminders: [...reminders, ...after.reminders, ...nested],
    stop: stop ?? after.stop,
  };
}

/** A tool that breaks its word not to throw has failed, and nothing else. */
async function runSafely(prepared: PreparedToolCall, running: RunningCall): Promise<ToolOutput> {
  try {
    return await prepared.run(running);
  } catch (error) {
    return createFailedOutput(`${prepared.toolName} failed: ${getErrorMessage(error)}`);
  }
}

interface DoneCall {
  readonly call: ToolUseBlock;
  readonly prepared: PreparedToolCall;
  readonly output: ToolOutput;
  readonly durationMs: number;
  /** Where the agent stood before it. */
  readonly movedFrom: string;
}

type ToldCall = Pick<CallReport, 'output' | 'reminders' | 'stop'>;

/** What was done is done: its answer is kept, also when an abort leaves no hook to speak of it. */
async function tellOfCall(agent: Agent, done: DoneCall, signal: AbortSignal): Promise<ToldCall> {
  const untold = { output: done.output, reminders: [], stop: null };
  if (signal.aborted) {
    // Hooks hear of what was interrupted, and the abort waits for none of them.
    for (const event of eventsOf(done)) fireAside(agent, event);
    return untold;
  }
  try {
    const told = await reportCall(agent, done, signal);
    const { movedFrom } = done;
    if (agent.bench.cwd() !== movedFrom) await announceMove(agent, movedFrom, signal);
    return told;
  } catch (error) {
    if (!signal.aborted) throw error;
    return untold;
  }
}

async function reportCall(agent: Agent, done: DoneCall, signal: AbortSignal): Promise<ToldCall> {
  const verdicts: Verdict[] = [];
  for (const event of eventsOf(done)) verdicts.push(await agent.fire(event, signal));
  return toldBy(verdicts, done);
}

/** Parts of one call may end differently: hooks of both kinds hear of theirs. */
function eventsOf({ call, prepared, output, durationMs }: DoneCall): readonly FiredEvent[] {
  const facts = { ...toToolFacts(call, prepared), result: output, durationMs };
  const interrupted = output.interrupted === true;
  const hasWorked = output.success || output.parts?.some(({ success }) => success) === true;
  return [
    ...(hasWorked ? [{ name: 'PostToolUse', ...facts } as const] : []),
    ...(output.success ? [] : [{ name: 'PostToolUseFailure', ...facts, interrupted } as const]),
  ];
}

function toldBy(
  verdicts: readonly Verdict[],
  { output, prepared }: Pick<DoneCall, 'output' | 'prepared'>,
): ToldCall {
  const subject = prepared.toolName;
  return {
    output: applyHookOutputs(output, verdicts, prepared.parts),
    reminders: verdicts.flatMap((verdict) => {
      const at = { event: verdict.event, subject };
      const objections = isRefusal(verdict.effect) ? formatObjections(verdict, at) : [];
      return [...objections, ...formatContexts(verdict, at)];
    }),
    stop: verdicts.find(({ stop }) => stop !== null)?.stop ?? null,
  };
}

async function announceMove(agent: Agent, from: string, signal: AbortSignal): Promise<void> {
  const verdict = await agent.fire({ name: 'CwdChanged', from, to: agent.bench.cwd() }, signal);
  await watchPaths(agent, verdict);
}
