import path from 'node:path';
import type { AgentContext, McpServer } from '@agentclientprotocol/sdk';
import type { RuntimeEvent } from '../agent/runtime-event.ts';
import type { Session } from '../agent/session/session.ts';
import type { Person } from '../agent/session-context.ts';
import { getErrorMessage } from '../base/errors.ts';
import { isDirectory } from '../base/files.ts';
import { createHost, type Host, type HostOptions } from '../host/create-host.ts';
import { DeltaBuffer } from '../host/redact-stream.ts';
import { readTranscript } from '../sessions/transcript/read-transcript.ts';
import type { EditorCapabilities } from './capabilities.ts';
import { EditorSession } from './editor-session.ts';
import { createConnection, type Connection } from './connection.ts';
import { askQuestions, type Editor, requestApproval, requestElicitation } from './requests.ts';
import { createInvalidParamsError } from './request-errors.ts';
import { type Notice, listLateNotices, createUpdateConverter } from './updates/runtime-updates.ts';
import { replay } from './updates/replay.ts';
import type { Redact } from './updates/redact-updates.ts';
import type * as acp from '@agentclientprotocol/sdk';

interface OpenRequest {
  readonly client: AgentContext;
  readonly capabilities: EditorCapabilities;
  /** The options of every session, from the command line. */
  readonly hostOptions: HostOptions;
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  /** Servers that the editor adds. */
  readonly mcpServers: readonly McpServer[];
  /** The stored session to resume; null for a new one. */
  readonly resume: string | null;
  readonly signal: AbortSignal;

  readonly redact: Redact;
  /** Reports a problem that no editor would show. */
  readonly note: (text: string) => void;
}

export interface Opened {
  readonly session: EditorSession;
  /** Sends the stored transcript, for an editor that does not show it yet. */
  readonly replay: () => Promise<void>;
  /** Sends the updates that were queued and all further ones: the editor knows the session now. */
  readonly release: () => void;
}

/** Opens a session with a host of its own, because each may have another workspace. */
export async function openEditorSession(request: OpenRequest): Promise<Opened> {
  checkDirectories(request);
  const connection = createConnection(request);
  let host: Host | null = null;
  let opened: Session | null = null;
  const cwd = (): string => opened?.state().cwd ?? request.cwd;
  const updates = createUpdateConverter({
    notices: request.capabilities.notices,
    cwd,
    awaitsHooks: () => host !== null && hasDisplayHooks(host),
  });
  const sendNotice = (notice: Notice): void =>
    updates.convertNotice(notice).forEach(connection.send);
  const asking = createCallTracker();
  const deltas = new DeltaBuffer();
  const editor: Editor = {
    client: request.client,
    capabilities: request.capabilities,
    sessionId: connection.sessionId,
    cwd,
    findAskingCall: asking.current,
    sendUpdate: connection.send,
    sendNotice,
    settled: connection.settled,
    redact: request.redact,
  };
  host = await createHost({
    ...toHostOptions(request),
    person: createPerson(editor),
    onNotice: (text) => sendNotice({ severity: 'warning', text }),
    onLate: (late) => listLateNotices(late).forEach(sendNotice),
  });
  host.subscribe((event) => {
    asking.follow(event);
    for (const each of deltas.take(event)) updates.convert(each).forEach(connection.send);
  });
  try {
    const wish = request.resume === null ? {} : { resume: request.resume };
    const { sessionId, transcriptPath } = await host.start({
      ...wish,
      idle: true,
      signal: request.signal,
    });
    connection.setSessionId(sessionId);
    opened = host.session(sessionId);
    return {
      session: new EditorSession({ host, session: opened, editor }),
      replay: () => sendTranscript(transcriptPath, { cwd: cwd(), connection, note: request.note }),
      release: connection.release,
    };
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
    approve: (request, signal) => requestApproval(editor, request, signal),
    answer: (questions, signal) => askQuestions(editor, questions, signal),
    elicit: (request, signal) => requestElicitation(editor, request, signal),
  };
}

/** Hooks that change what the user sees must run before anything is shown. */
function hasDisplayHooks(host: Host): boolean {
  return host.hooks().some(({ found, state }) => {
    return state === 'ready' && found.kind === 'hook' && found.events.includes('MessageDisplay');
  });
}

interface CallTracker {
  /** The call that asks the user a question now. */
  readonly current: () => string | null;
  readonly follow: (event: RuntimeEvent) => void;
}

function createCallTracker(): CallTracker {
  let asking: string | null = null;
  return {
    current: () => asking,
    follow(event) {
      if (event.type === 'tool-start' && event.tool === 'AskUserQuestion') asking = event.callId;
      if (event.type === 'tool-end' && event.callId === asking) asking = null;
      // A cancelled run emits no `tool-end` for its calls.
      if (event.type === 'run-end' && event.parentAgentId === null) asking = null;
    },
  };
}

interface Telling {
  readonly cwd: string;
  readonly connection: Connection;
  readonly note: (text: string) => void;
}

/** How many updates are redacted at once. */
const PORTION = 100;

async function sendTranscript(
  transcript: string | null,
  { cwd, connection, note }: Telling,
): Promise<void> {
  if (transcript === null) return;
  try {
    const updates = [...replay(readTranscript(transcript, note), cwd)];
    while (updates.length > 0) await connection.sendNow(updates.splice(0, PORTION));
  } catch (error) {
    note(`the transcript ${transcript} cannot be read: ${getErrorMessage(error)}`);
  }
}

/** The editor's MCP servers as the text of a configuration file; an empty list when there are none. */
function toMcpConfig(servers: readonly acp.McpServer[]): readonly string[] {
  if (servers.length === 0) return [];
  const entries = servers.map((server): [string, object] => [server.name, entryOf(server)]);
  return [JSON.stringify({ mcpServers: Object.fromEntries(entries) })];
}

function entryOf(server: acp.McpServer): object {
  if ('url' in server) {
    const { type, url, headers } = server;
    return { type, url, headers: recordOf(headers) };
  }
  const { command, args, env } = server;
  return { command, args, env: recordOf(env) };
}

function recordOf(pairs: readonly (acp.HttpHeader | acp.EnvVariable)[]): object {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}
