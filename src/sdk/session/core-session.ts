import { systemClock } from '../../base/clock.ts';
import { HooklineError } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { limitTime } from '../../base/time-limit.ts';
import type { AgentUsage } from '../../plugins/contract/snapshot.ts';
import type { PluginStatus } from '../../plugins/registry.ts';
import { sessionsDirectory } from '../../sessions/session-id.ts';
import type { Message } from '../../sessions/messages.ts';
import { agentResult, type AgentResult, createCallLog, replyResult } from './agent-result.ts';
import type { CoreSessionEvent, SessionStatus } from '../core-events.ts';
import { SessionNotFoundError } from '../errors.ts';
import { beginSession, type OpenedSession, openSession } from './open-session.ts';
import { createSessionNews, type SessionNews } from './session-news.ts';
import { createPendingPrompts, type PendingPrompts } from '../pending-prompts.ts';
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
  #opened: OpenedSession | null = null;
  #record: SessionRecord;
  #files: SessionFiles = { manifestPath: '', messagesPath: '' };
  #running: Promise<unknown> | null = null;
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
    return this.#opened?.plugins.registry.list() ?? [];
  }

  usage(): SessionUsage | null {
    if (this.#opened === null) return this.#last.usage;
    const { usage, costUsd } = this.#opened.host.session(this.id).state();
    return { ...usage, totalCost: costUsd ?? 0 };
  }

  async open(): Promise<void> {
    const { id, core, input, cwd } = this.#means;
    const request = {
      id,
      core,
      input,
      cwd,
      ...this.#news,
      emitEvent: (name: string, payload: unknown) => this.takePluginEvent(name, payload),
    };
    const opened = await openSession(request);
    this.#opened = opened;
    opened.host.subscribe((event) => {
      this.#calls.hear(event);
      this.#news.hear(event);
    });
    const { stateDirectory } = opened.host;
    this.#files = filesOf(stateDirectory === null ? null : sessionsDirectory(stateDirectory), id);
    this.#record.messagesPath = this.#files.messagesPath;
    try {
      await beginSession(opened, request);
    } catch (error) {
      this.#opened = null;
      await opened.host.dispose();
      throw error;
    }
    await this.#save();
  }

  /** Runs a prompt; what waits runs afterwards. */
  async run(prompt: string, timeoutMs?: number): Promise<AgentResult> {
    const result = await this.#work(() => this.#limited(prompt, timeoutMs));
    void this.#drain().catch(() => undefined);
    return result;
  }

  /** Runs a prompt and all that came to wait meanwhile, then ends; how the last one went is the result. */
  async runToEnd(prompt: string): Promise<AgentResult> {
    const first = await this.#work(() => this.#turn(prompt));
    const last = (await this.#drain()) ?? first;
    const isFailed = last.finishReason === 'error' || last.finishReason === 'max_iterations';
    const status = last.finishReason === 'aborted' ? 'cancelled' : 'completed';
    await this.end(isFailed ? 'failed' : status, isFailed ? 'failed' : status);
    return last;
  }

  /** Says it to the agent at work; false when it does not work. */
  steer(prompt: string): boolean {
    return this.#opened?.host.steer(this.id, prompt) ?? false;
  }

  async abort(reason: string): Promise<void> {
    await this.#opened?.host.abort(this.id, reason);
  }

  async switchModel(model: string): Promise<string | null> {
    const refusal = (await this.#opened?.host.switchModel(this.id, model, { source: 'sdk' })) ?? null;
    if (refusal === null) this.#record.model = model;
    return refusal;
  }

  async update(change: Partial<Pick<SessionRecord, 'prompt' | 'metadata'>>): Promise<void> {
    this.#record = { ...this.#record, ...change };
    await this.#save();
  }

  /** Ends it, with what runs; it stays readable. */
  async end(status: SessionStatus, reason: string): Promise<void> {
    if (this.#opened !== null) this.#ended ??= this.#end(this.#opened, status, reason);
    await this.#ended;
  }

  async #end(opened: OpenedSession, status: SessionStatus, reason: string): Promise<void> {
    await opened.host.abort(this.id, reason);
    await this.#running?.catch(() => undefined);
    this.#last = { messages: [...this.messages()], usage: this.usage() };
    this.#opened = null;
    const now = systemClock.now();
    this.#record.endedAt = new Date(now).toISOString();
    this.#record.exitCode = status === 'failed' ? 1 : 0;
    await opened.host.end(this.id, 'other').catch(() => undefined);
    await opened.plugins.dispose();
    await opened.host.dispose();
    this.#setStatus(status);
    await this.#save();
    this.#means.emit({ type: 'ended', payload: { sessionId: this.id, reason, ts: now } });
  }

  /** `steer_message`, `queue_message` and `pending_prompt` of plugins; others are nobody's. */
  takePluginEvent(name: string, payload: unknown): void {
    const { prompt, delivery } = isRecord(payload) ? payload : {};
    if (typeof prompt !== 'string' || prompt.trim() === '') return;
    const isSteering = name === 'steer_message' || delivery === 'steer';
    if (!['steer_message', 'queue_message', 'pending_prompt'].includes(name)) return;
    if (isSteering && this.steer(prompt)) return;
    this.enqueue(prompt);
  }

  enqueue(prompt: string): void {
    this.pending.add(prompt, 'queue');
    if (!this.isRunning && this.isOpen) void this.#drain().catch(() => undefined);
  }

  async #drain(): Promise<AgentResult | null> {
    let last: AgentResult | null = null;
    while (this.isOpen && !this.isRunning) {
      const next = this.pending.take();
      if (next === null) break;
      const payload = { ...next, sessionId: this.id };
      this.#means.emit({ type: 'pending_prompt_submitted', payload });
      last = await this.#work(() => this.#turn(next.prompt));
    }
    return last;
  }

  async #work(work: () => Promise<AgentResult>): Promise<AgentResult> {
    if (this.#running !== null) throw busy(this.id);
    const running = work();
    this.#running = running;
    this.#setStatus('running');
    try {
      return await running;
    } finally {
      this.#running = null;
      this.#setStatus('idle');
      await this.#save();
    }
  }

  async #limited(prompt: string, timeoutMs: number | undefined): Promise<AgentResult> {
    if (timeoutMs === undefined) return this.#turn(prompt);
    const limit = limitTime(new AbortController().signal, timeoutMs);
    const giveUp = (): void => void this.abort(`it took longer than ${timeoutMs} ms`);
    limit.signal.addEventListener('abort', giveUp, { once: true });
    try {
      return await this.#turn(prompt);
    } finally {
      limit.clear();
    }
  }

  async #turn(prompt: string): Promise<AgentResult> {
    const { host, plugins } = this.#found();
    const session = host.session(this.id);
    const said = await plugins.command(prompt);
    if (said !== null && said.prompt === null) {
      const { model } = session.state();
      return replyResult(said.reply ?? '', { messages: session.messages(), model });
    }
    const run = await host.send(this.id, said?.prompt ?? prompt);
    const { model } = session.state();
    return agentResult({ run, calls: this.#calls.calls(), messages: session.messages(), model });
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

function busy(id: string): HooklineError {
  return new HooklineError('SESSION_BUSY', {
    message: `the session ${id} is working on another prompt`,
    hint: 'Wait for it, abort it, or say how to deliver this one: "queue" or "steer".',
  });
}
