import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { AttachedSession } from '../../callback/attached-session.ts';
import { systemClock } from '../../base/clock.ts';
import { dropUndefined } from '../../base/defined.ts';
import { HooklineError, getErrorMessage } from '../../base/errors.ts';
import { toKeptMessages } from '../../plugins/messages/provider-messages.ts';
import { readSurroundings } from '../../host/surroundings.ts';
import type { ProviderMessage } from '../../plugins/contract/message.ts';
import type { PluginStatus } from '../../plugins/registry.ts';
import type { AgentResult } from './session/agent-result.ts';
import type { CoreSession } from './session/core-session.ts';
import { SessionNotFoundError, createUnsupportedError } from './errors.ts';
import {
  checkSendInput,
  prepareInput,
  type PreparedInput,
  appendUserFiles,
} from './session-input.ts';
import { type Listener, Listeners } from './core-events.ts';
import { createPendingPromptsApi } from './pending-prompts.ts';
import { setClineCoreLoader } from './provided/lazy-cline-core.ts';
import {
  toManifest,
  type SessionManifest,
  type SessionRecord,
  findStoredRecord,
  readStoredMessages,
  removeStored,
  listStoredIds,
} from './session-files.ts';
import type { AgentMode, ClineCoreOptions, ClineCoreStartInput } from './start-input.ts';

export interface StartSessionResult {
  sessionId: string;
  manifest: SessionManifest;
  manifestPath: string;
  messagesPath: string;
  /** How the prompt ended; absent when there was none. */
  result?: AgentResult;
}

export interface SendInput {
  sessionId: string;
  prompt: string;
  /** For this prompt only; a steering message keeps the mode of the run. */
  mode?: AgentMode;
  userFiles?: string[];
  userImages?: string[];
  /** While the agent works: `steer` sends it to the agent at once, `queue` runs it afterwards. */
  delivery?: 'queue' | 'steer';
  timeoutMs?: number;
}

