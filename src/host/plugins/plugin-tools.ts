import { interruptedOutput } from '../../agent/tools/define-tool.ts';
import {
  failedOutput,
  type RunningCall,
  type Tool,
  type ToolOutput,
} from '../../agent/tools/tool.ts';
import type { Workbench } from '../../agent/tools/workbench.ts';
import { messageOf } from '../../base/errors.ts';
import { limitTime } from '../../base/time-limit.ts';
import { untilAborted } from '../../base/until-aborted.ts';
import { isRecord } from '../../base/json.ts';
import { withinBounds } from '../../plugins/bounded.ts';
import { type JsonSchema, toJsonSchema } from '../../plugins/contract/input-schema.ts';
import type { AgentTool, AgentToolContext } from '../../plugins/contract/tool.ts';
import type { ImageBlock } from '../../sessions/messages.ts';
import type { CheckedInput, InputCheck } from './check-input.ts';
import { keptValue, outputText } from './output-text.ts';

export interface PluginToolMeans {
  readonly check: (tool: AgentTool) => InputCheck;
  /** What a tool is told of the call that it runs for. */
  readonly context: (call: RunningCall) => AgentToolContext;
  /** Keeps what a tool says of how far it is, for whoever wants more than text. */
  readonly noteUpdate: (callId: string, update: unknown) => void;
}

/** A tool of a plugin as one of the agent's. */
export function toAgentTool(tool: AgentTool, means: PluginToolMeans): Tool {
  const check = means.check(tool);
  return {
    name: tool.name,
    description: tool.description ?? '',
    // Services want to hear it, also of a schema that says nothing else.
    schema: { type: 'object', ...jsonSchemaOf(tool) },
    kind: tool.executionMode === 'parallel' ? 'read' : 'execute',
    prepare(given, bench) {
      const checked = checkSafely(check, given);
      if ('then' in checked) return prepared(given, (call) => waitAndRun(call, bench, checked));
      if (!checked.ok) return wrongInput(tool, checked.problem);
      const { value } = checked;
      return prepared(value, (call) => runTool(tool, { value, call, bench, means }));
    },
  };

  async function waitAndRun(
    call: RunningCall,
    bench: Workbench,
    checking: Promise<CheckedInput>,
  ): Promise<ToolOutput> {
    const bounds = { what: 'its schema', timeoutMs: timeoutOf(tool), signal: call.signal };
    try {
      const checked = await withinBounds(() => checking, bounds);
      if (!checked.ok) return failedOutput(wrongInput(tool, checked.problem));
      return await runTool(tool, { value: checked.value, call, bench, means });
    } catch (error) {
      return call.signal.aborted ? interruptedOutput() : failedOutput(messageOf(error));
    }
  }
}

function prepared(input: unknown, run: (call: RunningCall) => Promise<ToolOutput>) {
  return { input: isRecord(input) ? input : { input }, run };
}

function checkSafely(check: InputCheck, given: unknown): CheckedInput | Promise<CheckedInput> {
  const failed = (error: unknown): CheckedInput => ({ ok: false, problem: messageOf(error) });
  try {
    const checked = check(given);
    return 'then' in checked ? checked.catch(failed) : checked;
  } catch (error) {
    return failed(error);
  }
}

function jsonSchemaOf(tool: AgentTool): JsonSchema {
  return toJsonSchema(tool.inputSchema ?? {}, tool.name);
}

function wrongInput(tool: AgentTool, problem: string): string {
  const { required } = jsonSchemaOf(tool);
  const isTold = Array.isArray(required) && required.length > 0;
  const needs = isTold ? ` It needs ${required.join(', ')}.` : '';
  return `The input of ${tool.name} does not fit its schema: ${problem}.${needs}`;
}

interface Running {
  readonly value: unknown;
  readonly call: RunningCall;
  readonly bench: Workbench;
  readonly means: PluginToolMeans;
}

const DEFAULT_TIMEOUT_MS = 30_000;

function timeoutOf({ timeoutMs }: AgentTool): number {
  return timeoutMs ?? DEFAULT_TIMEOUT_MS;
}

async function runTool(tool: AgentTool, running: Running): Promise<ToolOutput> {
  const timeoutMs = timeoutOf(tool);
  const limit = limitTime(running.call.signal, timeoutMs);
  try {
    const call = { ...running.call, signal: limit.signal };
    const work = executeAgain(tool, { ...running, call });
    return outputOf(tool, await untilAborted(work, limit.signal));
  } catch (error) {
    if (limit.isOver()) return failedOutput(`${tool.name} did not end within ${timeoutMs} ms`);
    if (running.call.signal.aborted) return interruptedOutput();
    return failedOutput(messageOf(error));
  } finally {
    limit.clear();
  }
}

/** Again only for errors that say of themselves that it may help: what a tool did cannot be undone. */
async function executeAgain(tool: AgentTool, running: Running): Promise<unknown> {
  const most = tool.retryable === false ? 0 : (tool.maxRetries ?? 0);
  for (let tried = 0; ; tried += 1) {
    try {
      return await execute(tool, running);
    } catch (error) {
      const mayHelp = isRecord(error) && error['retryable'] === true;
      if (!mayHelp || tried >= most || running.call.signal.aborted) throw error;
    }
  }
}

/** Called as its author wrote it: with the tool as `this`. */
async function execute(tool: AgentTool, { value, call, bench, means }: Running): Promise<unknown> {
  const context: AgentToolContext = {
    ...means.context(call),
    cwd: bench.cwd(),
    signal: call.signal,
    emitUpdate(update) {
      means.noteUpdate(call.callId, update);
      call.onProgress(outputText(update));
    },
  };
  return tool.execute(value, context);
}

function outputOf(tool: AgentTool, value: unknown): ToolOutput {
  const text = outputText(value);
  const images = imagesIn(value);
  return {
    response: keptValue(value),
    text,
    success: true,
    ...(images.length === 0 ? {} : { images }),
    ...(tool.lifecycle?.completesRun === true ? { lastWords: text } : {}),
  };
}

function imagesIn(value: unknown): readonly ImageBlock[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((block: unknown): ImageBlock[] => {
    if (!isRecord(block) || block['type'] !== 'image') return [];
    const { data, mediaType } = block;
    if (typeof data !== 'string') return [];
    const type = typeof mediaType === 'string' ? mediaType : 'image/png';
    return [{ type: 'image', source: { type: 'base64', media_type: type, data } }];
  });
}
