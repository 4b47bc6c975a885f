import { setTimeout as pause } from 'node:timers/promises';
import { createInterruptedOutput } from '../../../agent/tools/define-tool.ts';
import {
  createFailedOutput,
  type PreparedCall,
  type RunningCall,
  type Tool,
  type ToolOutput,
} from '../../../agent/tools/tool.ts';
import type { ToolContext } from '../../../agent/tools/tool-context.ts';
import { isRecord } from '../../../base/json.ts';
import { startTimeLimit } from '../../../base/time-limit.ts';
import { waitOrAbort } from '../../../base/abort.ts';
import { reasonOf, shownText } from '../../../plugins/values/plain-value.ts';
import { joinTexts } from '../../../mcp/answer.ts';
import { withinBounds } from '../../../plugins/bounded.ts';
import type { AgentTool, AgentToolContext } from '../../../plugins/contract/tool.ts';
import { asItsOwn } from '../../../plugins/whose-work.ts';
import { extractImages, toShowableBlocks } from '../../mcp/tool-output.ts';
import type { CheckedInput, InputCheck } from './check-input.ts';
import { blocksIn, keptValue, outputText } from './output-text.ts';
import { isStream, readStream } from '../../../plugins/values/read-stream.ts';

export interface PluginToolMeans {
  /** Who brought it, for whoever tells of it. */
  readonly plugin: string;
  readonly check: (tool: AgentTool) => InputCheck;
  /** What a tool is told of the call that it runs for. */
  readonly context: (call: RunningCall) => AgentToolContext;
  /** Keeps what a tool says of how far it is, for whoever wants more than text. */
  readonly noteUpdate: (callId: string, update: unknown) => void;
}

/** A tool of a plugin as one of the agent's. */
export function toAgentTool(tool: AgentTool, means: PluginToolMeans): Tool {
  const input = means.check(tool);
  const description = fieldOf(tool, 'description');
  const isParallel = fieldOf(tool, 'executionMode') === 'parallel';
  return {
    name: tool.name,
    description: typeof description === 'string' ? shownText(description) : '',
    // Services want to hear it, also of a schema that says nothing else.
    schema: { type: 'object', ...input.schema },
    kind: 'execute',
    plugin: means.plugin,
    ...(isParallel ? { isParallel: true } : {}),
    prepare(given, bench) {
      // Hooks are shown what the model meant; what a schema makes of it is for the tool.
      const meant = input.read(given);
      const checked = checkSafely(input, meant);
      const calling = { tool, input, bench, means };
      if ('then' in checked) return prepared(meant, (call) => waitAndRun(call, calling, checked));
      if (!checked.ok) return wrongInput(tool, input, checked.problem);
      const { value } = checked;
      return prepared(meant, (call) => runTool({ ...calling, value, call }));
    },
  };
}

/** Tools may be plain JavaScript, whose getters throw. */
function fieldOf(tool: AgentTool, key: keyof AgentTool): unknown {
  try {
    return tool[key];
  } catch {
    return undefined;
  }
}

function prepared(meant: unknown, run: PreparedCall['run']): PreparedCall {
  return { input: isRecord(meant) ? meant : { input: meant }, run };
}

function checkSafely(input: InputCheck, meant: unknown): CheckedInput | Promise<CheckedInput> {
  const failed = (error: unknown): CheckedInput => ({ ok: false, problem: reasonOf(error) });
  try {
    const checked = input.check(meant);
    return 'then' in checked ? checked.catch(failed) : checked;
  } catch (error) {
    return failed(error);
  }
}

function wrongInput({ name }: AgentTool, { schema }: InputCheck, problem: string): string {
  const { required } = schema;
  const isTold = Array.isArray(required) && required.length > 0;
  const needs = isTold ? ` It needs ${required.join(', ')}.` : '';
  return `The input of ${name} does not fit its schema: ${problem}.${needs}`;
}

interface Calling {
  readonly tool: AgentTool;
  readonly input: InputCheck;
  readonly bench: ToolContext;
  readonly means: PluginToolMeans;
}

async function waitAndRun(
  call: RunningCall,
  calling: Calling,
  checking: Promise<CheckedInput>,
): Promise<ToolOutput> {
  const { tool, input } = calling;
  const bounds = { what: 'its schema', timeoutMs: timeoutOf(tool), signal: call.signal };
  try {
    const checked = await withinBounds(() => checking, bounds);
    if (!checked.ok) return createFailedOutput(wrongInput(tool, input, checked.problem));
    return await runTool({ ...calling, value: checked.value, call });
  } catch (error) {
    return call.signal.aborted
      ? createInterruptedOutput()
      : createFailedOutput(sayFailure(tool, error));
  }
}

