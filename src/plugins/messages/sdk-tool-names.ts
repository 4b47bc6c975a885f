import {
  formatResult,
  type ToolCall,
  type ToolResult,
  listToolViews,
  findVocabulary,
} from '../../tool-vocabularies/tool-views.ts';
import type { AgentFinishReason } from '../contract/runtime-hooks.ts';
import type { AgentToolResult } from '../contract/tool.ts';

/** Paths stay as the model wrote them, so that it does not matter where it stood. */
const ANYWHERE = { cwd: '/', root: null };

/** A call as plugins know it, whatever the model was told that its tools are called. */
export function toSdkCall(call: ToolCall): ToolCall {
  const [view, ...others] = listToolViews(call, 'sdk', ANYWHERE);
  // Several changes of a file in one call are none of their words.
  if (view === undefined || others.length > 0) return call;
  return { name: view.name, input: view.input };
}

/** What a call came to, as plugins know it; of a call for many files, one of them. */
export function toSdkResult(
  call: ToolCall,
  result: ToolResult,
  part: number | null = null,
): AgentToolResult {
  const isBuiltIn = result.inOwnWords !== true && findVocabulary(call.name) !== null;
  if (!result.success && (!isBuiltIn || result.response === undefined)) {
    return { output: { error: result.error ?? result.text }, isError: true };
  }
  const output = isBuiltIn
    ? formatResult(call, result, { vocabulary: 'sdk', part })
    : getToolOutput(result);
  return createSdkResult(output, !result.success);
}

/** A tool may have given null. */
function getToolOutput({ response, text }: ToolResult): unknown {
  return response === undefined ? text : response;
}

export function createSdkResult(output: unknown, isError: boolean): AgentToolResult {
  return isError ? { output, isError } : { output };
}

/** Who made a call; whoever runs it is always the host. */
export function createToolSource({ provider, id }: { provider: string; id: string }): object {
  return { providerId: provider, modelId: id, executionMode: 'runtime' };
}

export function toFinishReason(reason: string): AgentFinishReason {
  if (reason === 'length') return 'max-tokens';
  return reason === 'stop' || reason === 'tool-calls' ? reason : 'error';
}
