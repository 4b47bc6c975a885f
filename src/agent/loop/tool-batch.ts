import { isRefusal, type Stop } from '../../hooks/decision.ts';
import type { ToolResult } from '../../hooks/faces/faces.ts';
import type { TextBlock, ToolResultBlock, ToolUseBlock } from '../../sessions/messages.ts';
import type { Agent } from '../agent.ts';
import { type CallReport, type Gate, gateCall, runCall } from './tool-call.ts';
import { createFailedOutput } from '../tools/tool.ts';
import { canRunInParallel } from '../tools/prepare-tool-call.ts';
import {
  escapeReminderTags,
  formatReminder,
  formatContexts,
  joinReasons,
} from '../conversation/hook-messages.ts';

/** How the calls of one turn ended. */
export type BatchEnd =
  | { readonly kind: 'go-on' }
  /** A tool says that the run is done. */
  | { readonly kind: 'done'; readonly text: string }
  | { readonly kind: 'stop'; readonly reason: string }
  | { readonly kind: 'loop'; readonly reason: string }
  | { readonly kind: 'deferred'; readonly call: ToolUseBlock };

/** Runs all calls of one turn and answers each; the only place where PostToolBatch is fired. */
export async function runBatch(
  agent: Agent,
  calls: readonly ToolUseBlock[],
  signal: AbortSignal,
): Promise<BatchEnd> {
  const reports: CallReport[] = [];
  // Only the session itself can be resumed, not a sub-agent of it.
  const isResumable = agent.facts.parentId === null && agent.world.person === null;
  const mayDefer = calls.length === 1 && isResumable;
  let stop: Stop | null = null;
  for (const group of groupsOf(agent, calls)) {
    if (stop !== null) {
      const { reason, pending } = stop;
      reports.push(...group.map((call) => leaveOut(agent, call, { reason, pending })));
      continue;
    }
    const done: Awaited<ReturnType<typeof runGroup>> = await runGroup(agent, group, {
      mayDefer,
      signal,
    });
    if (!Array.isArray(done)) return { kind: 'deferred', call: done.call };
    reports.push(...done);
    stop = done.find((report) => report.stop !== null)?.stop ?? null;
  }
  return endBatch(agent, { reports, stop }, signal);
}

/** Calls that only look run side by side; all others run alone, in their order. */
function groupsOf(agent: Agent, calls: readonly ToolUseBlock[]): readonly ToolUseBlock[][] {
  const groups: ToolUseBlock[][] = [];
  let isOpen = false;
  for (const call of calls) {
    const isBeside = canRunInParallel(call, agent.tools);
    if (isBeside && isOpen) groups.at(-1)?.push(call);
    else groups.push([call]);
    isOpen = isBeside;
  }
  return groups;
}

interface GroupOptions {
  readonly mayDefer: boolean;
  readonly signal: AbortSignal;
}

async function runGroup(
  agent: Agent,
  group: readonly ToolUseBlock[],
  { mayDefer, signal }: GroupOptions,
): Promise<CallReport[] | Extract<Gate, { kind: 'deferred' }>> {
  const gates: DecidedGate[] = [];
  for (const call of group) {
    const gate = await gateCall(agent, { call, mayDefer, signal });
    if (gate.kind === 'deferred') return gate;
    gates.push(gate);
    if (stopOf(gate) !== null) break;
  }
  const last = gates.at(-1);
  const stop = last === undefined ? null : stopOf(last);
  if (stop?.pending === 'skip') return closeGroup(agent, { group, gates, stop });
  const done = await Promise.all(gates.map((gate) => finish(agent, gate, signal)));
  if (stop === null) return done;
  return [...done, ...group.slice(gates.length).map((call) => leaveOut(agent, call, stop))];
}

function stopOf(gate: DecidedGate): Stop | null {
  return gate.kind === 'open' ? gate.pass.stop : gate.report.stop;
}

type DecidedGate = Exclude<Gate, { kind: 'deferred' }>;

interface ClosedGroup {
  readonly group: readonly ToolUseBlock[];
  readonly gates: readonly DecidedGate[];
  readonly stop: Stop;
}

