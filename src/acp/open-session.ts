import path from 'node:path';
import type { AgentContext, McpServer } from '@agentclientprotocol/sdk';
import type { RuntimeEvent } from '../agent/runtime-event.ts';
import type { Session } from '../agent/session/session.ts';
import type { Person } from '../agent/world.ts';
import { getErrorMessage } from '../base/errors.ts';
import { isDirectory } from '../base/files.ts';
import { createHost, type Host, type HostOptions } from '../host/create-host.ts';
import { createDeltaBuffer } from '../host/redact-stream.ts';
import { readTranscript } from '../sessions/transcript/read-transcript.ts';
import type { Abilities } from './abilities.ts';
import { EditorSession } from './editor-session.ts';
import { createLine, type Line } from './line.ts';
import { mcpConfigOf } from './mcp-config.ts';
import { answerInEditor } from './person/answer.ts';
import { approveInEditor } from './person/approve.ts';
import type { Editor } from './person/editor.ts';
import { elicitInEditor } from './person/elicit.ts';
import { wrongParams } from './request-errors.ts';
import { type Aside, lateAsides } from './shown/asides.ts';
import { replay } from './shown/replay.ts';
import { createUpdates } from './shown/updates.ts';
import type { Clean } from './shown/without-secrets.ts';

export interface OpenRequest {
  readonly client: AgentContext;
  readonly abilities: Abilities;
  /** Of every session: what the command line says. */
  readonly hostOptions: HostOptions;
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  /** Those that the editor wants to be there. */
  readonly mcpServers: readonly McpServer[];
  /** The stored session to go on with; null for a new one. */
  readonly resume: string | null;
  readonly signal: AbortSignal;
  /** What is shown passes it. */
  readonly clean: Clean;
  /** Told what goes wrong where no editor would show it. */
  readonly note: (text: string) => void;
}

export interface Opened {
  readonly session: EditorSession;
  /** Tells all that was said before; for an editor that has not seen it. */
  readonly replay: () => Promise<void>;
  /** Tells what came up meanwhile and what comes up now: the editor knows the session. */
  readonly release: () => void;
}

/** Opens a session with a host of its own, because each may stand in another workspace. */
export async function openSession(request: OpenRequest): Promise<Opened> {
  refuseBadDirectories(request);
  const line = createLine(request);
  let host: Host | null = null;
  let opened: Session | null = null;
  const cwd = (): string => opened?.state().cwd ?? request.cwd;
  const updates = createUpdates({
    notices: request.abilities.notices,
    cwd,
    awaitsHooks: () => host !== null && hasDisplayHooks(host),
  });
  const say = (aside: Aside): void => updates.ofAside(aside).forEach(line.send);
  const asking = createAskingCall();
  const words = createDeltaBuffer();
  const editor: Editor = {
    client: request.client,
    abilities: request.abilities,
    sessionId: line.knownId,
    cwd,
    askingCall: asking.now,
    tell: line.send,
    say,
    settled: line.settled,
    clean: request.clean,
  };
  host = await createHost({
    ...optionsOf(request),
    person: personIn(editor),
    onNotice: (text) => say({ severity: 'warning', text }),
    onLate: (late) => lateAsides(late).forEach(say),
  });
  host.subscribe((event) => {
    asking.follow(event);
    for (const each of words.take(event)) updates.of(each).forEach(line.send);
  });
  try {
    const wish = request.resume === null ? {} : { resume: request.resume };
    const { sessionId, transcriptPath } = await host.start({
      ...wish,
      idle: true,
      signal: request.signal,
    });
    line.name(sessionId);
    opened = host.session(sessionId);
    return {
      session: new EditorSession({ host, session: opened, editor }),
      replay: () => tellEarlier(transcriptPath, { cwd: cwd(), line, note: request.note }),
      release: line.release,
    };
  } catch (error) {
    await host.dispose();
    throw error;
  }
}

function refuseBadDirectories({ cwd, additionalDirectories }: OpenRequest): void {
  for (const directory of [cwd, ...additionalDirectories]) {
    if (path.isAbsolute(directory) && isDirectory(directory)) continue;
    const found = JSON.stringify(directory);
    throw wrongParams(`a session needs absolute paths of directories that exist, found ${found}`);
  }
}

function optionsOf(request: OpenRequest): HostOptions {
  const { hostOptions, cwd, additionalDirectories, mcpServers } = request;
  const { addDirectories = [], mcpConfig = [] } = hostOptions;
  return {
    ...hostOptions,
    cwd,
    addDirectories: [...addDirectories, ...additionalDirectories],
    mcpConfig: [...mcpConfig, ...mcpConfigOf(mcpServers)],
    watch: 'soon',
  };
}

function personIn(editor: Editor): Person {
  return {
    approve: (request, signal) => approveInEditor(editor, request, signal),
    answer: (questions, signal) => answerInEditor(editor, questions, signal),
    elicit: (request, signal) => elicitInEditor(editor, request, signal),
  };
}

/** Hooks that change what a person sees must be asked before anything is shown. */
function hasDisplayHooks(host: Host): boolean {
  return host
    .hooks()
    .some(({ hook, state }) => state === 'ready' && hook.events.includes('MessageDisplay'));
}

interface AskingCall {
  /** The call that asks the person something now. */
  readonly now: () => string | null;
  readonly follow: (event: RuntimeEvent) => void;
}

function createAskingCall(): AskingCall {
  let asking: string | null = null;
  return {
    now: () => asking,
    follow(event) {
      if (event.type === 'tool-start' && event.tool === 'AskUserQuestion') asking = event.callId;
      if (event.type === 'tool-end' && event.callId === asking) asking = null;
      // A cancelled run tells of no end of its calls.
      if (event.type === 'run-end' && event.parentAgentId === null) asking = null;
    },
  };
}

interface Telling {
  readonly cwd: string;
  readonly line: Line;
  readonly note: (text: string) => void;
}

/** How many updates are looked through for secrets at once. */
const PORTION = 100;

async function tellEarlier(transcript: string | null, { cwd, line, note }: Telling): Promise<void> {
  if (transcript === null) return;
  try {
    const updates = [...replay(readTranscript(transcript, note), cwd)];
    while (updates.length > 0) await line.sendNow(updates.splice(0, PORTION));
  } catch (error) {
    note(`the transcript ${transcript} cannot be shown: ${getErrorMessage(error)}`);
  }
}
