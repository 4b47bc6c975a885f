import path from 'node:path';
import { spawnBare } from './bare.ts';
import type { Task } from './measure.ts';
import type { TempWorkspace } from './temp-workspace.ts';

export const PEER = '@cline/core';

export const PEER_MISSING = 'not every peer is installed: npm --prefix bench install';

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
export async function openPeer({ home, workspace }: TempWorkspace, call: PeerCall): Promise<Task> {
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

export const PEER_PROGRAM = 'cline';

export interface PeerTask {
  readonly project: string;
  /** Of a service in OpenAI's wire format. */
  readonly url: string;
  readonly prompt: string;
}

const PROVIDER = 'openai-compatible';

/** The peer's own program run non-interactively; its state stays in the temporary workspace. */
export async function openPeerProgram(
  { home, workspace, surroundings }: TempWorkspace,
  { project, url, prompt }: PeerTask,
): Promise<Task> {
  const program = path.resolve(project, 'bench', 'node_modules', PEER_PROGRAM, 'bin', 'cline');
  // With a directory of its own it leaves no daemon behind, and is no slower for it.
  const own = ['--data-dir', path.join(home, 'cline')];
  const env = { ...surroundings.env, CLINE_NO_AUTO_UPDATE: '1' };
  const start = (args: readonly string[]): Promise<string> => {
    const call = { file: process.execPath, cwd: workspace, env, stdin: '' };
    return spawnBare({ ...call, args: [program, ...args, ...own] });
  };
  const model = ['--modelid', 'bench', '--baseurl', url, '--apikey', 'none'];
  await start(['auth', '--provider', PROVIDER, ...model]);
  return () => start(['--provider', PROVIDER, prompt]);
}
