import path from 'node:path';
import type { AgentContext, NewSessionRequest, SessionUpdate } from '@agentclientprotocol/sdk';
import type { Session } from '../agent/session/session.ts';
import type { Person } from '../agent/session-context.ts';
import { isDirectory } from '../base/files.ts';
import { createHost, type Host, type HostOptions } from '../host/create-host.ts';
import { DeltaBuffer } from '../host/redact-stream.ts';
import type { EditorCapabilities } from './capabilities.ts';
import { Connection } from './connection.ts';
import { EditorSession } from './editor-session.ts';
import {
  askQuestions,
  type Editor,
  requestEditorApproval,
  requestElicitation,
} from './ask-editor.ts';
import { createInvalidParamsError } from './request-errors.ts';
import { type Notice, UpdateConverter } from './updates/runtime-updates.ts';
import type { Redact } from './updates/redact-updates.ts';
import type * as acp from '@agentclientprotocol/sdk';

interface OpenRequest extends Required<SessionPlace> {
  readonly client: AgentContext;
  readonly capabilities: EditorCapabilities;
  /** The options of every session, from the command line. */
  readonly hostOptions: HostOptions;
  /** The stored session to resume; null for a new one. */
  readonly resume: string | null;
  readonly signal: AbortSignal;
  readonly redact: Redact;
  /** Reports a problem that no editor would show. */
  readonly note: (text: string) => void;
}

/** Where an editor wants a session to work, and with which servers. */
export type SessionPlace = Pick<NewSessionRequest, 'cwd' | 'additionalDirectories'> &
  Partial<Pick<NewSessionRequest, 'mcpServers'>>;

/** Opens a session with its own host, because each may have another workspace. */
export async function openEditorSession(request: OpenRequest): Promise<EditorSession> {
  checkDirectories(request);
  const connection = new Connection(request.client, request.redact, request.note);
  let opened: Session | null = null;
  const cwd = (): string => opened?.state().cwd ?? request.cwd;
  const updates = new UpdateConverter(request.capabilities.notices, cwd, () =>
    hasDisplayHooks(host),
  );
  const sendUpdate = (update: SessionUpdate): void => connection.send(update);
  const sendNotice = (notice: Notice): void => updates.convertNotice(notice).forEach(sendUpdate);
  const deltas = new DeltaBuffer();
  const editor: Editor = {
    client: request.client,
    capabilities: request.capabilities,
    sessionId: () => connection.sessionId(),
    cwd,
    sendUpdate,
    sendNotice,
    settled: () => connection.settled(),
    redact: request.redact,
  };
  const host = await createHost({
    ...toHostOptions(request),
    person: createPerson(editor),
    onNotice: (text) => sendNotice({ severity: 'warning', text }),
  });
  host.subscribe((event) => {
    for (const each of deltas.take(event)) updates.convert(each).forEach(sendUpdate);
  });
  try {
    const selection = request.resume === null ? {} : { resume: request.resume };
    const { sessionId, transcriptPath } = await host.start({
      ...selection,
      idle: true,
      signal: request.signal,
    });
    opened = host.session(sessionId);
    return new EditorSession(host, opened, editor, connection, transcriptPath);
  } catch (error) {
    await host.dispose();
    throw error;
  }
}

function checkDirectories({ cwd, additionalDirectories }: OpenRequest): void {
  for (const directory of [cwd, ...additionalDirectories]) {
    if (path.isAbsolute(directory) && isDirectory(directory)) continue;
    const found = JSON.stringify(directory);
    throw createInvalidParamsError(
      `a session needs absolute paths of directories that exist, found ${found}`,
    );
  }
}

function toHostOptions(request: OpenRequest): HostOptions {
  const { hostOptions, cwd, additionalDirectories, mcpServers } = request;
  const { addDirectories = [], mcpConfig = [] } = hostOptions;
  return {
    ...hostOptions,
    cwd,
    addDirectories: [...addDirectories, ...additionalDirectories],
    mcpConfig: [...mcpConfig, ...toMcpConfig(mcpServers)],
    watch: 'soon',
  };
}

function createPerson(editor: Editor): Person {
  return {
    approve: (request, signal) => requestEditorApproval(editor, request, signal),
    answer: (questions, signal, callId) => askQuestions(editor, questions, signal, callId),
    elicit: (request, signal) => requestElicitation(editor, request, signal),
  };
}

/** Hooks that change what the user sees must run before anything is shown. */
function hasDisplayHooks(host: Host): boolean {
  return host.hooks().some(({ found, state }) => {
    return state === 'ready' && found.kind === 'hook' && found.events.includes('MessageDisplay');
  });
}

/** The editor's MCP servers as the text of a configuration file; an empty list when there are none. */
function toMcpConfig(servers: readonly acp.McpServer[]): readonly string[] {
  if (servers.length === 0) return [];
  const entries = servers.map((server): [string, object] => [server.name, toServerEntry(server)]);
  return [JSON.stringify({ mcpServers: Object.fromEntries(entries) })];
}

function toServerEntry(server: acp.McpServer): object {
  if ('url' in server) {
    const { type, url, headers } = server;
    return { type, url, headers: toRecord(headers) };
  }
  const { command, args, env } = server;
  return { command, args, env: toRecord(env) };
}

function toRecord(pairs: readonly (acp.HttpHeader | acp.EnvVariable)[]): object {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}
