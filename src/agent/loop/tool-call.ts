import { dropUndefined } from '../../base/defined.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { isNestedTooDeep, MAX_NESTING, isRecord } from '../../base/json.ts';
import { isRefusal, listRefusingHooks, type Stop, type Verdict } from '../../hooks/decision.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import type {
  GitProfile,
  PermissionRuling,
  ProgramFiles,
  SandboxAccess,
} from '../../permissions/permissions.ts';
import type { ToolUseBlock } from '../../sessions/messages.ts';
import type { Agent } from '../agent.ts';
import { requestApproval, requestHookApproval, findStrictestRuling } from './approval.ts';
import { fireInBackground, watchPaths, announceInstructions } from './background-events.ts';
import { applyHookOutputs } from '../conversation/hook-changes.ts';
import {
  formatHookMessage,
  formatContexts,
  formatDenial,
  formatObjections,
  joinReasons,
  findReasonAsResult,
} from '../conversation/hook-messages.ts';
import type { DeniedBy, DeniedQuestion } from '../runtime-event.ts';
import { MutableInput } from './mutable-input.ts';
import {
  removeHookFields,
  type PreparedToolCall,
  prepareToolCall,
  toToolFacts,
} from '../tools/prepare-tool-call.ts';
import { createFailedOutput, type RunningCall, type ToolOutput } from '../tools/tool.ts';
import { formatInstruction } from '../instructions/system-prompt.ts';

/** The result of one call. */
export interface CallReport {
  readonly call: ToolUseBlock;
  /** As it was run, after rewrites. */
  readonly input: unknown;
  readonly output: ToolOutput;
  readonly durationMs: number;
  readonly deniedBy: DeniedBy | null;
  /** The hooks that refused it. */
  readonly deniedByHooks?: readonly string[];
  readonly question: DeniedQuestion | null;
  /** Texts of hooks about it, for the model. */
  readonly reminders: readonly string[];
  /** Set when the run ends after it. */
  readonly stop: Stop | null;
}

/** A call after its checks: it may run, it is answered already, or a later run decides it. */
export type CheckedCall =
  | { readonly kind: 'open'; readonly runnable: RunnableCall }
  | ClosedCall
  | { readonly kind: 'deferred'; readonly call: ToolUseBlock };

interface ClosedCall {
  readonly kind: 'closed';
  readonly report: CallReport;
}

interface RunnableCall {
  readonly call: ToolUseBlock;
  readonly prepared: PreparedToolCall;
  readonly reminders: readonly string[];
  readonly stop: Stop | null;
  /** Absent when a user or a rule allowed the call. */
  readonly gitProfile?: GitProfile | undefined;
  /** The files of programs that nobody was asked about. */
  readonly programFiles?: ProgramFiles | undefined;
  /** What the user allowed to open for it. */
  readonly sandboxAccess?: SandboxAccess | undefined;
}

/**
 * Asks hooks, rules and the user about a call; the only place where PreToolUse is fired. `mayDefer`
 * when the call may be left undecided: it is alone, and there is no user.
 */
export async function checkCall(
  agent: Agent,
  call: ToolUseBlock,
  mayDefer: boolean,
  signal: AbortSignal,
): Promise<CheckedCall> {
  agent.pendingCalls.set(call.id, { name: call.name, input: call.input });
  agent.turn.toolCalls += 1;
  if (!agent.session.checksWholeTurn) {
    agent.emit({ type: 'tool-start', callId: call.id, tool: call.name, input: call.input });
  }
  const prepared = prepareInput(agent, call, removeHookFields(call, agent.tools));
  if (typeof prepared === 'string') {
    return createFailedCall(call, prepared);
  }
  const facts = { ...toToolFacts(call, prepared), handed: new MutableInput() };
  const verdict = await agent.fire({ name: 'PreToolUse', ...facts }, signal);
  agent.pendingCalls.set(call.id, { name: call.name, input: verdict.input ?? call.input });
  const subject = prepared.toolName;
  const reminders = formatContexts(verdict, { event: 'PreToolUse', subject });
  const hooked: HookedCall = { call, prepared, verdict, reminders, signal };
  if (isRefusal(verdict.effect)) {
    const reason = findReasonAsResult(verdict);
    if (reason !== null) {
      return denyCall(agent, hooked, reason, 'hook', createReasonOutput(reason));
    }
    return denyCall(agent, hooked, formatDenial(verdict, subject), 'hook');
  }
  const final = verdict.input === null ? prepared : prepareInput(agent, call, verdict.input);
  if (typeof final === 'string') {
    const text = formatHookMessage({ kind: 'bad-rewrite', tool: subject, problem: final });
    return denyCall(agent, hooked, text, 'hook');
  }
  if (verdict.effect === 'defer' && mayDefer) return { kind: 'deferred', call };
  return applyPermissions(agent, { ...hooked, prepared: final }, signal);
}

/** A call with the verdict of its PreToolUse hooks. */
interface HookedCall {
  readonly call: ToolUseBlock;
  readonly prepared: PreparedToolCall;
  readonly verdict: Verdict;
  readonly reminders: readonly string[];
  readonly signal: AbortSignal;
}

