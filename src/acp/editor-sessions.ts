import type * as acp from '@agentclientprotocol/sdk';
import { findRealPath } from '../base/paths.ts';
import type { HostOptions } from '../host/create-host.ts';
import { redactObject } from '../host/redact-object.ts';
import { readSessionIds, getSessionsDirectory } from '../sessions/session-id.ts';
import type { SessionStore, SessionSummary } from '../sessions/session-store.ts';
import { abilitiesOf, NO_ABILITIES } from './abilities.ts';
import type { EditorSession } from './editor-session.ts';
import { type Opened, openSession } from './open-session.ts';
import type { Clean } from './shown/without-secrets.ts';
import { unknownSession, wrongMoment, wrongParams } from './request-errors.ts';

export interface AcpOptions {
  /** Of every session: what the command line says. */
  readonly host: HostOptions;
  readonly store: SessionStore;
  /** Where that store is. */
  readonly stateDirectory: string;
  /** Whether secrets are shown. */
  readonly raw: boolean;
  /** Told what goes wrong where no editor would show it. */
  readonly note: (text: string) => void;
}

type Place = Pick<acp.NewSessionRequest, 'cwd' | 'additionalDirectories'> & {
  readonly mcpServers?: acp.McpServer[];
};

/** The sessions that one editor has open. */
export class EditorSessions {
  readonly #options: AcpOptions;
  readonly #sessions = new Map<string, EditorSession>();
  /** Those under way, so that none is left behind when the editor goes away. */
  readonly #opening = new Set<Promise<unknown>>();
  #abilities = NO_ABILITIES;
  /** Aborts when the editor is gone. */
  readonly #gone = new AbortController();
  readonly #clean: Clean = (value) => redactObject(value, this.#options);

  constructor(options: AcpOptions) {
    this.#options = options;
  }

  meet(capabilities: acp.ClientCapabilities | undefined): void {
    this.#abilities = abilitiesOf(capabilities);
  }

  async create(client: acp.AgentContext, place: Place): Promise<acp.NewSessionResponse> {
    const { session, release } = await this.#open(client, place, null);
    // The answer must be on its way first: without it the editor does not know the id.
    setImmediate(() => {
      release();
      session.announceCommands();
    });
    return { sessionId: session.id, ...session.setup() };
  }

  /** Goes on with a stored session, after telling all that was said in it. */
  async load(
    client: acp.AgentContext,
    request: acp.LoadSessionRequest,
  ): Promise<acp.LoadSessionResponse> {
    const opened = await this.#reopen(client, request);
    await opened.replay();
    return this.#goOn(opened);
  }

  /** The same for an editor that still shows it. */
  async resume(
    client: acp.AgentContext,
    request: acp.ResumeSessionRequest,
  ): Promise<acp.ResumeSessionResponse> {
    return this.#goOn(await this.#reopen(client, request));
  }

  #goOn({ session, release }: Opened): acp.LoadSessionResponse {
    release();
    setImmediate(() => session.announceCommands());
    return session.setup();
  }

  async #reopen(
    client: acp.AgentContext,
    request: Place & { readonly sessionId: string },
  ): Promise<Opened> {
    const { sessionId } = request;
    if (!this.#isStored(sessionId)) throw unknownSession(sessionId);
    await this.close(sessionId);
    return this.#open(client, request, sessionId);
  }

  async #open(
    client: acp.AgentContext,
    { cwd, additionalDirectories = [], mcpServers = [] }: Place,
    resume: string | null,
  ): Promise<Opened> {
    const { signal } = this.#gone;
    if (signal.aborted) throw wrongMoment('the connection is closed');
    const { host: hostOptions, note } = this.#options;
    const places = { cwd, additionalDirectories, mcpServers, resume };
    const editor = { client, abilities: this.#abilities, clean: this.#clean };
    const opening = openSession({ ...editor, hostOptions, note, signal, ...places });
    this.#opening.add(opening);
    try {
      const opened = await opening;
      this.#sessions.set(opened.session.id, opened.session);
      return opened;
    } finally {
      this.#opening.delete(opening);
    }
  }

  find(sessionId: string): EditorSession {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) throw unknownSession(sessionId);
    return session;
  }

  async list({ cwd, cursor }: acp.ListSessionsRequest): Promise<acp.ListSessionsResponse> {
    const from = startOf(cursor);
    const stored = this.#options.store.list().filter(({ messageCount }) => messageCount > 0);
    const wanted = typeof cwd === 'string' ? (findRealPath(cwd) ?? cwd) : null;
    const isHere = ({ startDirectory }: SessionSummary): boolean =>
      wanted === null || startDirectory === wanted;
    const here = stored.filter(isHere);
    const end = from + PAGE;
    const page = here.slice(from, end);
    const titles = await this.#clean(page.map(titleOf));
    return {
      sessions: page.map((summary, index) => infoOf(summary, titles[index] ?? '')),
      ...(here.length > end ? { nextCursor: String(end) } : {}),
    };
  }

  async delete(sessionId: string): Promise<void> {
    await this.close(sessionId);
    if (!this.#isStored(sessionId)) throw unknownSession(sessionId);
    this.#options.store.remove(sessionId);
  }

  /** Nothing happens when it is not open. */
  async close(sessionId: string): Promise<void> {
    const session = this.#sessions.get(sessionId);
    this.#sessions.delete(sessionId);
    await session?.close();
  }

  async closeAll(): Promise<void> {
    this.#gone.abort();
    await Promise.allSettled(this.#opening);
    await Promise.allSettled([...this.#sessions.keys()].map((id) => this.close(id)));
  }

  /** Whole ids only: an editor goes on with the id that it gave. */
  #isStored(sessionId: string): boolean {
    const ids = readSessionIds(getSessionsDirectory(this.#options.stateDirectory));
    return ids.includes(sessionId);
  }
}

const PAGE = 100;

function startOf(cursor: string | null | undefined): number {
  const from = Number(cursor ?? 0);
  if (Number.isInteger(from) && from >= 0) return from;
  throw wrongParams(`${JSON.stringify(cursor)} is no cursor that this list gave`);
}

const LONGEST_TITLE = 80;

/** Not yet cut: half a secret is not seen to be one. */
function titleOf({ title, firstPrompt }: SessionSummary): string {
  const [line = ''] = firstPrompt.trim().split('\n');
  return title ?? line;
}

function infoOf({ id, startDirectory, lastUsedAt }: SessionSummary, title: string) {
  return {
    sessionId: id,
    cwd: startDirectory,
    title: title.slice(0, LONGEST_TITLE),
    updatedAt: new Date(lastUsedAt).toISOString(),
  };
}