const DEFAULT_TIMEOUT_MS = 30_000;

function timeoutOf(tool: AgentTool): number {
  const timeoutMs = fieldOf(tool, 'timeoutMs');
  return typeof timeoutMs === 'number' && timeoutMs > 0 ? timeoutMs : DEFAULT_TIMEOUT_MS;
}

function sayFailure({ name }: AgentTool, error: unknown): string {
  const reason = reasonOf(error);
  return reason.trim() === '' ? `${name} failed and did not say why` : shownText(reason);
}

interface Running extends Calling {
  readonly value: unknown;
  readonly call: RunningCall;
}

/** All tries together, and what a stream takes to be read, have the time of the tool. */
async function runTool(running: Running): Promise<ToolOutput> {
  const { tool, call } = running;
  const timeoutMs = timeoutOf(tool);
  const limit = startTimeLimit(call.signal, timeoutMs);
  const { signal } = limit;
  try {
    const work = executeAgain({ ...running, call: { ...call, signal } });
    return outputOf(tool, await waitOrAbort(work, signal));
  } catch (error) {
    if (limit.hasExpired()) {
      return createFailedOutput(`${tool.name} did not end within ${timeoutMs} ms`);
    }
    if (call.signal.aborted) return createInterruptedOutput();
    return createFailedOutput(sayFailure(tool, error));
  } finally {
    limit.clear();
  }
}

const FIRST_PAUSE_MS = 100;

/** Again only for errors that say of themselves that it may help: what a tool did cannot be undone. */
async function executeAgain(running: Running): Promise<unknown> {
  const most = retriesOf(running.tool);
  const { signal } = running.call;
  for (let tried = 0; ; tried += 1) {
    try {
      return await execute(running);
    } catch (error) {
      if (!mayHelp(error) || tried >= most || signal.aborted) throw error;
      await pause(FIRST_PAUSE_MS * 2 ** tried, undefined, { signal });
    }
  }
}

const DEFAULT_RETRIES = 3;
const MOST_RETRIES = 10;

function retriesOf(tool: AgentTool): number {
  if (fieldOf(tool, 'retryable') === false) return 0;
  const most = fieldOf(tool, 'maxRetries');
  if (typeof most !== 'number' || Number.isNaN(most)) return DEFAULT_RETRIES;
  return Math.min(Math.max(most, 0), MOST_RETRIES);
}

function mayHelp(error: unknown): boolean {
  if (!isRecord(error)) return false;
  const { retryable, name } = error;
  return retryable === true || name === 'RetryableError';
}

/** Called as its author wrote it: with the tool as `this`. */
async function execute({ tool, value, call, bench, means }: Running): Promise<unknown> {
  let isOver = false;
  const context: AgentToolContext = {
    ...means.context(call),
    cwd: bench.cwd(),
    signal: call.signal,
    emitUpdate(update) {
      // Whoever was told that the call ended is told nothing more of it.
      if (isOver || call.signal.aborted) return;
      means.noteUpdate(call.callId, keptValue(update));
      call.onProgress(outputText(update));
    },
  };
  try {
    const result: unknown = await asItsOwn(tool, () => tool.execute(value, context));
    return isStream(result) ? await readStream(result, call.signal) : result;
  } finally {
    isOver = true;
  }
}

function outputOf(tool: AgentTool, value: unknown): ToolOutput {
  const blocks = blocksIn(value);
  const shown = blocks === null ? [] : toShowableBlocks(blocks);
  const images = extractImages(shown);
  const text = blocks === null ? outputText(value) : shownText(joinTexts(shown));
  const lifecycle = fieldOf(tool, 'lifecycle');
  const isLast = isRecord(lifecycle) && lifecycle['completesRun'] === true;
  return {
    response: keptOf(value, text),
    inOwnWords: true,
    text,
    success: true,
    ...(images.length === 0 ? {} : { images }),
    ...(isLast ? { finalAnswer: text } : {}),
  };
}

/** What is too much to be kept is kept as it is shown. */
function keptOf(value: unknown, text: string): unknown {
  if (value === null) return null;
  const kept = keptValue(value);
  return kept === value || kept === undefined ? kept : text;
}
