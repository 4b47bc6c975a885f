import {
  formatResult,
  type ToolCall,
  type ToolResult,
  listToolViews,
  findCallVocabulary,
} from '../../tool-vocabularies/tool-views.ts';
import type { AgentFinishReason } from '../contract/runtime-hooks.ts';
import type { AgentToolResult } from '../contract/tool.ts';

/** Paths stay as the model wrote them, so the directory does not matter. */
const ANYWHERE = { cwd: '/', root: null };

/** Converts a call to Cline's tool names, whatever names the model has. */
export function toSdkCall(call: ToolCall): ToolCall {
  const [view, ...others] = listToolViews(call, 'sdk', ANYWHERE);
  // Cline's tools cannot express several changes of a file in one call.
  if (view === undefined || others.length > 0) return call;
  return { name: view.name, input: view.input };
}

/** Converts the result of a call, or of one part of a call for several files. */
export function toSdkResult(
  call: ToolCall,
  result: ToolResult,
  part: number | null = null,
): AgentToolResult {
  const isBuiltIn = result.inOwnWords !== true && findCallVocabulary(call) !== null;
  if (!result.success && (!isBuiltIn || result.response === undefined)) {
    return { output: { error: result.error ?? result.text }, isError: true };
  }
  const output = isBuiltIn ? formatResult(call, result, 'sdk', part) : getToolOutput(result);
  return createSdkResult(output, !result.success);
}

/** Null is a valid response of a tool. */
function getToolOutput({ response, text }: ToolResult): unknown {
  return response === undefined ? text : response;
}

export function createSdkResult(output: unknown, isError: boolean): AgentToolResult {
  return isError ? { output, isError } : { output };
}

/** The origin of a call; the executor is always the host. */
export function createToolSource({ provider, id }: { provider: string; id: string }): object {
  return { providerId: provider, modelId: id, executionMode: 'runtime' };
}

export function toFinishReason(reason: string): AgentFinishReason {
  if (reason === 'length') return 'max-tokens';
  return reason === 'stop' || reason === 'tool-calls' ? reason : 'error';
}
