import type { Task } from './measure.ts';
import type { Place } from './places.ts';

export const PEER = '@cline/core';

export const PEER_MISSING = 'peer not installed: npm --prefix bench install';

/** The part of the peer that runs file hooks. */
interface PeerModule {
  createHookConfigFileHooks(options: {
    cwd: string;
    workspacePath: string;
  }): { beforeTool?: (context: object) => Promise<unknown> } | undefined;
}

export interface PeerCall {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
}

/** The peer's own way of asking file hooks about a tool call. */
export async function openPeer({ home, workspace }: Place, call: PeerCall): Promise<Task> {
  // The peer reads its home directory from the environment.
  process.env['HOME'] = home;
  const { createHookConfigFileHooks }: PeerModule = await import(PEER);
  const hooks = createHookConfigFileHooks({ cwd: workspace, workspacePath: workspace });
  const beforeTool = hooks?.beforeTool;
  if (beforeTool === undefined) throw new Error('the peer found no hook to run');
  const context = {
    toolCall: { toolCallId: call.callId, toolName: call.name, input: call.input },
    tool: { name: call.name },
    input: call.input,
    snapshot: { agentId: 'agent', conversationId: 'task', iteration: 1, messages: [] },
  };
  return () => beforeTool(context);
}
