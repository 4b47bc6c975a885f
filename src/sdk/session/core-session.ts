import { systemClock } from '../../base/clock.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { ignoredOptions } from '../input/ignored-options.ts';
import { isRecord } from '../../base/json.ts';
import { startTimeLimit } from '../../base/time-limit.ts';
import type { AgentUsage } from '../../plugins/contract/snapshot.ts';
import type { PluginStatus } from '../../plugins/registry.ts';
import { getSessionsDirectory } from '../../sessions/session-id.ts';
import type { Message } from '../../sessions/messages.ts';
import { type AgentResult, createCallLog } from './agent-result.ts';
import type { CoreSessionEvent, SessionStatus } from '../core-events.ts';
import { busy, endedMeanwhile, SessionNotFoundError } from '../errors.ts';
import { beginSession, type OpenedSession, type OpenRequest, openSession } from './open-session.ts';
import { createSessionNews, type SessionNews } from './session-news.ts';
import { createPendingPrompts, type PendingPrompts, type SaidPrompt } from '../pending-prompts.ts';
import { runPrompt } from './run-prompt.ts';
import {
  filesOf,
  newRecord,
  type SessionFiles,
  type SessionRecord,
  writeFiles,
} from '../session-files.ts';
import type { ClineCoreOptions, ClineCoreStartInput } from '../start-input.ts';

export interface SessionMeans {
  readonly id: string;
  readonly core: ClineCoreOptions;
  readonly input: ClineCoreStartInput;
  readonly cwd: string;
  readonly emit: (event: CoreSessionEvent) => void;
  /** Called when it has ended. */
  readonly onEnd: () => Promise<void>;
}

interface Running {
  readonly done: Promise<unknown>;
}

/** What a session took since it was opened. */
export type SessionUsage = AgentUsage & { totalCost: number };

