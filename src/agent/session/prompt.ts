import { randomUUID } from 'node:crypto';
import { getErrorMessage } from '../../base/errors.ts';
import { isRefusal } from '../../hooks/decision.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import { formatHookMessage, formatContexts, joinReasons } from '../conversation/hook-messages.ts';
import { type ExpandedCommand, expandCommand } from '../instructions/commands.ts';
import { addStoppedPrompt, formatStoppedPrompt, submitPrompt } from '../loop/steering.ts';
import type { PreparedSession } from './prepare-session.ts';
import { formatAbortReason } from '../loop/ending.ts';
import { endWithoutRun, endWithReply, run, formatRunError } from '../run.ts';
import type { RunResult } from '../runtime-event.ts';

/**
 * Runs a prompt from the user's text to the end of the run; the only place where TaskStart, TaskResume and
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

/** An error becomes the result of the run. */
async function runSafely(
  prepared: PreparedSession,
  text: string | null,
  signal: AbortSignal,
): Promise<RunResult> {
  try {
    return await runTypedPrompt(prepared, text, signal);
  } catch (error) {
    const { agent } = prepared;
    if (signal.aborted) return endWithoutRun(agent, 'aborted', formatAbortReason(signal));
    return endWithoutRun(agent, 'failed', formatRunError(error));
  }
}

async function runTypedPrompt(
  prepared: PreparedSession,
  typed: string | null,
  signal: AbortSignal,
): Promise<RunResult> {
  const { agent } = prepared;
  await prepared.beforeRun();
  const answer = typed === null ? null : await prepared.answerCommand(typed, signal);
  // A command that was answered is no task, so that no TaskStart is fired.
  if (answer !== null && answer.prompt === null) return endWithReply(agent, answer.reply ?? '');
  const reply = answer?.reply ?? null;
  if (reply !== null) agent.emit({ type: 'reply', text: reply, isAll: false });
  const text = answer?.prompt ?? typed;
  if (text !== null) agent.promptId = randomUUID();
  const refusal = await beginTask(prepared, text, signal);
  if (refusal !== null) return endWithoutRun(agent, 'refused', refusal);
  if (text === null) return continueRun(prepared, null, signal);
  const accepted = await submitPrompt(agent, text, signal);
  if (accepted.kind === 'refused') {
    const { reason, isShown } = accepted;
    return endWithoutRun(
      agent,
      'refused',
      formatRefusal('UserPromptSubmit', reason, isShown ? text : null),
    );
  }
  if (accepted.kind === 'stopped') {
    addStoppedPrompt(agent, accepted);
    return endWithoutRun(agent, 'stopped_by_hook', formatStoppedPrompt(accepted.reason));
  }
  if (accepted.title !== null) prepared.task.rename(accepted.title);
  const expanded = await expandPrompt(prepared, accepted.prompt, signal);
  if (expanded.refusal !== null) return endWithoutRun(agent, 'refused', expanded.refusal);
  return continueRun(prepared, expanded.prompt, signal);
}

/** The undecided call of an earlier run is taken only by a run that really begins. */
async function continueRun(
  prepared: PreparedSession,
  prompt: string | null,
  signal: AbortSignal,
): Promise<RunResult> {
  const { agent, task } = prepared;
  const result = await run(agent, prompt, task.takeDeferred(), signal);
  if (result.deferred !== null) task.deferCall({ type: 'tool_use', ...result.deferred });
  return result;
}

function formatRefusal(
  event: 'UserPromptSubmit' | 'UserPromptExpansion',
  reason: string,
  prompt: string | null,
): string {
  return formatHookMessage({ kind: 'refused-prompt', event, reason, prompt });
}

/** The first prompt begins or resumes a task. Returns why not, or null. */
async function beginTask(
  prepared: PreparedSession,
  prompt: string | null,
  signal: AbortSignal,
): Promise<string | null> {
  const { agent } = prepared;
  const event = prepared.task.takeEvent(prompt);
  if (event === null) return null;
  let isBegun = false;
  try {
    const verdict = await agent.fire(event, signal);
    if (verdict.stop !== null) return verdict.stop.reason;
    if (isRefusal(verdict.effect)) {
      return joinReasons(verdict);
    }
    agent.pendingContext.push(...formatContexts(verdict, { event: event.name, subject: null }));
    isBegun = true;
    return null;
  } finally {
    if (!isBegun) prepared.task.returnEvent();
  }
}

type Expansion =
  | { readonly refusal: null; readonly prompt: string }
  | { readonly refusal: string; readonly prompt: null };

async function expandPrompt(
  { agent, commands, noteCommand }: PreparedSession,
  prompt: string,
  signal: AbortSignal,
): Promise<Expansion> {
  const found = expandCommand(prompt, commands);
  if (found === null) return { refusal: null, prompt };
  if (found.kind === 'unknown') return { refusal: formatUnknownCommand(found), prompt: null };
  const event: FiredEvent<'UserPromptExpansion'> = {
    name: 'UserPromptExpansion',
    prompt,
    command: found.command,
    commandArguments: found.args,
    kind: found.fetch === undefined ? 'slash_command' : 'mcp_prompt',
    commandSource: found.source,
  };
  const verdict = await agent.fire(event, signal);
  for (const text of found.notes) agent.emit({ type: 'notice', level: 'warning', text });
  if (isRefusal(verdict.effect) || verdict.stop !== null) {
    const reason = verdict.stop?.reason ?? joinReasons(verdict);
    const isShown = verdict.changes['suppressPrompt'] !== true;
    const refusal = formatRefusal('UserPromptExpansion', reason, isShown ? prompt : null);
    return { refusal, prompt: null };
  }
  noteCommand(found.command);
  const at = { event: 'UserPromptExpansion', subject: null };
  agent.pendingContext.push(...formatContexts(verdict, at));
  return fetchCommandText(found, signal);
}

/** A prompt of an MCP server is fetched only after hooks allowed it. */
async function fetchCommandText(
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

function formatUnknownCommand({
  command,
  closest,
}: {
  command: string;
  closest: string | null;
}): string {
  const suggestion = closest === null ? '' : ` Did you mean /${closest}?`;
  return `Unknown command /${command}.${suggestion}`;
}
