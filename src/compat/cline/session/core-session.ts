import { systemClock } from '../../../base/clock.ts';
import { getErrorMessage, HooklineError } from '../../../base/errors.ts';
import { listIgnoredOptions } from '../session-input.ts';
import { startTimeLimit } from '../../../base/abort.ts';
import type { AgentUsage } from '../../../plugins/contract/snapshot.ts';
import type { PluginIssue } from '../../../plugins/plugin-issue.ts';
import type { AgentRuntimeEvent } from '../../../plugins/contract/runtime-hooks.ts';
import type { PluginStatus } from '../../../plugins/registry.ts';
import { getSessionsDirectory } from '../../../sessions/session-id.ts';
import { PluginMessages } from '../../../host/plugins/events/plugin-messages.ts';
import { toKeptMessages } from '../../../plugins/messages/provider-messages.ts';
import type { ProviderMessage } from '../../../plugins/contract/message.ts';
import type { RuntimeEvent } from '../../../agent/runtime-event.ts';
import { type AgentResult, CallLog, createAgentResult } from './agent-result.ts';
import type { CoreSessionEvent } from '../core-events.ts';
import { createBusyError, SessionNotFoundError } from '../errors.ts';
import { startSession, type OpenRequest, openSessionHost } from './open-session.ts';
import { SessionEvents } from './session-events.ts';
import { type PromptQueue, readPluginPrompt } from '../../../agent/session/prompt-queue.ts';
import { createPromptQueue, type SentPrompt, toPendingPrompt } from '../pending-prompts.ts';
import {
  resolveFiles,
  createRecord,
  createSessionSnapshot,
  type SessionFiles,
  type SessionRecord,
  type SessionStatus,
  writeFiles,
} from '../session-files.ts';
import type { ClineCoreOptions, ClineCoreStartInput, AgentMode } from '../start-input.ts';
import type { Session } from '../../../agent/session/session.ts';
import type { Host } from '../../../host/create-host.ts';
import { toPermissionMode } from './tool-policies.ts';

interface CoreSessionOptions {
  readonly id: string;
  readonly core: ClineCoreOptions;
  readonly input: ClineCoreStartInput;
  readonly cwd: string;
  readonly emit: (event: CoreSessionEvent) => void;
  /** Called when it has ended. */
  readonly onEnd: () => Promise<void>;
}

/** The usage of a session since it was opened. */
export type SessionUsage = AgentUsage & { totalCost: number };

