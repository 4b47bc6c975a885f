import { setTimeout as pause } from 'node:timers/promises';
import { createInterruptedOutput } from '../../../agent/tools/define-tool.ts';
import {
  createFailedOutput,
  type PreparedCall,
  type RunningCall,
  type Tool,
  type ToolOutput,
} from '../../../agent/tools/tool.ts';
import { isRecord } from '../../../base/json.ts';
import { startTimeLimit, waitOrAbort } from '../../../base/abort.ts';
import {
  readReason,
  toShownText,
  MAX_PLAIN_CHARACTERS,
  toPlainText,
  toPlainData,
  withCutNote,
} from '../../../plugins/serialize/plain-value.ts';
import { joinTexts, type ServerBlock } from '../../../mcp/answer.ts';
import { callWithTimeout } from '../../../plugins/call-with-timeout.ts';
import type { AgentTool, AgentToolContext } from '../../../plugins/contract/tool.ts';
import { runAsPlugin } from '../../../plugins/plugin-ownership.ts';
import { extractImages, toShowableBlocks } from '../../mcp/tool-output.ts';
import type { CheckedInput, InputCheck } from './check-input.ts';
import { isStream, readStream } from '../../../plugins/serialize/read-stream.ts';

interface PluginToolPorts {
  /** The plugin's name, for messages. */
  readonly plugin: string;
  /** The entry file of that plugin; null for a tool of the embedding program. */
  readonly file: string | null;
  readonly check: (tool: AgentTool) => InputCheck;
  /** Creates the context argument of a call. */
  readonly context: (call: RunningCall) => AgentToolContext;
  /** Whether calls may overlap when the tool does not say it. */
  readonly runsInParallel?: boolean;
  /** Records a progress update with its original value. */
  readonly noteUpdate: (callId: string, update: unknown) => void;
}

/** Converts a tool of a plugin to a tool of the agent. */
export function toAgentTool(tool: AgentTool, ports: PluginToolPorts): Tool {
  const input = ports.check(tool);
  const description = readField(tool, 'description');
  const mode = readField(tool, 'executionMode');
  const isParallel =
    mode === 'parallel' || (mode !== 'sequential' && ports.runsInParallel === true);
  return {
    name: tool.name,
    description: typeof description === 'string' ? toShownText(description) : '',
    // Services require the type, also of a schema without properties.
    schema: { type: 'object', ...input.schema },
    kind: 'execute',
    plugin: ports.plugin,
    ...(isParallel ? { isParallel: true } : {}),
    prepare(rawInput, toolContext) {
      // Hooks get the input that the model meant; the transformed value is for the tool only.
      const modelInput = input.read(rawInput);
      const checked = checkSafely(input, modelInput);
      const execute = (value: unknown, call: RunningCall): Promise<unknown> =>
        executeOnce(tool, value, call, toolContext.cwd(), ports);
      if ('then' in checked) {
        return toPreparedCall(modelInput, (call) =>
          waitAndRun(tool, input, checked, call, execute),
        );
      }
      if (!checked.ok) return describeWrongInput(tool, input, checked.problem);
      const { value } = checked;
      return toPreparedCall(modelInput, (call) => runTool(tool, value, call, execute));
    },
  };
}

/** Getters of tools in plain JavaScript may throw. */
function readField(tool: AgentTool, key: keyof AgentTool): unknown {
  try {
    return tool[key];
  } catch {
    return undefined;
  }
}

function toPreparedCall(modelInput: unknown, run: PreparedCall['run']): PreparedCall {
  return { input: isRecord(modelInput) ? modelInput : { input: modelInput }, run };
}

function checkSafely(input: InputCheck, modelInput: unknown): CheckedInput | Promise<CheckedInput> {
  const createFailure = (error: unknown): CheckedInput => ({
    ok: false,
    problem: readReason(error),
  });
  try {
    const checked = input.check(modelInput);
    return 'then' in checked ? checked.catch(createFailure) : checked;
  } catch (error) {
    return createFailure(error);
  }
}

function describeWrongInput({ name }: AgentTool, { schema }: InputCheck, problem: string): string {
  const { required } = schema;
  const isTold = Array.isArray(required) && required.length > 0;
  const needs = isTold ? ` It needs ${required.join(', ')}.` : '';
  return `The input of ${name} does not fit its schema: ${problem}.${needs}`;
}

/** As in Cline, the model reads an object; hooks get the reason alone. */
function createToolError(error: string): ToolOutput {
  const text = JSON.stringify({ error });
  return { response: undefined, inOwnWords: true, text, success: false, error };
}

type Execute = (value: unknown, call: RunningCall) => Promise<unknown>;

async function waitAndRun(
  tool: AgentTool,
  input: InputCheck,
  checking: Promise<CheckedInput>,
  call: RunningCall,
  execute: Execute,
): Promise<ToolOutput> {
  const bounds = { what: 'its schema', timeoutMs: readTimeout(tool), signal: call.signal };
  try {
    const checked = await callWithTimeout(() => checking, bounds);
    if (!checked.ok) return createFailedOutput(describeWrongInput(tool, input, checked.problem));
    return await runTool(tool, checked.value, call, execute);
  } catch (error) {
    return call.signal.aborted
      ? createInterruptedOutput()
      : createToolError(describeFailure(tool, error));
  }
}

const DEFAULT_TIMEOUT_MS = 30_000;