async function applyPermissions(
  agent: Agent,
  hooked: HookedCall,
  signal: AbortSignal,
): Promise<CheckedCall> {
  const { call, prepared, verdict, reminders } = hooked;
  const ruling = await findStrictestRuling(agent, prepared);
  const isAskedByHook = verdict.effect === 'ask' || verdict.effect === 'defer';
  const isAllowedByHook = verdict.effect === 'allow' && ruling.isOverridable;
  if (ruling.effect === 'deny' && !isAllowedByHook) {
    return denyCall(agent, hooked, ruling.reason, 'rule');
  }
  const runnable: RunnableCall = { call, prepared, reminders, stop: verdict.stop };
  const isOpen = !isAskedByHook && (ruling.effect === 'allow' || isAllowedByHook);
  const isQuestion = prepared.kind === 'ask' && verdict.effect !== 'allow';
  if (isOpen && !isQuestion) {
    const { gitProfile, programFiles } = ruling;
    return { kind: 'open', runnable: { ...runnable, gitProfile, programFiles } };
  }
  const reason = isAskedByHook ? formatHookQuestion(hooked, ruling) : ruling.reason;
  const by = isAskedByHook ? 'hook' : 'rule';
  const undecided = { call, prepared, reason, by, ruling } as const;
  const answer = isOpen
    ? await requestHookApproval(agent, undecided, signal)
    : await requestApproval(agent, undecided, signal);
  if (answer.kind === 'granted') {
    const { sandboxAccess } = ruling;
    return { kind: 'open', runnable: { ...runnable, prepared: answer.prepared, sandboxAccess } };
  }
  const denied = await denyCall(agent, withStop(hooked, answer.stop), answer.reason, answer.by);
  return { ...denied, report: { ...denied.report, question: answer.question } };
}

/** What the sandbox would be opened for is part of every question. */
function formatHookQuestion(
  { verdict, prepared }: HookedCall,
  { sandboxAccess, reason }: PermissionRuling,
): string {
  const asked = joinReasons(verdict) || `a hook wants ${prepared.toolName} to be approved`;
  return sandboxAccess === undefined ? asked : `${asked} ${reason}`;
}

function withStop(hooked: HookedCall, stop: Stop | null): HookedCall {
  return stop === null ? hooked : { ...hooked, verdict: { ...hooked.verdict, stop } };
}

/** The reason of a denial as the result of the call, which has failed. */
function createReasonOutput(reason: string): ToolOutput {
  const response = { error: reason };
  const failed = createFailedOutput(JSON.stringify(response));
  return { ...failed, text: reason, response, replaced: true };
}

/** PostToolUseFailure with `denied` reaches plugins only. `output` is what the model reads. */
async function denyCall(
  agent: Agent,
  hooked: HookedCall,
  error: string,
  by: DeniedBy,
  output: ToolOutput = createFailedOutput(error),
): Promise<ClosedCall> {
  const { call, prepared, verdict, reminders, signal } = hooked;
  const { input } = prepared;
  agent.denials.push({ callId: call.id, tool: prepared.toolName, input, reason: error });
  const facts = {
    ...toToolFacts(call, prepared),
    result: createFailedOutput(error),
    durationMs: 0,
    denied: true,
  };
  const verdictAfter = await agent.fire({ name: 'PostToolUseFailure', ...facts }, signal);
  const after = applyPostVerdicts(agent, [verdictAfter], { output, prepared });
  return {
    kind: 'closed',
    report: {
      call,
      input,
      output: after.output,
      durationMs: 0,
      deniedBy: by,
      ...(by === 'hook' ? { deniedByHooks: listRefusingHooks(verdict) } : {}),
      question: null,
      reminders: [...reminders, ...after.reminders],
      stop: verdict.stop ?? after.stop,
    },
  };
}

function createFailedCall(call: ToolUseBlock, error: string): CheckedCall {
  const output = createFailedOutput(error);
  const { input } = call;
  return {
    kind: 'closed',
    report: {
      call,
      input,
      output,
      durationMs: 0,
      deniedBy: null,
      question: null,
      reminders: [],
      stop: null,
    },
  };
}

function prepareInput(
  agent: Agent,
  { name }: ToolUseBlock,
  input: unknown,
): PreparedToolCall | string {
  if (typeof input === 'string') {
    return `The arguments of ${name} are not valid JSON: ${input.slice(0, 500)}`;
  }
  if (isNestedTooDeep(input)) {
    return `The arguments of ${name} are nested deeper than ${MAX_NESTING} levels.`;
  }
  const { toolContext, tools, session } = agent;
  const listOfferedNames = (): readonly string[] =>
    session.listSpecs(tools).map((spec) => spec.name);
  return prepareToolCall(
    { name, input },
    { context: toolContext, tools, modelToolNames: listOfferedNames },
  );
}

