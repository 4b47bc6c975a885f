import { randomUUID } from 'node:crypto';
import { getErrorMessage } from '../../base/errors.ts';
import { isRefusal } from '../../hooks/decision.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import { formatHookMessage, formatContexts, joinReasons } from '../conversation/hook-messages.ts';
import { type ExpandedCommand, expandCommand } from '../instructions/commands.ts';
import { acceptPrompt, addPrompt } from '../loop/steering.ts';
import type { PreparedSession } from './prepare-session.ts';
import { abortedBecause } from '../loop/ending.ts';
import { endWithoutRun, endWithReply, run, whatWentWrong } from '../run.ts';
import type { RunResult } from '../runtime-event.ts';

/**
 * From what a person typed to the end of the run; the only place where TaskStart, TaskResume and
 * UserPromptExpansion are fired.
 */
export async function runPrompt(
  prepared: PreparedSession,
  text: string | null,
  signal: AbortSignal,
): Promise<RunResult> {
  const { initialMessages } = prepared;
  for (let first = initialMessages.shift(); first !== undefined; first = initialMessages.shift()) {
    const result = await runSafely(prepared, first, signal);
    if (text === null || result.status === 'aborted') return result;
  }
  return runSafely(prepared, text, signal);
}

/** How it went is the result, whatever happens. */
async function runSafely(
  prepared: PreparedSession,
  text: string | null,
  signal: AbortSignal,
): Promise<RunResult> {
  try {
    return await runOne(prepared, text, signal);
  } catch (error) {
    const { agent } = prepared;
    if (signal.aborted) return endWithoutRun(agent, 'aborted', abortedBecause(signal));
    return endWithoutRun(agent, 'failed', whatWentWrong(error));
  }
}

async function runOne(
  prepared: PreparedSession,
  typed: string | null,
  signal: AbortSignal,
): Promise<RunResult> {
  const { agent } = prepared;
  await prepared.beforeRun();
  const answer = typed === null ? null : await prepared.answerCommand(typed, signal);
  // A command that has its answer is no task, so that nobody is told of one.
  if (answer !== null && answer.prompt === null) return endWithReply(agent, answer.reply ?? '');
  const reply = answer?.reply ?? null;
  if (reply !== null) agent.tell({ type: 'reply', text: reply, isAll: false });
  const text = answer?.prompt ?? typed;
  if (text !== null) agent.promptId = randomUUID();
  const refusal = await beginTask(prepared, text, signal);
  if (refusal !== null) return endWithoutRun(agent, 'refused', refusal);
  if (text === null) return goOn(prepared, null, signal);
  const accepted = await acceptPrompt(agent, text, signal);
  if (accepted.kind === 'refused') {
    const { reason, isShown } = accepted;
    return endWithoutRun(
      agent,
      'refused',
      refusedText('UserPromptSubmit', reason, isShown ? text : null),
    );
  }
  if (accepted.kind === 'stopped') {
    addPrompt(agent, accepted.prompt);
    const reason = formatHookMessage({ kind: 'stopped-prompt', reason: accepted.reason });
    return endWithoutRun(agent, 'stopped_by_hook', reason);
  }
  if (accepted.title !== null) prepared.rename(accepted.title);
  const expanded = await expand(prepared, accepted.prompt, signal);
  if (expanded.refusal !== null) return endWithoutRun(agent, 'refused', expanded.refusal);
  return goOn(prepared, expanded.prompt, signal);
}

/** What an earlier run left undecided is taken up only by one that really begins. */
async function goOn(
  prepared: PreparedSession,
  prompt: string | null,
  signal: AbortSignal,
): Promise<RunResult> {
  const result = await run(prepared.agent, { prompt, deferred: prepared.takeDeferred(), signal });
  if (result.deferred !== null) prepared.leaveDeferred({ type: 'tool_use', ...result.deferred });
  return result;
}

function refusedText(
  event: 'UserPromptSubmit' | 'UserPromptExpansion',
  reason: string,
  prompt: string | null,
): string {
  return formatHookMessage({ kind: 'refused-prompt', event, reason, prompt });
}

/** The first prompt begins a task, or takes one up again. A string says why not. */
async function beginTask(
  prepared: PreparedSession,
  prompt: string | null,
  signal: AbortSignal,
): Promise<string | null> {
  const { agent } = prepared;
  const event = prepared.takeTaskEvent(prompt);
  if (event === null) return null;
  let isBegun = false;
  try {
    const verdict = await agent.fire(event, signal);
    if (verdict.stop !== null) return verdict.stop.reason;
    if (isRefusal(verdict.effect)) {
      return joinReasons(verdict, `a hook of ${event.name} refused the task`);
    }
    agent.waiting.push(...formatContexts(verdict, { event: event.name, subject: null }));
    isBegun = true;
    return null;
  } finally {
    if (!isBegun) prepared.giveBackTaskEvent();
  }
}

type Expansion =
  | { readonly refusal: null; readonly prompt: string }
  | { readonly refusal: string; readonly prompt: null };

async function expand(
  { agent, commands, noteCommand }: PreparedSession,
  prompt: string,
  signal: AbortSignal,
): Promise<Expansion> {
  const found = expandCommand(prompt, commands);
  if (found === null) return { refusal: null, prompt };
  if (found.kind === 'unknown') return { refusal: unknownCommand(found), prompt: null };
  const event: FiredEvent<'UserPromptExpansion'> = {
    name: 'UserPromptExpansion',
    prompt,
    command: found.command,
    commandArguments: found.args,
    kind: found.fetch === undefined ? 'slash_command' : 'mcp_prompt',
    commandSource: found.source,
  };
  const verdict = await agent.fire(event, signal);
  for (const text of found.notes) agent.tell({ type: 'notice', level: 'warning', text });
  if (isRefusal(verdict.effect) || verdict.stop !== null) {
    const reason = verdict.stop?.reason ?? joinReasons(verdict, 'Blocked by hook');
    const isShown = verdict.changes['suppressPrompt'] !== true;
    const refusal = refusedText('UserPromptExpansion', reason, isShown ? prompt : null);
    return { refusal, prompt: null };
  }
  noteCommand(found.command);
  const at = { event: 'UserPromptExpansion', subject: null };
  agent.waiting.push(...formatContexts(verdict, at));
  return commandText(found, signal);
}

/** A server's prompt is asked for once hooks have let it pass. */
async function commandText(
  { fetch, text, args, command }: ExpandedCommand,
  signal: AbortSignal,
): Promise<Expansion> {
  try {
    return { refusal: null, prompt: fetch === undefined ? text : await fetch(args, signal) };
  } catch (error) {
    signal.throwIfAborted();
    return { refusal: `/${command} could not be had: ${getErrorMessage(error)}`, prompt: null };
  }
}

function unknownCommand({ command, closest }: { command: string; closest: string | null }): string {
  const meant = closest === null ? '' : ` Did you mean /${closest}?`;
  return `There is no command /${command}.${meant}`;
}
