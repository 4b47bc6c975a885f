import { onTestFinished } from 'vitest';
import { ReadTracker } from '../../../src/agent/tools/files/read-tracker.ts';
import type { ToolContext } from '../../../src/agent/tools/tool-context.ts';
import { Shells } from '../../../src/agent/tools/shell/shells.ts';
import type { Tool, ToolOutput } from '../../../src/agent/tools/tool.ts';
import { createDirectory } from '../../base/directory.ts';

export interface ToolFixture {
  readonly toolContext: ToolContext;
  readonly start: string;
  /** The places that the tools moved to. */
  readonly moves: readonly string[];
}

/** An agent that stands in a directory of its own; its background commands end with the test. */
export function createToolFixture(
  wanted: Partial<ToolContext> = {},
  files: Readonly<Record<string, string>> = {},
): ToolFixture {
  const start = createDirectory(files);
  const moves: string[] = [];
  const shells = new Shells();
  onTestFinished(() => shells.closeAll());
  const toolContext: ToolContext = {
    cwd: () => moves.at(-1) ?? start,
    changeDirectory: (directory) => void moves.push(directory),
    startDirectory: start,
    workspaceRoots: [start],
    home: null,
    readFiles: new ReadTracker(),
    todos: [],
    shells,
    environment: () => ({ PATH: process.env['PATH'] ?? '/usr/bin:/bin' }),
    shellPrelude: () => '',
    spillDirectory: null,
    canFetchPrivate: false,
    ports: {},
    ...wanted,
  };
  return { toolContext, start, moves };
}

export interface Watching {
  readonly signal?: AbortSignal;
  readonly onProgress?: (text: string) => void;
}

/** Runs a tool as the loop does; a call that cannot work is an error of the test. */
export async function use(
  tool: Tool,
  toolContext: ToolContext,
  input: unknown,
  watching: Watching = {},
): Promise<ToolOutput> {
  const call = tool.prepare(input, toolContext);
  if (typeof call === 'string') throw new Error(call);
  return await call.run({
    callId: 'call_1',
    signal: watching.signal ?? new AbortController().signal,
    onProgress: watching.onProgress ?? (() => {}),
  });
}
