import path from 'node:path';
import {
  type AgentContext,
  type McpServer,
  methods,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import type { Session } from '../agent/session/session.ts';
import type { Person } from '../agent/world.ts';
import { messageOf } from '../base/errors.ts';
import { isDirectory } from '../base/files.ts';
import { createHost, type Host, type HostOptions } from '../host/create-host.ts';
import { readTranscript } from '../sessions/transcript/read-transcript.ts';
import type { Abilities } from './abilities.ts';
import { EditorSession } from './editor-session.ts';
import { mcpConfigOf } from './mcp-config.ts';
import { answerInEditor } from './person/answer.ts';
import { approveInEditor } from './person/approve.ts';
import type { Editor } from './person/editor.ts';
import { elicitInEditor } from './person/elicit.ts';
import { wrongParams } from './request-errors.ts';
import type { Aside } from './shown/asides.ts';
import { replay } from './shown/replay.ts';
import { createUpdates } from './shown/updates.ts';

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
  /** Told what goes wrong where no editor would show it. */
  readonly note: (text: string) => void;
}

export interface Opened {
  readonly session: EditorSession;
  /** Tells all that was said before; for an editor that has not seen it. */
  readonly replay: () => void;
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
    isEdited: () => host !== null && hasEditors(host),
  });
  const say = (aside: Aside): void => updates.ofAside(aside).forEach(line.send);
  let askingCall: string | null = null;
  const editor: Editor = {
    client: request.client,
    abilities: request.abilities,
    sessionId: line.knownId,
    cwd,
    askingCall: () => askingCall,
    tell: line.send,
    say,
  };
  host = await createHost({
    ...optionsOf(request),
    person: personIn(editor),
    onNotice: (text) => say({ severity: 'warning', text }),
  });
  host.subscribe((event) => {
    if (event.type === 'tool-start' && event.tool === 'AskUserQuestion') askingCall = event.callId;
    updates.of(event).forEach(line.send);
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
      session: new EditorSession({ host, session: opened, tell: line.send, say }),
      replay: () =>
        tellEarlier(transcriptPath, { cwd: cwd(), tell: line.sendNow, note: request.note }),
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
function hasEditors(host: Host): boolean {
  return host.hooks().some(({ hook }) => hook.events.includes('MessageDisplay'));
}

interface Line {
  readonly name: (sessionId: string) => void;
  /** The session's id once the editor knows it. */
  readonly knownId: () => string | null;
  readonly send: (update: SessionUpdate) => void;
  /** Past what waits. */
  readonly sendNow: (update: SessionUpdate) => void;
  readonly release: () => void;
}

/** Updates to the editor, which wait until it knows which session they are about. */
function createLine({ client }: OpenRequest): Line {
  const waiting: SessionUpdate[] = [];
  let sessionId = '';
  let isKnown = false;
  const sendNow = (update: SessionUpdate): void => {
    // An editor that is gone is noticed by whoever reads what it sends.
    void client.notify(methods.client.session.update, { sessionId, update }).catch(() => undefined);
  };
  return {
    name: (id) => void (sessionId = id),
    knownId: () => (isKnown ? sessionId : null),
    sendNow,
    send: (update) => void (isKnown ? sendNow(update) : waiting.push(update)),
    release() {
      isKnown = true;
      waiting.splice(0).forEach(sendNow);
    },
  };
}

interface Telling {
  readonly cwd: string;
  readonly tell: (update: SessionUpdate) => void;
  readonly note: (text: string) => void;
}

function tellEarlier(transcript: string | null, { cwd, tell, note }: Telling): void {
  if (transcript === null) return;
  try {
    for (const update of replay(readTranscript(transcript, note), cwd)) tell(update);
  } catch (error) {
    note(`the transcript ${transcript} cannot be shown: ${messageOf(error)}`);
  }
}
