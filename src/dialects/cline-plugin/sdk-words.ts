import {
  resultOf,
  type ToolCall,
  type ToolResult,
  viewsOf,
  vocabularyOfName,
} from '../../hooks/faces/faces.ts';
import type { AgentToolResult } from '../../plugins/contract/tool.ts';

/** Paths stay as the model wrote them, so that it does not matter where it stood. */
const ANYWHERE = { cwd: '/', root: null };

/** A call as plugins know it, whatever the model was told that its tools are called. */
export function inSdkWords(call: ToolCall): ToolCall {
  const [view, ...others] = viewsOf(call, 'sdk', ANYWHERE);
  // Several changes of a file in one call are none of their words.
  if (view === undefined || others.length > 0) return call;
  return { name: view.name, input: view.input };
}

interface ResultFacts {
  /** Of a call for many files, which of them. */
  readonly part?: number | null;
  /** Whether the tool is an MCP server's: a plugin's may have a name that looks like one. */
  readonly isServers?: boolean;
}

/** What a call came to, as plugins know it. */
export function resultInSdkWords(
  call: ToolCall,
  result: ToolResult,
  { part = null, isServers = true }: ResultFacts = {},
): AgentToolResult {
  const isBuiltIn =
    vocabularyOfName(call.name) !== null && (isServers || !call.name.includes('__'));
  if (!result.success && (!isBuiltIn || result.response === undefined)) {
    return { output: { error: result.error ?? result.text }, isError: true };
  }
  const output = isBuiltIn
    ? resultOf(call, result, { vocabulary: 'sdk', part })
    : (result.response ?? result.text);
  return resultWith(output, !result.success);
}

export function resultWith(output: unknown, isError: boolean): AgentToolResult {
  return isError ? { output, isError } : { output };
}
