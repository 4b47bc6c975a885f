import { dropUndefined } from '../../base/defined.ts';
import { isRecord } from '../../base/json.ts';
import { isRefusal, type Stop } from '../../hooks/decision.ts';
import type { ToolResult } from '../../tool-vocabularies/tool-views.ts';
import type { TextBlock, ToolResultBlock, ToolUseBlock } from '../../sessions/messages.ts';
import type { Agent } from '../agent.ts';
import type { CallOutcome } from './loop-guard.ts';
import { type CallReport, type CheckedCall, checkCall, runCall } from './tool-call.ts';
import { createFailedOutput, type ToolOutput } from '../tools/tool.ts';
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
  /** A tool declared the run done. */
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
  const isResumable = agent.facts.parentId === null && agent.session.person === null;
  const mayDefer = calls.length === 1 && isResumable;
  let stop: Stop | null = null;
  const checkedTogether = agent.session.checksWholeTurn ? [calls] : groupCalls(agent, calls);
  for (const group of checkedTogether) {
    if (stop !== null) {
      const { reason, pending } = stop;
      reports.push(...group.map((call) => skipCall(agent, call, { reason, pending })));
      continue;
    }
    const done: GroupResult = await checkAndRun(agent, group, mayDefer, signal);
    if (!Array.isArray(done)) return { kind: 'deferred', call: done.call };
    reports.push(...done);
    stop = done.find((report) => report.stop !== null)?.stop ?? null;
  }
  return endBatch(agent, { reports, stop }, signal);
}

/** Calls that only read run in parallel; all others run alone, in order. */
function groupCalls(agent: Agent, calls: readonly ToolUseBlock[]): readonly ToolUseBlock[][] {
  return groupByParallel(agent, calls, (call) => call);
}

function groupByParallel<Item>(
  agent: Agent,
  items: readonly Item[],
  getCall: (item: Item) => ToolUseBlock,
): readonly Item[][] {
  const groups: Item[][] = [];
  let isOpen = false;
  for (const item of items) {
    const isBeside = canRunInParallel(getCall(item), agent.tools);
    if (isBeside && isOpen) groups.at(-1)?.push(item);
    else groups.push([item]);
    isOpen = isBeside;
  }
  return groups;
}

type GroupResult = CallReport[] | Extract<CheckedCall, { kind: 'deferred' }>;

/** Checks all calls of the group, then runs those that may run. */
async function checkAndRun(
  agent: Agent,
  group: readonly ToolUseBlock[],
  mayDefer: boolean,
  signal: AbortSignal,
): Promise<GroupResult> {
  const checked: DecidedCall[] = [];
  for (const call of group) {
    const result = await checkCall(agent, call, mayDefer, signal);
    if (result.kind === 'deferred') return result;
    checked.push(result);
    if (getStop(result) !== null) break;
  }
  const last = checked.at(-1);
  const stop = last === undefined ? null : getStop(last);
  if (stop?.pending === 'skip') return closeGroup(agent, group, checked, stop);
  const done = await runChecked(agent, checked, signal);
  if (stop === null) return done;
  return [...done, ...group.slice(checked.length).map((call) => skipCall(agent, call, stop))];
}

/** Runs checked calls; after one that ends the run, the others are skipped. */
async function runChecked(
  agent: Agent,
  checked: readonly DecidedCall[],
  signal: AbortSignal,
): Promise<CallReport[]> {
  const done: CallReport[] = [];
  for (const group of groupByParallel(agent, checked, getCall)) {
    const stop = done.find((report) => report.stop !== null)?.stop ?? null;
    const results =
      stop === null
        ? await Promise.all(group.map((each) => finishCall(agent, each, signal)))
        : group.map((each) => skipCall(agent, getCall(each), stop));
    done.push(...results);
  }
  return done;
}

function getCall(each: DecidedCall): ToolUseBlock {
  return each.kind === 'open' ? each.runnable.call : each.report.call;
}

function getStop(call: DecidedCall): Stop | null {
  return call.kind === 'open' ? call.runnable.stop : call.report.stop;
}

type DecidedCall = Exclude<CheckedCall, { kind: 'deferred' }>;

/** A stop that skips lets nothing run that has not run yet, not even calls that had passed their checks. */
function closeGroup(
  agent: Agent,
  group: readonly ToolUseBlock[],
  checked: readonly DecidedCall[],
  stop: Stop,
): CallReport[] {
  return group.map((call, index) => {
    const each = checked[index];
    if (each?.kind === 'closed') return recordResult(agent, each.report);
    return skipCall(agent, call, stop);
  });
}

async function finishCall(
  agent: Agent,
  each: DecidedCall,
  signal: AbortSignal,
): Promise<CallReport> {
  announceChecked(agent, getCall(each));
  if (each.kind === 'closed') return recordResult(agent, each.report);
  return recordResult(agent, await runCall(agent, each.runnable, signal));
}

