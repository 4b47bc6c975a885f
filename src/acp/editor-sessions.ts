import type * as acp from '@agentclientprotocol/sdk';
import { findRealPath } from '../base/paths.ts';
import type { HostOptions } from '../host/create-host.ts';
import { redactObject } from '../host/redact-object.ts';
import { readSessionIds, getSessionsDirectory } from '../sessions/session-id.ts';
import type { SessionStore, SessionSummary } from '../sessions/session-store.ts';
import { readCapabilities, NO_CAPABILITIES } from './capabilities.ts';
import type { EditorSession } from './editor-session.ts';
import { openEditorSession, type SessionPlace } from './open-session.ts';
import type { Redact } from './updates/redact-updates.ts';
import {
  createUnknownSessionError,
  createInvalidRequestError,
  createInvalidParamsError,
} from './request-errors.ts';

export interface AcpOptions {
  /** The options of every session, from the command line. */
  readonly host: HostOptions;
  readonly store: SessionStore;
  /** The directory of that store. */
  readonly stateDirectory: string;
  /** Whether secrets are shown. */
  readonly raw: boolean;
  /** Reports a problem that no editor would show. */
  readonly note: (text: string) => void;
}

/** The sessions that one editor has open. */
export class EditorSessions {
  readonly #options: AcpOptions;
  readonly #sessions = new Map<string, EditorSession>();
  /** Sessions being opened, so that none is left behind when the editor disconnects. */
  readonly #opening = new Set<Promise<unknown>>();
  #capabilities = NO_CAPABILITIES;
  /** Aborts when the editor has disconnected. */
  readonly #disconnected = new AbortController();
  readonly #redact: Redact = (value) => redactObject(value, this.#options);

  constructor(options: AcpOptions) {
    this.#options = options;
  }

  setCapabilities(capabilities: acp.ClientCapabilities | undefined): void {
    this.#capabilities = readCapabilities(capabilities);
  }

  async create(client: acp.AgentContext, place: SessionPlace): Promise<acp.NewSessionResponse> {
    const session = await this.#open(client, place, null);
    // The response goes first: without it the editor does not know the id.
    setImmediate(() => {
      session.release();
      session.announceCommands();
    });
    return { sessionId: session.id, ...session.setup() };
  }

  /** Resumes a stored session, after replaying its transcript. */
  async load(
    client: acp.AgentContext,
    request: acp.LoadSessionRequest,
  ): Promise<acp.LoadSessionResponse> {
    const session = await this.#reopen(client, request);
    await session.replay();
    return this.#release(session);
  }

  /** Resumes a stored session whose transcript the editor still shows. */
  async resume(
    client: acp.AgentContext,
    request: acp.ResumeSessionRequest,
  ): Promise<acp.ResumeSessionResponse> {
    return this.#release(await this.#reopen(client, request));
  }

  #release(session: EditorSession): acp.LoadSessionResponse {
    session.release();
    setImmediate(() => session.announceCommands());
    return session.setup();
  }

  async #reopen(
    client: acp.AgentContext,
    request: SessionPlace & Pick<acp.LoadSessionRequest, 'sessionId'>,
  ): Promise<EditorSession> {
    const { sessionId } = request;
    if (!this.#isStored(sessionId)) throw createUnknownSessionError(sessionId);
    await this.close(sessionId);
    return this.#open(client, request, sessionId);
  }

  async #open(
    client: acp.AgentContext,
    { cwd, additionalDirectories = [], mcpServers = [] }: SessionPlace,
    resume: string | null,
  ): Promise<EditorSession> {
    const { signal } = this.#disconnected;
    if (signal.aborted) throw createInvalidRequestError('the connection is closed');
    const { host: hostOptions, note } = this.#options;
    const places = { cwd, additionalDirectories, mcpServers, resume };
    const editor = { client, capabilities: this.#capabilities, redact: this.#redact };
    const opening = openEditorSession({ ...editor, hostOptions, note, signal, ...places });
    this.#opening.add(opening);
    try {
      const session = await opening;
      this.#sessions.set(session.id, session);
      return session;
    } finally {
      this.#opening.delete(opening);
    }
  }

  find(sessionId: string): EditorSession {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) throw createUnknownSessionError(sessionId);
    return session;
  }

  async list({ cwd, cursor }: acp.ListSessionsRequest): Promise<acp.ListSessionsResponse> {
    const from = parseCursor(cursor);
    const stored = this.#options.store.list().filter(({ messageCount }) => messageCount > 0);
    const directory = typeof cwd === 'string' ? (findRealPath(cwd) ?? cwd) : null;
    const isHere = ({ startDirectory }: SessionSummary): boolean =>
      directory === null || startDirectory === directory;
    const here = stored.filter(isHere);
    const end = from + PAGE;
    const page = here.slice(from, end);
    const titles = await this.#redact(page.map(readTitle));
    return {
      sessions: page.map((summary, index) => toSessionInfo(summary, titles[index] ?? '')),
      ...(here.length > end ? { nextCursor: String(end) } : {}),
    };
  }

  async delete(sessionId: string): Promise<void> {
    await this.close(sessionId);
    if (!this.#isStored(sessionId)) throw createUnknownSessionError(sessionId);
    this.#options.store.remove(sessionId);
  }

  /** Nothing happens when it is not open. */
  async close(sessionId: string): Promise<void> {
    const session = this.#sessions.get(sessionId);
    this.#sessions.delete(sessionId);
    await session?.close();
  }

  async closeAll(): Promise<void> {
    this.#disconnected.abort();
    await Promise.allSettled(this.#opening);
    await Promise.allSettled([...this.#sessions.keys()].map((id) => this.close(id)));
  }

  /** Whole ids only, because an editor resumes with the id that it was sent. */
  #isStored(sessionId: string): boolean {
    const ids = readSessionIds(getSessionsDirectory(this.#options.stateDirectory));
    return ids.includes(sessionId);
  }
}

const PAGE = 100;

function parseCursor(cursor: string | null | undefined): number {
  const from = Number(cursor ?? 0);
  if (Number.isInteger(from) && from >= 0) return from;
  throw createInvalidParamsError(`${JSON.stringify(cursor)} is not a cursor of this list`);
}

const LONGEST_TITLE = 80;

/** Not truncated yet, because half a secret is not recognised as one. */
function readTitle({ title, firstPrompt }: SessionSummary): string {
  const [line = ''] = firstPrompt.trim().split('\n');
  return title ?? line;
}

function toSessionInfo({ id, startDirectory, lastUsedAt }: SessionSummary, title: string) {
  return {
    sessionId: id,
    cwd: startDirectory,
    title: title.slice(0, LONGEST_TITLE),
    updatedAt: new Date(lastUsedAt).toISOString(),
  };
}
