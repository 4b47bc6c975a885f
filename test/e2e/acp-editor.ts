import type { ChildProcess } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { setImmediate as nextRound } from 'node:timers/promises';
import {
  client,
  type ClientCapabilities,
  type ClientContext,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { onTestFinished } from 'vitest';
import { BugError } from '../../src/base/errors.ts';
import { startHookline } from '../cli/hookline.ts';
import { at, type TempWorkspace, write } from '../cli/temp-workspace.ts';
import { until } from '../process/programs.ts';
import type { Script } from './agent-run.ts';

/** An editor made of the protocol's own SDK, which drives the built program. */
export interface TestEditor {
  readonly agent: ClientContext;
  readonly child: ChildProcess;
  readonly stderr: () => string;
  /** All updates so far, those about commands and usage left out. */
  updates(sessionId?: string): readonly SessionUpdate[];
  allUpdates(): readonly SessionNotification[];
  readonly asked: RequestPermissionRequest[];
  readonly elicited: CreateElicitationRequest[];
  /** Opens a session and gives its id. */
  open(cwd?: string): Promise<string>;
  /** Gives the stop reason, once all updates before it were handled: the SDK handles answers first. */
  say(sessionId: string, text: string): Promise<string>;
  /** Closes the editor's ends of the pipes, and waits for the program. */
  leave(): Promise<number | null>;
}

export interface TestEditorOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly capabilities?: ClientCapabilities;
  readonly approve?: (
    request: RequestPermissionRequest,
  ) => RequestPermissionResponse | Promise<RequestPermissionResponse>;
  readonly elicit?: (request: CreateElicitationRequest) => CreateElicitationResponse;
}

/** Chooses the option with this id. */
export function choosing(optionId: string): () => RequestPermissionResponse {
  return () => ({ outcome: { outcome: 'selected', optionId } });
}

export async function startEditor(
  workspace: TempWorkspace,
  turns: Script,
  options: TestEditorOptions = {},
): Promise<TestEditor> {
  const script = write(workspace.directory, 'script.json', JSON.stringify(turns));
  const child = startHookline(
    ['acp', '--script', script, ...(options.args ?? [])],
    at(workspace, { cwd: workspace.directory, env: options.env ?? {} }),
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new BugError('no pipes');
  let complaints = '';
  stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  const updates: SessionNotification[] = [];
  const permissionRequests: RequestPermissionRequest[] = [];
  const elicited: CreateElicitationRequest[] = [];
  const connection = client({ name: 'test' })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      permissionRequests.push(params);
      return options.approve?.(params) ?? { outcome: { outcome: 'cancelled' } };
    })
    .onRequest(methods.client.elicitation.create, ({ params }) => {
      elicited.push(params);
      return options.elicit?.(params) ?? { action: 'decline' };
    })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params))
    .connect(ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout)));
  const { agent } = connection;
  const exited = new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: options.capabilities ?? {},
  });
  const getUpdates = (sessionId: string): readonly SessionUpdate[] =>
    updates.filter((each) => each.sessionId === sessionId).map(({ update }) => update);
  return {
    agent,
    child,
    asked: permissionRequests,
    elicited,
    stderr: () => complaints,
    allUpdates: () => updates,
    updates: (sessionId) =>
      (sessionId === undefined
        ? updates.map(({ update }) => update)
        : getUpdates(sessionId)
      ).filter(isTelling),
    async open(cwd = workspace.repo) {
      const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
      await until(() => getUpdates(sessionId).some(isAboutCommands));
      return sessionId;
    },
    async say(sessionId, text) {
      const { stopReason } = await agent.request(methods.agent.session.prompt, {
        sessionId,
        prompt: [{ type: 'text', text }],
      });
      await nextRound();
      return stopReason;
    },
    async leave() {
      stdin.end();
      return exited;
    },
  };
}

function isAboutCommands({ sessionUpdate }: SessionUpdate): boolean {
  return sessionUpdate === 'available_commands_update';
}

function isTelling(update: SessionUpdate): boolean {
  return !isAboutCommands(update) && update.sessionUpdate !== 'usage_update';
}

/** The agent's text, joined. */
export function joinAgentText(updates: readonly SessionUpdate[]): string {
  return updates
    .map((update) =>
      update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text'
        ? update.content.text
        : '',
    )
    .join('');
}