/** Calls that were checked with others are announced when their turn comes. */
function announceChecked(agent: Agent, { id: callId, name: tool, input }: ToolUseBlock): void {
  if (!agent.session.checksWholeTurn) return;
  const decided = agent.pendingCalls.get(callId)?.input ?? input;
  agent.emit({ type: 'tool-start', callId, tool, input: decided, isChecked: true });
}

function skipCall(agent: Agent, call: ToolUseBlock, stop: Stop): CallReport {
  const output = createFailedOutput(`Not run, because a hook stopped the run: ${stop.reason}`);
  return recordResult(agent, {
    call,
    input: call.input,
    output,
    durationMs: 0,
    deniedBy: 'hook',
    question: null,
    reminders: [],
    stop,
  });
}

/** Adds a result to the conversation as soon as there is one. */
function recordResult(agent: Agent, report: CallReport): CallReport {
  const { call, input, output, durationMs, deniedBy, deniedByHooks, question } = report;
  agent.pendingCalls.delete(call.id);
  agent.emit({
    type: 'tool-end',
    callId: call.id,
    tool: call.name,
    input,
    output,
    durationMs,
    deniedBy,
    ...dropUndefined({ deniedByHooks }),
    question,
  });
  agent.conversation.add(
    { role: 'user', content: [toResultBlock(report), ...report.reminders.map(toTextBlock)] },
    { toolUseResult: output.response ?? (output.success ? output.text : `Error: ${output.text}`) },
  );
  return report;
}

function toTextBlock(text: string): TextBlock {
  return { type: 'text', text };
}

function toResultBlock({ call, output }: CallReport): ToolResultBlock {
  const text = escapeReminderTags(readResultText(output));
  return {
    type: 'tool_result',
    tool_use_id: call.id,
    content: joinContent(text, output),
    ...(output.success ? {} : { is_error: true }),
  };
}

function joinContent(text: string, { images = [] }: ToolOutput): ToolResultBlock['content'] {
  return images.length === 0 ? text : [...(text === '' ? [] : [toTextBlock(text)]), ...images];
}

/** The result as hooks of PostToolBatch read it: Claude Code has blocks where a tool returns blocks. */
function readAnswer(output: ToolOutput): unknown {
  const { success, response } = output;
  const text = readResultText(output);
  if (!success) return text;
  if (isBlockList(response)) return response;
  const isReport = isRecord(response) && isBlockList(response['content']);
  return isReport ? [toTextBlock(text)] : joinContent(text, output);
}

function isBlockList(value: unknown): value is readonly unknown[] {
  const isBlock = (each: unknown): boolean =>
    isRecord(each) && (each['type'] === 'text' || each['type'] === 'image');
  return Array.isArray(value) && value.length > 0 && value.every(isBlock);
}

function readResultText({ success, text, error, inOwnWords }: ToolResult): string {
  return success || inOwnWords === true ? text : (error ?? text);
}

async function endBatch(
  agent: Agent,
  { reports, stop }: { reports: readonly CallReport[]; stop: Stop | null },
  signal: AbortSignal,
): Promise<BatchEnd> {
  // As in Claude Code, a hook that ended the turn is the last one that is asked about it.
  if (stop !== null) return { kind: 'stop', reason: stop.reason };
  const calls = reports.map(({ call, output }) => ({
    callId: call.id,
    name: call.name,
    input: call.input,
    answer: readAnswer(output),
    ...dropUndefined({ answers: output.parts?.map(readAnswer) }),
  }));
  const verdict = await agent.fire({ name: 'PostToolBatch', calls }, signal);
  agent.pendingContext.push(...formatContexts(verdict, { event: 'PostToolBatch', subject: null }));
  if (verdict.stop !== null) return { kind: 'stop', reason: verdict.stop.reason };
  if (isRefusal(verdict.effect)) {
    return {
      kind: 'stop',
      reason: joinReasons(verdict),
    };
  }
  const done = reports.find(({ output }) => output.success && output.finalAnswer !== undefined);
  if (done?.output.finalAnswer !== undefined) {
    return { kind: 'done', text: done.output.finalAnswer };
  }
  return checkForLoops(agent, reports);
}

function checkForLoops(agent: Agent, reports: readonly CallReport[]): BatchEnd {
  for (const report of reports) {
    const { name, input } = report.call;
    const answer = readResultText(report.output);
    const outcome = getCallOutcome(report);
    const ruling = agent.loopGuard.observe({ name, input, answer, outcome });
    if (ruling.kind === 'end') return { kind: 'loop', reason: ruling.reason };
    if (ruling.kind === 'warn') {
      agent.pendingContext.push(formatReminder(ruling.text));
    }
  }
  const ruling = agent.loopGuard.endTurn(reports.map(getCallOutcome));
  return ruling.kind === 'end' ? { kind: 'loop', reason: ruling.reason } : { kind: 'go-on' };
}

/** A hook's question that nobody approved is a denial by that hook, too. */
function getCallOutcome({ output, deniedBy, question }: CallReport): CallOutcome {
  const isByHook = deniedBy === 'hook' || question?.askedBy === 'hook';
  if (isByHook || output.refusedByHook === true) return 'denied';
  return output.success ? 'success' : 'failure';
}