/** One session of a `ClineCore`, with its own host. */
export class CoreSession {
  readonly id: string;
  readonly pending: PromptQueue;
  /** Rejects when it cannot be opened or is ended meanwhile; its host is disposed then. */
  readonly opened: Promise<void>;
  readonly #options: CoreSessionOptions;
  readonly #calls = new CallLog();
  readonly #events: SessionEvents;
  readonly #closing = new AbortController();
  /** When each message was added, by which model, and what it took. */
  readonly #notes = new PluginMessages(
    () => this.#session?.state().model ?? null,
    () => systemClock.now(),
  );
  #host: Host | null = null;
  #record: SessionRecord;
  #files: SessionFiles = { manifestPath: '', messagesPath: '' };
  #running: Promise<unknown> | null = null;
  #ended: Promise<void> | null = null;
  /** Messages and usage, once the host is closed. */
  #last: { messages: ProviderMessage[]; usage: SessionUsage | null } = {
    messages: [],
    usage: null,
  };
  /** How the last run ended, as the status of a session that ends after it. */
  #lastStatus: SessionStatus = 'completed';
  /** Prompts that hooks and plugins send before this wait: the program's own prompt runs first. */
  #runsPrompts = false;
  /** Such a session is never idle: it ends with the status of its last run. */
  #endsAfterRun = false;

  constructor(options: CoreSessionOptions) {
    this.#options = options;
    this.id = options.id;
    const { id, core, input, cwd, emit } = options;
    this.#record = createRecord(id, input, cwd);
    this.#events = new SessionEvents(id, core, input, emit);
    this.pending = createPromptQueue(
      (prompts) =>
        options.emit({ type: 'pending_prompts', payload: { sessionId: this.id, prompts } }),
      () => void this.#drain().catch(() => undefined),
    );
    this.opened = this.#open();
  }

  get record(): SessionRecord {
    return { ...this.#record };
  }

  get files(): SessionFiles {
    return this.#files;
  }

  get isOpen(): boolean {
    return this.#host !== null;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Null when it is not open; throws SESSION_UNKNOWN while it is being opened. */
  get #session(): Session | null {
    return this.#host?.session(this.id) ?? null;
  }

  messages(): ProviderMessage[] {
    const session = this.#session;
    if (session === null) return this.#last.messages;
    return toKeptMessages(session.messages(), this.#notes.getNote);
  }

  plugins(): readonly PluginStatus[] {
    return this.#host?.plugins(this.id)?.list() ?? [];
  }

  usage(): SessionUsage | null {
    const session = this.#session;
    if (session === null) return this.#last.usage;
    const { usage, costUsd } = session.state();
    return { ...usage, totalCost: costUsd ?? 0 };
  }

  async #open(): Promise<void> {
    const { id, core, input, cwd } = this.#options;
    const { signal } = this.#closing;
    const request = {
      id,
      core,
      input,
      cwd,
      signal,
      onIssue: (issue: PluginIssue) => this.#events.sendIssue(issue),
      onNotice: (text: string) => this.#events.sendNotice(text),
      onEvent: (event: AgentRuntimeEvent) => this.#events.sendEvent(event),
      pendingPrompts: this.pending,
      emitEvent: (name: string, payload: unknown) => this.receivePluginEvent(name, payload),
    };
    for (const text of listIgnoredOptions(core, input)) this.#events.sendNotice(text);
    try {
      await this.#begin(await openSessionHost(request), request);
      if (signal.aborted) throw createEndedError(id);
    } catch (error) {
      const host = this.#host;
      this.#host = null;
      await host?.dispose();
      throw signal.aborted ? createEndedError(id) : error;
    }
    if (input.prompt === undefined) this.#setStatus('idle');
    await this.#save();
    if (input.prompt !== undefined) return;
    this.#runsPrompts = true;
    void this.#drain().catch(() => undefined);
  }

  async #begin(host: Host, request: OpenRequest): Promise<void> {
    const { id } = this.#options;
    this.#host = host;
    if (request.signal.aborted) return;
    host.subscribe((event) => this.#receive(event));
    const { stateDirectory } = host;
    this.#files = resolveFiles(
      stateDirectory === null ? null : getSessionsDirectory(stateDirectory),
      id,
    );
    this.#record.messagesPath = this.#files.messagesPath;
    await startSession(host, request);
  }

  #receive(event: RuntimeEvent): void {
    this.#calls.record(event);
    this.#events.convert(event);
    const agent = this.#session?.agents.get(event.agentId);
    if (agent !== undefined && event.parentAgentId === null) this.#notes.recordEvent(event, agent);
  }

  /** Runs a prompt, then the queued ones. */
  async run(sent: SentPrompt, timeoutMs?: number): Promise<AgentResult> {
    const result = await this.#runExclusively(sent, timeoutMs);
    void this.#drain().catch(() => undefined);
    return result;
  }

  /** Runs a prompt and those queued meanwhile, then ends the session with the status of the last one. */
  async runToEnd(sent: SentPrompt): Promise<AgentResult> {
    this.#endsAfterRun = true;
    const first = await this.#runExclusively(sent);
    await this.#drain();
    await this.end(ENDED_REASONS[this.#lastStatus] ?? this.#lastStatus);
    return first;
  }

  /** Sends a message to the running agent, or as the next prompt when the run has ended by then; false when no run is under way. */
  steer(prompt: string): boolean {
    return this.#session?.steer(prompt, () => this.enqueue({ prompt })) ?? false;
  }

  async abort(reason: string): Promise<void> {
    this.#session?.abort(reason);
  }

  async switchModel(model: string): Promise<string | null> {
    const refusal = (await this.#session?.switchModel({ model, source: 'sdk' })) ?? null;
    if (refusal === null) this.#record.model = model;
    return refusal;
  }

  async update(change: Partial<Pick<SessionRecord, 'prompt' | 'metadata'>>): Promise<void> {
    this.#record = { ...this.#record, ...change };
    await this.#save();
  }

  /** Ends the session and its current run; its messages stay readable. Its status is that of the last run. */
  async end(reason: string): Promise<void> {
    this.#closing.abort();
    await this.opened.catch(() => undefined);
    if (this.#host !== null) this.#ended ??= this.#end(this.#host, reason);
    await this.#ended;
  }

  async #end(host: Host, reason: string): Promise<void> {
    await this.abort(reason);
    await this.#running?.catch(() => undefined);
    this.#last = { messages: this.messages(), usage: this.usage() };
    this.#host = null;
    const now = systemClock.now();
    this.#record.endedAt = new Date(now).toISOString();
    this.#record.exitCode = this.#lastStatus === 'failed' ? 1 : 0;
    await host.end(this.id, 'other').catch(() => undefined);
    await host.dispose();
    this.#setStatus(this.#lastStatus);
    await this.#save();
    await this.#options
      .onEnd()
      .catch((error: unknown) => this.#events.sendNotice(getErrorMessage(error)));
    this.#options.emit({ type: 'ended', payload: { sessionId: this.id, reason, ts: now } });
  }

  /** Handles `steer_message`, `queue_message` and `pending_prompt` of plugins; other events are ignored. */
  receivePluginEvent(name: string, payload: unknown): void {
    const sent = readPluginPrompt(name, payload);
    if (sent === null || (sent.delivery === 'steer' && this.steer(sent.prompt))) return;
    this.enqueue({ prompt: sent.prompt });
  }

  enqueue(sent: SentPrompt): void {
    const { prompt, mode } = sent;
    this.pending.add(mode === undefined ? { prompt } : { prompt, mode });
    void this.#drain().catch(() => undefined);
  }

  /** Runs the queued prompts, whether or not one of them fails. */
  #drain(): Promise<AgentResult | null> {
    return this.pending.drain(
      (queued) => {
        const next = toPendingPrompt(queued);
        const payload = { ...next, sessionId: this.id };
        this.#options.emit({ type: 'pending_prompt_submitted', payload });
        return this.#runExclusively(next);
      },
      () => this.isOpen && this.#runsPrompts && !this.isRunning,
    );
  }

  async #runExclusively(sent: SentPrompt, timeoutMs?: number): Promise<AgentResult> {
    if (this.#running !== null) throw createBusyError(this.id);
    const done = this.#runWithin(sent, timeoutMs);
    this.#running = done;
    this.#runsPrompts = true;
    this.#setStatus('running');
    try {
      return await done;
    } finally {
      this.#running = null;
      if (!this.#endsAfterRun) this.#setStatus('idle');
      await this.#save();
    }
  }

  async #runWithin(sent: SentPrompt, timeoutMs?: number): Promise<AgentResult> {
    if (timeoutMs === undefined) return this.#runPrompt(sent);
    const limit = startTimeLimit(new AbortController().signal, timeoutMs);
    const abort = (): void => void this.abort(`it took longer than ${timeoutMs} ms`);
    limit.signal.addEventListener('abort', abort, { once: true });
    try {
      return await this.#runPrompt(sent);
    } finally {
      limit.clear();
    }
  }

  async #runPrompt({ prompt, mode }: SentPrompt): Promise<AgentResult> {
    const session = this.#session;
    if (session === null) throw new SessionNotFoundError(this.id);
    const run = await runInMode(session, mode, () => session.prompt(prompt));
    const { model } = session.state();
    const calls = this.#calls.list();
    const result = createAgentResult({ run, calls, messages: this.messages(), model });
    this.#lastStatus = FINAL_STATUSES[result.finishReason];
    return result;
  }

  #setStatus(status: SessionStatus): void {
    this.#record.status = status;
    this.#record.updatedAt = new Date(systemClock.now()).toISOString();
    const sessionId = this.id;
    this.#options.emit({ type: 'status', payload: { sessionId, status } });
    const snapshot = createSessionSnapshot(this.record, this.usage());
    this.#options.emit({ type: 'session_snapshot', payload: { sessionId, snapshot } });
  }

  async #save(): Promise<void> {
    const problem = await writeFiles(this.#files, this.#record, this.messages());
    if (problem !== null) this.#events.sendNotice(problem);
  }
}

/** The status of a session that ends after such a run. */
const FINAL_STATUSES: Readonly<Record<AgentResult['finishReason'], SessionStatus>> = {
  completed: 'completed',
  aborted: 'cancelled',
  error: 'failed',
  max_iterations: 'failed',
  mistake_limit: 'cancelled',
};

/** Why a session ended by itself, where the event has another word for it than the status. */
const ENDED_REASONS: Partial<Record<SessionStatus, string>> = {
  failed: 'error',
  cancelled: 'aborted',
};

/** Sets the mode for this prompt only, unless a hook or the user sets another one meanwhile. */
async function runInMode<Result>(
  session: Session,
  mode: AgentMode | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  if (mode === undefined) return work();
  const before = session.state().permissionMode;
  const promptMode = toPermissionMode(mode);
  session.setPermissionMode(promptMode);
  try {
    return await work();
  } finally {
    if (session.state().permissionMode === promptMode) session.setPermissionMode(before);
  }
}

function createEndedError(id: string): HooklineError {
  return new HooklineError('SESSION_UNKNOWN', {
    message: `the session ${id} was ended while it was being opened`,
    hint: 'Start it with a core that is not disposed.',
  });
}
