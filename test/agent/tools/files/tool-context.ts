import { ReadTracker } from '../../../../src/agent/tools/files/read-tracker.ts';
import type { ToolContext } from '../../../../src/agent/tools/tool-context.ts';
import { Shells } from '../../../../src/agent/tools/shell/shells.ts';
import type { Tool, ToolOutput } from '../../../../src/agent/tools/tool.ts';

/** A workbench for tools that only touch files. */
export function createFileToolContext(cwd: string, home: string | null = null): ToolContext {
  return {
    cwd: () => cwd,
    changeDirectory: () => {},
    startDirectory: cwd,
    workspaceRoots: [cwd],
    home,
    readFiles: new ReadTracker(),
    shells: new Shells(),
    todos: [],
    environment: () => ({}),
    shellPrelude: () => '',
    spillDirectory: null,
    canFetchPrivate: false,
    ports: {},
  };
}

/** What happens between the two halves of a call. */
export interface Meanwhile {
  readonly signal?: AbortSignal;
  readonly meanwhile?: () => void;
}

/** Prepares and runs a call; a string is what `prepare` refused it with. */
export async function callTool(
  tool: Tool,
  input: unknown,
  toolContext: ToolContext,
  { signal = new AbortController().signal, meanwhile }: Meanwhile = {},
): Promise<ToolOutput | string> {
  const prepared = tool.prepare(input, toolContext);
  if (typeof prepared === 'string') return prepared;
  meanwhile?.();
  return prepared.run({ callId: 'call-1', signal, onProgress: () => {} });
}

/** What hooks see of a call that `prepare` lets pass, or why it does not. */
export function hookInput(tool: Tool, input: unknown, toolContext: ToolContext): unknown {
  const prepared = tool.prepare(input, toolContext);
  return typeof prepared === 'string' ? prepared : prepared.input;
}

export function failed(error: string): ToolOutput {
  return { response: undefined, text: error, success: false, error };
}