/** One session of a `ClineCore`, with a host of its own. */
export class CoreSession {
  readonly id: string;
  readonly pending: PendingPrompts;
  readonly #means: SessionMeans;
  readonly #calls = createCallLog();
  readonly #news: SessionNews;
  readonly #closing = new AbortController();
  #opening: Promise<void> | null = null;
  #opened: OpenedSession | null = null;
  #record: SessionRecord;
  #files: SessionFiles = { manifestPath: '', messagesPath: '' };
  #running: Running | null = null;
  #ended: Promise<void> | null = null;
  /** What was said and used, once there is no session to ask any more. */
  #last: { messages: readonly Message[]; usage: SessionUsage | null } = {
    messages: [],
    usage: null,
  };

  constructor(means: SessionMeans) {
    this.#means = means;
    this.id = means.id;
    this.#record = newRecord(means);
    this.#news = createSessionNews(means);
    this.pending = createPendingPrompts((prompts) =>
      means.emit({ type: 'pending_prompts', payload: { sessionId: this.id, prompts } }),
    );
  }

  get record(): SessionRecord {
    return { ...this.#record };
  }

  get files(): SessionFiles {
    return this.#files;
  }

  get isOpen(): boolean {
    return this.#opened !== null;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  messages(): readonly Message[] {
    return this.#opened === null
      ? this.#last.messages
      : this.#opened.host.session(this.id).messages();
  }

  plugins(): readonly PluginStatus[] {
    return this.#opened?.host.plugins(this.id)?.list() ?? [];
  }

  usage(): SessionUsage | null {
    if (this.#opened === null) return this.#last.usage;
    const { usage, costUsd } = this.#opened.host.session(this.id).state();
    return { ...usage, totalCost: costUsd ?? 0 };
  }

  /** Rejects when it cannot be opened, or is ended meanwhile; then nothing of it is left. */
  async open(): Promise<void> {
    this.#opening = this.#open();
    try {
      await this.#opening;
    } finally {
      this.#opening = null;
    }
  }

  async #open(): Promise<void> {
    const { id, core, input, cwd } = this.#means;
    const { signal } = this.#closing;
    const request = {
      id,
      core,
      input,
      cwd,
      signal,
      ...this.#news,
      emitEvent: (name: string, payload: unknown) => this.takePluginEvent(name, payload),
    };
    for (const text of ignoredOptions(core, input)) this.#news.onNotice(text);
    try {
      const opened = await openSession(request);
      await this.#begin(opened, request);
      if (signal.aborted) throw endedMeanwhile(id);
    } catch (error) {
      const opened = this.#opened;
      this.#opened = null;
      await closeAll(opened);
      throw signal.aborted ? endedMeanwhile(id) : error;
    }
    await this.#save();
  }

  async #begin(opened: OpenedSession, request: OpenRequest): Promise<void> {
    const { id } = this.#means;
    this.#opened = opened;
    if (request.signal.aborted) return;
    opened.host.subscribe((event) => {
      this.#calls.hear(event);
      this.#news.hear(event);
    });
    const { stateDirectory } = opened.host;
    this.#files = filesOf(
      stateDirectory === null ? null : getSessionsDirectory(stateDirectory),
      id,
    );
    this.#record.messagesPath = this.#files.messagesPath;
    await beginSession(opened, request);
  }

  /** Runs a prompt; what waits runs afterwards. */
  async run(said: SaidPrompt, timeoutMs?: number): Promise<AgentResult> {
    const result = await this.#work(said, timeoutMs);
    void this.#drain().catch(() => undefined);
    return result;
  }

  /** Runs a prompt and all that came to wait meanwhile, then ends as the last of them did. */
  async runToEnd(said: SaidPrompt): Promise<AgentResult> {
    const first = await this.#work(said);
    const last = (await this.#drain()) ?? first;
    const isFailed = last.finishReason === 'error' || last.finishReason === 'max_iterations';
    const status = last.finishReason === 'aborted' ? 'cancelled' : 'completed';
    await this.end(isFailed ? 'failed' : status, isFailed ? 'failed' : status);
    return first;
  }

  /** Says it to the agent at work; false when it does not work. */
  steer(prompt: string): boolean {
    return this.#opened?.host.steer(this.id, prompt) ?? false;
  }

  async abort(reason: string): Promise<void> {
    await this.#opened?.host.abort(this.id, reason);
  }

  async switchModel(model: string): Promise<string | null> {
    const refusal =
      (await this.#opened?.host.switchModel(this.id, model, { source: 'sdk' })) ?? null;
    if (refusal === null) this.#record.model = model;
    return refusal;
  }

  async update(change: Partial<Pick<SessionRecord, 'prompt' | 'metadata'>>): Promise<void> {
    this.#record = { ...this.#record, ...change };
    await this.#save();
  }

  /** Ends it, with what runs; it stays readable. */
  async end(status: SessionStatus, reason: string): Promise<void> {
    this.#closing.abort();
    await this.#opening?.catch(() => undefined);
    if (this.#opened !== null) this.#ended ??= this.#end(this.#opened, status, reason);
    await this.#ended;
  }

  async #end(opened: OpenedSession, status: SessionStatus, reason: string): Promise<void> {
    await this.abort(reason);
    await this.#running?.done.catch(() => undefined);
    this.#last = { messages: [...this.messages()], usage: this.usage() };
    this.#opened = null;
    const now = systemClock.now();
    this.#record.endedAt = new Date(now).toISOString();
    this.#record.exitCode = status === 'failed' ? 1 : 0;
    await opened.host.end(this.id, 'other').catch(() => undefined);
    await closeAll(opened);
    this.#setStatus(status);
    await this.#save();
    await this.#means
      .onEnd()
      .catch((error: unknown) => this.#news.onNotice(getErrorMessage(error)));
    this.#means.emit({ type: 'ended', payload: { sessionId: this.id, reason, ts: now } });
  }

  /** `steer_message`, `queue_message` and `pending_prompt` of plugins; others are nobody's. */
  takePluginEvent(name: string, payload: unknown): void {
    const { prompt, delivery } = isRecord(payload) ? payload : {};
    if (typeof prompt !== 'string' || prompt.trim() === '') return;
    const isSteering = name === 'steer_message' || delivery === 'steer';
    if (!['steer_message', 'queue_message', 'pending_prompt'].includes(name)) return;
    if (isSteering && this.steer(prompt)) return;
    this.enqueue({ prompt });
  }

  enqueue(said: SaidPrompt): void {
    this.pending.add(said);
    if (!this.isRunning && this.isOpen) void this.#drain().catch(() => undefined);
  }

  async #drain(): Promise<AgentResult | null> {
    let last: AgentResult | null = null;
    while (this.isOpen && !this.isRunning) {
      const next = this.pending.take();
      if (next === null) break;
      const payload = { ...next, sessionId: this.id };
      this.#means.emit({ type: 'pending_prompt_submitted', payload });
      last = await this.#work(next);
    }
    return last;
  }

  async #work(said: SaidPrompt, timeoutMs?: number): Promise<AgentResult> {
    if (this.#running !== null) throw busy(this.id);
    const done = this.#limited(said, timeoutMs);
    this.#running = { done };
    this.#setStatus('running');
    try {
      return await done;
    } finally {
      this.#running = null;
      this.#setStatus('idle');
      await this.#save();
    }
  }

  async #limited(said: SaidPrompt, timeoutMs?: number): Promise<AgentResult> {
    const request = { ...said, calls: this.#calls };
    if (timeoutMs === undefined) return runPrompt(this.#found(), request);
    const limit = startTimeLimit(new AbortController().signal, timeoutMs);
    const giveUp = (): void => void this.abort(`it took longer than ${timeoutMs} ms`);
    limit.signal.addEventListener('abort', giveUp, { once: true });
    try {
      return await runPrompt(this.#found(), request);
    } finally {
      limit.clear();
    }
  }

  #found(): OpenedSession {
    const opened = this.#opened;
    if (opened === null) throw new SessionNotFoundError(this.id);
    return opened;
  }

  #setStatus(status: SessionStatus): void {
    this.#record.status = status;
    this.#record.updatedAt = new Date(systemClock.now()).toISOString();
    this.#means.emit({ type: 'status', payload: { sessionId: this.id, status } });
  }

  async #save(): Promise<void> {
    const problem = await writeFiles(this.#files, this.#record, this.messages());
    if (problem !== null) this.#news.onNotice(problem);
  }
}

async function closeAll(opened: OpenedSession | null): Promise<void> {
  await opened?.host.dispose();
}