function readTimeout(tool: AgentTool): number {
  const timeoutMs = readField(tool, 'timeoutMs');
  return typeof timeoutMs === 'number' && timeoutMs > 0 ? timeoutMs : DEFAULT_TIMEOUT_MS;
}

function describeFailure({ name }: AgentTool, error: unknown): string {
  const reason = readReason(error);
  return reason.trim() === '' ? `${name} failed and did not say why` : toShownText(reason);
}

/** The time limit of the tool covers all retries and the reading of a stream. */
async function runTool(
  tool: AgentTool,
  value: unknown,
  call: RunningCall,
  execute: Execute,
): Promise<ToolOutput> {
  const timeoutMs = readTimeout(tool);
  const limit = startTimeLimit(call.signal, timeoutMs);
  const { signal } = limit;
  try {
    const work = executeWithRetries(tool, () => execute(value, { ...call, signal }), signal);
    return toOutput(tool, await waitOrAbort(work, signal));
  } catch (error) {
    if (limit.hasExpired()) {
      return createToolError(`${tool.name} did not end within ${timeoutMs} ms`);
    }
    if (call.signal.aborted) return createInterruptedOutput();
    return createToolError(describeFailure(tool, error));
  } finally {
    limit.clear();
  }
}

const FIRST_PAUSE_MS = 100;

/** Retries only errors that are marked as retryable, because effects of a tool cannot be undone. */
async function executeWithRetries(
  tool: AgentTool,
  execute: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<unknown> {
  const most = readMaxRetries(tool);
  for (let tried = 0; ; tried += 1) {
    try {
      return await execute();
    } catch (error) {
      if (!isRetryable(error) || tried >= most || signal.aborted) throw error;
      await pause(FIRST_PAUSE_MS * 2 ** tried, undefined, { signal });
    }
  }
}

const DEFAULT_RETRIES = 3;
const MOST_RETRIES = 10;

function readMaxRetries(tool: AgentTool): number {
  if (readField(tool, 'retryable') === false) return 0;
  const most = readField(tool, 'maxRetries');
  if (typeof most !== 'number' || Number.isNaN(most)) return DEFAULT_RETRIES;
  return Math.min(Math.max(most, 0), MOST_RETRIES);
}

function isRetryable(error: unknown): boolean {
  if (!isRecord(error)) return false;
  const { retryable, name } = error;
  return retryable === true || name === 'RetryableError';
}

/** Calls `execute` with the tool as `this`. */
async function executeOnce(
  tool: AgentTool,
  value: unknown,
  call: RunningCall,
  cwd: string,
  ports: PluginToolPorts,
): Promise<unknown> {
  let isOver = false;
  const context: AgentToolContext = {
    ...ports.context(call),
    cwd,
    signal: call.signal,
    emitUpdate(update) {
      // Updates after the end of the call are dropped.
      if (isOver || call.signal.aborted) return;
      ports.noteUpdate(call.callId, toPlainValue(update));
      call.onProgress(formatOutput(update));
    },
  };
  try {
    const result: unknown = await runAsPlugin(ports.file, () => tool.execute(value, context));
    return isStream(result) ? await readStream(result, call.signal) : result;
  } finally {
    isOver = true;
  }
}

function toOutput(tool: AgentTool, value: unknown): ToolOutput {
  const blocks = readBlocks(value);
  const showable = blocks === null ? [] : toShowableBlocks(blocks);
  const images = extractImages(showable);
  const text = blocks === null ? formatOutput(value) : toShownText(joinTexts(showable));
  const lifecycle = readField(tool, 'lifecycle');
  const isLast = isRecord(lifecycle) && lifecycle['completesRun'] === true;
  return {
    response: toResponse(value, text),
    inOwnWords: true,
    text,
    success: true,
    ...(images.length === 0 ? {} : { images }),
    ...(isLast ? { finalAnswer: text } : {}),
  };
}

/** A value that is too large is stored as its text. */
function toResponse(value: unknown, text: string): unknown {
  if (value === null) return null;
  const plain = toPlainValue(value);
  return plain === value || plain === undefined ? plain : text;
}

/** Formats the result of a plugin's tool for the model; bounded, and never throws. */
export function formatOutput(value: unknown): string {
  if (value === undefined) return '(no output)';
  if (typeof value === 'string') return toShownText(value);
  return withCutNote(toPlainText(value, MAX_PLAIN_CHARACTERS));
}

/** The result as data: the value itself where JSON can represent it, otherwise its text. */
function toPlainValue(value: unknown): unknown {
  return value === undefined || value === null ? undefined : toPlainData(value);
}

/** Content blocks, which tools may return instead of plain data; null for other values. */
function readBlocks(value: unknown): readonly ServerBlock[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  try {
    const blocks = value.map((block: unknown) => readBlock(block));
    return blocks.every((block) => block !== null) ? blocks : null;
  } catch {
    // A value that cannot be read is formatted as data, with the reason.
    return null;
  }
}

function readBlock(block: unknown): ServerBlock | null {
  if (!isRecord(block)) return null;
  const { type, text, data, mediaType, path, content } = block;
  if (type === 'text' && typeof text === 'string') return { type, text };
  if (type === 'file' && typeof path === 'string' && typeof content === 'string') {
    return { type: 'text', text: `<file path="${path}">\n${content}\n</file>` };
  }
  if (type !== 'image' || typeof data !== 'string') return null;
  return { type, data, mimeType: typeof mediaType === 'string' ? mediaType : 'image/png' };
}