/** Runs a call that passed its checks, and fires PostToolUse or PostToolUseFailure. */
export async function runCall(
  agent: Agent,
  { call, prepared, reminders, stop, gitProfile, programFiles, sandboxAccess }: RunnableCall,
  signal: AbortSignal,
): Promise<CallReport> {
  const { session, toolContext } = agent;
  const before = toolContext.cwd();
  const startedAt = session.clock.elapsed();
  const done = await runTool(prepared, {
    callId: call.id,
    signal,
    onProgress: (text) => agent.emit({ type: 'tool-delta', callId: call.id, text }),
    ...dropUndefined({ gitProfile, programFiles, sandboxAccess }),
  });
  const durationMs = Math.round(session.clock.elapsed() - startedAt);
  agent.toolCalls += 1;
  const finished = { call, prepared, output: done, durationMs, movedFrom: before };
  const after = await fireAfterCall(agent, finished, signal);
  const nested = done.success ? await loadNestedInstructions(agent, prepared) : [];
  return {
    call,
    input: prepared.input,
    output: after.output,
    durationMs,
    deniedBy: null,
    question: null,
    reminders: [...reminders, ...after.reminders, ...agent.fileNotes.splice(0), ...nested],
    stop: stop ?? after.stop,
  };
}

/** A tool must not throw; one that does has failed. */
async function runTool(prepared: PreparedToolCall, running: RunningCall): Promise<ToolOutput> {
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
  /** The working directory before the call. */
  readonly movedFrom: string;
}

type ReportedCall = Pick<CallReport, 'output' | 'reminders' | 'stop'>;

/** The result is kept also when an abort ends the hooks that are asked about it. */
async function fireAfterCall(
  agent: Agent,
  done: DoneCall,
  signal: AbortSignal,
): Promise<ReportedCall> {
  const unreported = { output: done.output, reminders: [], stop: null };
  if (signal.aborted) {
    // Hooks get the event of the interrupted call, and the abort waits for none of them.
    for (const event of listPostEvents(done)) fireInBackground(agent, event);
    return unreported;
  }
  try {
    const reported = await firePostEvents(agent, done, signal);
    const { movedFrom } = done;
    if (agent.toolContext.cwd() !== movedFrom) await fireCwdChanged(agent, movedFrom, signal);
    return reported;
  } catch (error) {
    if (!signal.aborted) throw error;
    return unreported;
  }
}

async function firePostEvents(
  agent: Agent,
  done: DoneCall,
  signal: AbortSignal,
): Promise<ReportedCall> {
  const verdicts: Verdict[] = [];
  for (const event of listPostEvents(done)) verdicts.push(await agent.fire(event, signal));
  return applyPostVerdicts(agent, verdicts, done);
}

/** Parts of one call may end differently, so that both events may be fired. */
function listPostEvents({ call, prepared, output, durationMs }: DoneCall): readonly FiredEvent[] {
  const facts = { ...toToolFacts(call, prepared), result: output, durationMs };
  const interrupted = output.interrupted === true;
  const hasWorked = output.success || output.parts?.some(({ success }) => success) === true;
  return [
    ...(hasWorked ? [{ name: 'PostToolUse', ...facts } as const] : []),
    ...(output.success ? [] : [{ name: 'PostToolUseFailure', ...facts, interrupted } as const]),
  ];
}

function applyPostVerdicts(
  { toolContext }: Agent,
  verdicts: readonly Verdict[],
  { output, prepared }: Pick<DoneCall, 'output' | 'prepared'>,
): ReportedCall {
  const subject = prepared.toolName;
  return {
    output: applyHookOutputs(output, verdicts, prepared.parts, toolContext.spillDirectory),
    reminders: verdicts.flatMap((verdict) => {
      const at = { event: verdict.event, subject };
      const objections = isRefusal(verdict.effect) ? formatObjections(verdict, at) : [];
      return [...objections, ...formatContexts(verdict, at)];
    }),
    stop: verdicts.find(({ stop }) => stop !== null)?.stop ?? null,
  };
}

async function fireCwdChanged(agent: Agent, from: string, signal: AbortSignal): Promise<void> {
  const verdict = await agent.fire(
    { name: 'CwdChanged', from, to: agent.toolContext.cwd() },
    signal,
  );
  await watchPaths(agent, verdict);
}

/** Loads the instructions for files that were just read. */
async function loadNestedInstructions(
  agent: Agent,
  { parts }: PreparedToolCall,
): Promise<readonly string[]> {
  const read = parts
    .filter(({ name }) => name === 'Read')
    .flatMap(({ input }) => readFilePath(input));
  const texts: string[] = [];
  for (const file of read) {
    const { instructions, notes } = await agent.session.fileInstructions.loadForFile(
      file,
      agent.facts.id,
    );
    announceInstructions(agent, instructions);
    texts.push(...instructions.map(formatInstruction));
    for (const text of notes) agent.emit({ type: 'notice', level: 'warning', text });
  }
  return texts;
}

function readFilePath(input: unknown): readonly string[] {
  const file = isRecord(input) ? input['file_path'] : undefined;
  return typeof file === 'string' ? [file] : [];
}