/** Runs agents in this process, as `@cline/core` does it: any number of sessions at once. */
export class ClineCore {
  readonly clientName: string | undefined;
  /** Always undefined: sessions run in this process. */
  readonly runtimeAddress = undefined;
  readonly pendingPrompts = createPendingPromptsApi((id) => this.#find(id));
  readonly #options: ClineCoreOptions;
  readonly #sessions = new Map<string, CoreSession>();
  readonly #opening = new Set<string>();
  readonly #listeners = new Listeners();
  #isDisposed = false;

  private constructor(options: ClineCoreOptions) {
    this.#options = options;
    this.clientName = options.clientName;
  }

  static async create(options: ClineCoreOptions = {}): Promise<ClineCore> {
    const { backendMode = 'auto' } = options;
    if (backendMode !== 'local' && backendMode !== 'auto') {
      throw createUnsupportedError(
        `backend "${backendMode}"`,
        'Sessions run in this process: omit backendMode, or use "local".',
      );
    }
    if (options.automation !== undefined && options.automation !== false) {
      throw createNoAutomationError();
    }
    // A plugin of it may start further sessions.
    setClineCoreLoader(async () => ClineCore);
    return new ClineCore(options);
  }

  /**
   * The session that runs the hook whose program this is. `env` is the program's environment by default.
   * Throws outside of a hook.
   */
  static attach(env = readSurroundings().env): AttachedSession {
    return AttachedSession.fromEnvironment(env);
  }

  /** Opens a session; with a prompt, runs it and answers when it has ended. */
  async start(startInput: ClineCoreStartInput): Promise<StartSessionResult> {
    const prepared = await prepareInput(this.#options, startInput);
    try {
      return await this.#startPrepared(prepared);
    } catch (error) {
      await prepared.dispose();
      throw error;
    }
  }

  async #startPrepared(prepared: PreparedInput): Promise<StartSessionResult> {
    const { prompt, interactive } = prepared.input;
    const sent = prompt === undefined ? null : { prompt: appendUserFiles(prompt, prepared.input) };
    const session = await this.#open(prepared);
    const manifest = toManifest(session.record);
    const opened = { sessionId: session.id, manifest, ...session.files };
    if (sent === null) return opened;
    const result = await (interactive === true ? session.run(sent) : session.runToEnd(sent));
    return { ...opened, result };
  }

  /** A further prompt. Undefined when the agent works and the prompt waits or steers it. */
  async send(input: SendInput): Promise<AgentResult | undefined> {
    checkSendInput(input);
    const session = this.#find(input.sessionId);
    const { delivery, timeoutMs, mode } = input;
    const prompt = appendUserFiles(input.prompt, input);
    const sent = mode === undefined ? { prompt } : { prompt, mode };
    if (!session.isRunning || delivery === undefined) return session.run(sent, timeoutMs);
    if (delivery === 'queue' || !session.steer(prompt)) session.enqueue(sent);
    return undefined;
  }

  /** Ends the current run, which resolves with its result. */
  async abort(sessionId: string, reason: unknown = 'the run was aborted'): Promise<void> {
    await this.#find(sessionId).abort(getErrorMessage(reason));
  }

  /** Ends a session; it can still be read. */
  async stop(sessionId: string): Promise<void> {
    await this.#find(sessionId).end('stopped');
  }

  /** Ends every session, also those that are being opened; no further one can be started. */
  async dispose(reason = 'disposed'): Promise<void> {
    this.#isDisposed = true;
    const all = [...this.#sessions.values()];
    await Promise.all(all.map((session) => session.end(reason)));
    this.#listeners.clear();
  }

  async get(sessionId: string): Promise<SessionRecord | undefined> {
    const live = this.#sessions.get(sessionId);
    return live?.record ?? findStoredRecord(sessionId);
  }

  /** Lists stored and open sessions, most recently used first. */
  async list(limit = 200): Promise<SessionRecord[]> {
    const ids = listStoredIds();
    const all = [...new Set([...ids, ...this.#sessions.keys()])].slice(0, limit);
    const records = await Promise.all(all.map((id) => this.get(id)));
    return records.filter((record) => record !== undefined);
  }

  async listHistory({ limit }: { limit?: number } = {}): Promise<SessionRecord[]> {
    return this.list(limit);
  }

  async delete(sessionId: string): Promise<boolean> {
    const live = this.#sessions.get(sessionId);
    await live?.end('deleted');
    this.#sessions.delete(sessionId);
    return removeStored(sessionId) || live !== undefined;
  }

  async update(
    sessionId: string,
    {
      prompt,
      metadata,
      title,
    }: { prompt?: string; metadata?: Record<string, unknown>; title?: string },
  ): Promise<{ updated: boolean }> {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return { updated: false };
    const titled = title === undefined ? metadata : { ...metadata, title };
    await session.update({
      ...dropUndefined({ prompt }),
      ...(titled === undefined ? {} : { metadata: { ...session.record.metadata, ...titled } }),
    });
    return { updated: true };
  }

  async readMessages(sessionId: string): Promise<ProviderMessage[]> {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) return session.messages();
    return toKeptMessages(readStoredMessages(sessionId));
  }

  readLiveMessages(sessionId: string): Promise<ProviderMessage[]> {
    return this.readMessages(sessionId);
  }

  readDisplayMessages(sessionId: string): Promise<ProviderMessage[]> {
    return this.readMessages(sessionId);
  }

  /** Since the session was opened. */
  async getAccumulatedUsage(sessionId: string) {
    const usage = this.#sessions.get(sessionId)?.usage() ?? null;
    return usage === null ? undefined : { usage, aggregateUsage: usage };
  }

  subscribe(listener: Listener, { sessionId }: { sessionId?: string } = {}): () => void {
    return this.#listeners.add(listener, sessionId ?? null);
  }

  /** Switches the model, after its hooks were asked. */
  async updateSessionModel(sessionId: string, modelId: string): Promise<void> {
    const refusal = await this.#find(sessionId).switchModel(modelId);
    if (refusal !== null) throw new HooklineError('MODEL_REFUSED', { message: refusal });
  }

  /** Every plugin of a session: what it contributes, and what is wrong with it. */
  plugins(sessionId: string): readonly PluginStatus[] {
    return this.#find(sessionId).plugins();
  }

  get automation(): never {
    throw createNoAutomationError();
  }

  get settings(): never {
    throw createUnsupportedError('settings of Cline', 'Hookline reads ~/.hookline/config.json.');
  }

  get featureFlags(): never {
    throw createUnsupportedError('feature flags', 'There is nothing that they could switch.');
  }

  async updateSessionCompactionState(): Promise<never> {
    throw createNoCompactionStateError();
  }

  async readSessionCompactionState(): Promise<never> {
    throw createNoCompactionStateError();
  }

  async updateSessionConnection(): Promise<never> {
    throw createUnsupportedError(
      'other connection for an open session',
      'Use updateSessionModel, or start a session with the other provider.',
    );
  }

  async restore(): Promise<never> {
    throw createUnsupportedError('checkpoints', 'Use the history of your version control.');
  }

  async compareCheckpoint(): Promise<never> {
    throw createUnsupportedError('checkpoints', 'Use the history of your version control.');
  }

  async ingestHookEvent(): Promise<never> {
    throw createUnsupportedError('hub to send events to', 'File hooks run in the session itself.');
  }

  async #open({ input, ...prepared }: PreparedInput): Promise<CoreSession> {
    const id = input.config.sessionId ?? createId();
    const existing = this.#sessions.get(id);
    if (existing?.isOpen === true || this.#opening.has(id)) throw createAlreadyOpenError(id);
    this.#opening.add(id);
    try {
      // Most of the agent is loaded with the first session.
      const { CoreSession: Session } = await import('./session/core-session.ts');
      if (this.#isDisposed) throw createDisposedError();
      const session = new Session({
        id,
        core: this.#options,
        input,
        cwd: path.resolve(readSurroundings().cwd, input.config.cwd ?? ''),
        emit: (event) => this.#listeners.emit(event),
        onEnd: () => prepared.dispose(),
      });
      this.#sessions.set(id, session);
      await session.opened;
      return session;
    } catch (error) {
      if (existing === undefined) this.#sessions.delete(id);
      else this.#sessions.set(id, existing);
      throw error;
    } finally {
      this.#opening.delete(id);
    }
  }

  #find(sessionId: string): CoreSession {
    const session = this.#sessions.get(sessionId);
    if (session?.isOpen !== true) throw new SessionNotFoundError(sessionId);
    return session;
  }
}

function createId(): string {
  return `${systemClock.now()}_${randomUUID().slice(0, 5)}`;
}

function createNoAutomationError(): HooklineError {
  return createUnsupportedError(
    'automation yet',
    'Leave it out; plugins then get no ctx.automation.',
  );
}

function createNoCompactionStateError(): HooklineError {
  return createUnsupportedError(
    'state of compaction to be read or set',
    'A session compacts itself when its conversation gets too long.',
  );
}

function createAlreadyOpenError(id: string): HooklineError {
  return new HooklineError('SESSION_BUSY', {
    message: `the session ${id} is open here already`,
    hint: 'Speak to it with send, or stop it before it is started again.',
  });
}

function createDisposedError(): HooklineError {
  return new HooklineError('USAGE_INVALID', {
    message: 'this core was disposed, so that no session can be started with it',
    hint: 'Create another one.',
  });
}