/** A stop that skips lets nothing run that has not run yet, not even what had passed its gates. */
function closeGroup(agent: Agent, { group, gates, stop }: ClosedGroup): CallReport[] {
  return group.map((call, index) => {
    const gate = gates[index];
    if (gate?.kind === 'closed') return answered(agent, gate.report);
    return leaveOut(agent, call, stop);
  });
}

async function finish(agent: Agent, gate: DecidedGate, signal: AbortSignal): Promise<CallReport> {
  if (gate.kind === 'closed') return answered(agent, gate.report);
  return answered(agent, await runCall(agent, gate.pass, signal));
}

function leaveOut(agent: Agent, call: ToolUseBlock, stop: Stop): CallReport {
  const output = createFailedOutput(`Not run, because a hook stopped the run: ${stop.reason}`);
  return answered(agent, {
    call,
    input: call.input,
    output,
    durationMs: 0,
    deniedBy: 'hook',
    reminders: [],
    stop,
  });
}

/** Writes the answer into the conversation as soon as there is one. */
function answered(agent: Agent, report: CallReport): CallReport {
  const { call, input, output, durationMs, deniedBy } = report;
  agent.tell({
    type: 'tool-end',
    callId: call.id,
    tool: call.name,
    input,
    output,
    durationMs,
    deniedBy,
  });
  agent.conversation.add(
    { role: 'user', content: [resultBlock(report), ...report.reminders.map(textBlock)] },
    { toolUseResult: output.response ?? (output.success ? output.text : `Error: ${output.text}`) },
  );
  return report;
}

function textBlock(text: string): TextBlock {
  return { type: 'text', text };
}

function resultBlock({ call, output }: CallReport): ToolResultBlock {
  const { images = [] } = output;
  const text = escapeReminderTags(textForModel(output));
  return {
    type: 'tool_result',
    tool_use_id: call.id,
    content: images.length === 0 ? text : [...(text === '' ? [] : [textBlock(text)]), ...images],
    ...(output.success ? {} : { is_error: true }),
  };
}

function textForModel({ success, text, error }: ToolResult): string {
  return success ? text : (error ?? text);
}

async function endBatch(
  agent: Agent,
  { reports, stop }: { reports: readonly CallReport[]; stop: Stop | null },
  signal: AbortSignal,
): Promise<BatchEnd> {
  const calls = reports.map(({ call, output }) => ({
    callId: call.id,
    name: call.name,
    input: call.input,
    answer: textForModel(output),
    ...(output.parts === undefined ? {} : { answers: output.parts.map(textForModel) }),
  }));
  const verdict = await agent.fire({ name: 'PostToolBatch', calls }, signal);
  agent.waiting.push(...formatContexts(verdict, { event: 'PostToolBatch', subject: null }));
  if (stop !== null) return { kind: 'stop', reason: stop.reason };
  if (verdict.stop !== null) return { kind: 'stop', reason: verdict.stop.reason };
  if (isRefusal(verdict.effect)) {
    return {
      kind: 'stop',
      reason: joinReasons(verdict, 'a hook of PostToolBatch stopped the run'),
    };
  }
  const done = reports.find(({ output }) => output.success && output.finalAnswer !== undefined);
  if (done?.output.finalAnswer !== undefined) {
    return { kind: 'done', text: done.output.finalAnswer };
  }
  return watchForLoops(agent, reports);
}

function watchForLoops(agent: Agent, reports: readonly CallReport[]): BatchEnd {
  for (const { call, output } of reports) {
    const answer = textForModel(output);
    const { name, input } = call;
    const ruling = agent.loopGuard.observe({ name, input, answer, success: output.success });
    if (ruling.kind === 'end') return { kind: 'loop', reason: ruling.reason };
    if (ruling.kind === 'warn') {
      agent.waiting.push(formatReminder(ruling.text));
    }
  }
  const turn = { allFailed: reports.every(({ output }) => !output.success) };
  const ruling = agent.loopGuard.endTurn(turn);
  return ruling.kind === 'end' ? { kind: 'loop', reason: ruling.reason } : { kind: 'go-on' };
}
