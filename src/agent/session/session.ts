import { formatUndelivered } from '../loop/steering.ts';
import { dropUndefined } from '../../base/defined.ts';
import { HooklineError, getErrorMessage } from '../../base/errors.ts';
import type { Verdict } from '../../hooks/decision.ts';
import type { HookEngine } from '../../hooks/engine.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import type { LateOutcome } from '../../hooks/dispatch-record.ts';
import type { PermissionMode } from '../../permissions/permissions.ts';
import type { ImageBlock, Message } from '../../sessions/messages.ts';
import type { Agent } from '../agent.ts';
import {
  announceInstructions,
  fireInBackground,
  notify,
  watchPaths,
} from '../loop/background-events.ts';
import {
  formatHookMessage,
  formatContexts,
  formatReminder,
} from '../conversation/hook-messages.ts';
import { compact } from '../loop/compaction.ts';
import type { AgentState } from '../session-context.ts';
import type { SlashCommand } from '../instructions/commands.ts';
import type { FinishReason, Usage } from '../models/model.ts';
import { prepareSession, type PreparedSession, type SessionOptions } from './prepare-session.ts';
import { runPrompt } from './prompt.ts';
import type { PluginPrompt, PromptQueue } from './prompt-queue.ts';
import type { RunResult } from '../runtime-event.ts';
import { fireSessionStart } from './session-start.ts';
import { type ModelSwitch, switchModel } from './switch-model.ts';
import type { ShellState } from '../tools/shell/shells.ts';
import type { Tool } from '../tools/tool.ts';

/** What a session is like at a moment. */
export interface SessionState {
  readonly title: string | null;
  readonly cwd: string;
  readonly model: { readonly provider: string; readonly id: string };
  readonly permissionMode: PermissionMode;
  /** How many tokens the conversation takes, of how many. */
  readonly contextTokens: number;
  readonly contextLimit: number;
  /** Of everything since the session was opened. */
  readonly usage: Usage;
  readonly costUsd: number | null;
  /** Why the last answer of the last run ended; null without an answer. */
  readonly finishReason: FinishReason | null;
}

/**
 * Creates a session, new or stored, before any of its hooks runs. When that fails, what was opened for
 * it is closed.
 */
export async function createSession(options: SessionOptions): Promise<Session> {
  try {
    return new Session(await prepareSession(options), options);
  } catch (error) {
    options.stored?.close();
    await options.release?.();
    throw error;
  }
}

/**
 * One conversation with a user or a program, over any number of prompts; the only place where Setup,
 * SessionEnd, DirectoryAdded and FileChanged are fired.
 */
export class Session {
  readonly id: string;
  readonly transcriptPath: string | null;
  /** Runs the hooks of this session, those of its plugins among them; closed with the session. */
  readonly engine: HookEngine;
  /** What runs once the run under way has ended. */
  readonly pendingPrompts: PromptQueue;
  readonly #prepared: PreparedSession;
  readonly #options: SessionOptions;
  readonly #agent: Agent;
  #running: { readonly abort: AbortController; readonly done: Promise<unknown> } | null = null;
  #closed: Promise<void> | null = null;
  /** Prompts that hooks send before this wait, because the opener's own prompt runs first. */
  #isStarted = false;
  /** A hook wants the agent to read its answer, be the session idle or not. */
  #isWoken = false;
  /** How often in a row hooks woke the session without a prompt of the user. */
  #wakes = 0;

  constructor(prepared: PreparedSession, options: SessionOptions) {
    this.#prepared = prepared;
    this.#options = options;
    this.#agent = prepared.agent;
    this.id = options.id;
    this.engine = options.engine;
    this.pendingPrompts = options.pendingPrompts;
    this.transcriptPath = prepared.agent.transcriptPath;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Its own agent, and its sub-agents while they run, by their ids. */
  get agents(): ReadonlyMap<string, AgentState> {
    return this.#agent.session.agents;
  }

  messages(): readonly Message[] {
    return this.#agent.conversation.messages;
  }

  /** Fires the events of the session's start; called once, before the first prompt. */
  async start(signal: AbortSignal | undefined): Promise<void> {
    const { setup, addedDirectories } = this.#options;
    this.#agent.toolContext.shells.onChange((shell) => this.#reportShell(shell));
    this.#announce();
    if (setup !== null) await this.#setUp(setup, signal);
    for (const directory of addedDirectories) {
      fireInBackground(this.#agent, { name: 'DirectoryAdded', directory, source: 'slash_command' });
    }
    announceInstructions(this.#agent, this.#prepared.instructions());
    await this.#fireSessionStart(signal);
    this.#isStarted = true;
  }

  /**
   * Runs a prompt to its end; null continues unfinished work. Rejects only with SESSION_BUSY, while
   * another one runs: a failure of the run is part of the result.
   */
  async prompt(text: string | null, signal?: AbortSignal): Promise<RunResult> {
    this.#wakes = 0;
    const abort = (): void => this.abort('interrupted by the user');
    const running = this.#run(text).finally(() => void this.#agent.images.splice(0));
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await running;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Runs a prompt, then each that was queued meanwhile; the result is that of the last one. */
  async send(text: string | null, signal?: AbortSignal): Promise<RunResult> {
    const first = await this.prompt(text, signal);
    return (await this.#runPending(first, signal)) ?? first;
  }

  /** The same once nothing else runs any more. A hook that the run waits for must not wait for it. */
  async queue(text: string): Promise<RunResult> {
    // Prompts of the same tick queue behind this one; started at once, its run would take them as steering.
    await Promise.resolve();
    while (this.#running !== null) await this.#running.done.catch(() => undefined);
    return this.send(text);
  }

  /**
   * Takes a prompt of a hook or plugin without waiting for it: an idle session starts a run with it. False when
   * the session is ending, so that the prompt will not run.
   */
  deliver({ prompt, delivery }: PluginPrompt): boolean {
    if (this.#closed !== null) {
      this.#reportUnrun([prompt]);
      return false;
    }
    const enqueue = (): void => void this.pendingPrompts.add({ prompt });
    // A steering message that comes too late for the run, for example from its last hook, is the next prompt.
    if (delivery === 'steer' && this.steer(prompt, enqueue)) return true;
    enqueue();
    if (this.#isStarted) this.runPending();
    return true;
  }

  /** Starts a run with the next prompt that waits, unless one is under way. Whoever opens an idle session calls it. */
  runPending(): void {
    const { runByClient } = this.pendingPrompts;
    if (runByClient !== null) runByClient();
    else if (!this.isRunning) void this.#runPending(null).catch(() => undefined);
  }

  /** Runs what waits until nothing does, or until a run does not complete. */
  #runPending(before: RunResult | null, signal?: AbortSignal): Promise<RunResult | null> {
    return this.pendingPrompts.drain(
      ({ prompt }) => this.prompt(prompt, signal),
      (last) => {
        const { status } = last ?? before ?? { status: 'completed' };
        const isFree = this.#running === null && this.#closed === null;
        return status === 'completed' && signal?.aborted !== true && isFree;
      },
    );
  }

  #run(text: string | null): Promise<RunResult> {
    if (this.#running !== null || this.#closed !== null) {
      return Promise.reject(createBusyError(this.id));
    }
    return this.#runExclusively((signal) => runPrompt(this.#prepared, text, signal));
  }

  /** One piece of work at a time, because all share the conversation. */
  #runExclusively<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const abort = new AbortController();
    const begin = async (): Promise<Result> => {
      // Hooks may call the session as soon as the work begins, so `#running` must be set by then.
      await Promise.resolve();
      return work(abort.signal);
    };
    const done = begin().finally(() => {
      this.#running = null;
      this.#dropUndelivered();
      if (!abort.signal.aborted) this.#wakeUp();
    });
    this.#running = { abort, done };
    return done;
  }

  /** A steering message that came too late for this run must not turn up in the middle of another. */
  #dropUndelivered(): void {
    for (const { text, onUnread } of this.#agent.steering.splice(0)) {
      if (onUnread !== undefined) onUnread();
      else this.#agent.emit({ type: 'notice', level: 'warning', text: formatUndelivered(text) });
    }
  }

  #reportUnrun(prompts: readonly string[]): void {
    if (prompts.length === 0) return;
    this.#agent.emit({ type: 'notice', level: 'warning', text: formatUnrun(prompts) });
  }

  /** Adds images to the next prompt; they are dropped when it is refused. */
  show(images: readonly ImageBlock[]): void {
    this.#agent.images.push(...images);
  }

  /**
   * Sends a message to the agent while it works; false when it does not. When the run ends before the agent
   * has read it, `onUnread` is called, or else a notice is emitted.
   */
  steer(text: string, onUnread?: () => void): boolean {
    if (this.#running === null) return false;
    this.#agent.steering.push({ text, onUnread });
    return true;
  }

  /**
   * Ends the run under way, with all that it started. Waits for nothing, because a hook that the run
   * waits for may be the caller; the promise of the run resolves to its result.
   */
  abort(reason: string): void {
    this.#running?.abort.abort(reason);
  }

  /** Summarises the conversation so far; a sentence says why not. */
  async compact(instructions: string | null): Promise<string | null> {
    if (this.#running !== null) return 'the agent is working; compact when it is done';
    if (this.#closed !== null) return 'the session is closed';
    return this.#runExclusively((signal) =>
      compact(this.#agent, 'manual', instructions, signal).catch(getErrorMessage),
    );
  }

  state(): SessionState {
    const { model, toolContext, contextTokens, total, turn } = this.#agent;
    return {
      title: this.#prepared.task.title,
      cwd: toolContext.cwd(),
      model: { provider: model.provider, id: model.id },
      permissionMode: this.#options.permissions.mode(),
      contextTokens,
      contextLimit: model.contextTokens,
      ...total,
      finishReason: turn.finishReason,
    };
  }

  /** The tools that it has now. */
  tools(): readonly Tool[] {
    return this.#options.tools();
  }

  /** What `/name` means here. */
  commands(): readonly SlashCommand[] {
    return this.#prepared.commands;
  }

  setPermissionMode(mode: PermissionMode): void {
    this.#options.permissions.setMode(mode);
  }

  /** Asks hooks, then switches to another model; a string says why not. */
  async switchModel({ model, ...details }: ModelSwitch): Promise<string | null> {
    if (typeof model !== 'string') return switchModel(this.#agent, model, details);
    const resolved = await this.#options.resolveModel(model, this.isRunning);
    return switchModel(this.#agent, resolved, { requested: model, ...details });
  }

  /** A background hook answered: the model reads both of its texts, unless one only announces that it woke it. */
  receiveLate({ event, outcome }: LateOutcome): void {
    const { hook, dialect, decision, failure, warnings = [] } = outcome;
    const { context = '', notice = '', wake = false } = decision ?? {};
    const message = notice === '' ? null : notice;
    const late = { hook, dialect, event: event.name, notice: message, failure, warnings };
    this.#agent.emit({ type: 'hook-late', ...late });
    if (message !== null) this.#storeMessage(`${event.name} (${hook}) says: ${message}`);
    const texts = [context, ...(wake ? [] : [notice])].filter((text) => text !== '');
    for (const text of texts) {
      this.#agent.pendingContext.push(formatHookMessage({ kind: 'late', text, from: [hook] }));
    }
    if (texts.length === 0) return;
    const isIdle = this.#running === null && this.#closed === null;
    this.#isWoken ||= wake;
    if (isIdle) this.#wakeUp();
  }

  /** A full disk must not break the session because of a message. */
  #storeMessage(text: string): void {
    try {
      this.#agent.conversation.note('info', text);
    } catch (error) {
      this.#agent.emit({ type: 'notice', level: 'error', text: getErrorMessage(error) });
    }
  }

  /** Only with a user: otherwise the caller has the result of the last run and decides how to continue. */
  #wakeUp(): void {
    const hasLateContext = this.#isWoken && this.#agent.pendingContext.length > 0;
    this.#isWoken = false;
    if (!hasLateContext || this.#closed !== null || this.#options.person === null) return;
    this.#wakes += 1;
    const { stopCap } = this.#options.limits;
    if (stopCap === 0 || this.#wakes <= stopCap) void this.#run(null).catch(() => undefined);
    else this.#agent.emit({ type: 'notice', level: 'warning', text: formatWakeLimit(stopCap) });
  }

  /** A file that hooks watch has changed. */
  reportFile({ file, change }: Pick<FiredEvent<'FileChanged'>, 'file' | 'change'>): void {
    fireInBackground(this.#agent, { name: 'FileChanged', file, change }, (verdict) =>
      watchPaths(this.#agent, verdict),
    );
  }

  /** The user has not answered for some time. */
  reportIdle(): void {
    const message = 'Hookline is waiting for your input';
    notify(this.#agent, { type: 'idle_prompt', message, waiting: true });
  }

  /** Settings have changed; hooks may say that this does not count. */
  reportConfig(event: FiredEvent<'ConfigChange'>): Promise<Verdict> {
    return this.#agent.fire(event);
  }

  /** Ends the run under way and fires SessionEnd with the reason. Safe to call more than once. */
  close(reason: string): Promise<void> {
    this.#closed ??= this.#close(reason);
    return this.#closed;
  }

  async #close(reason: string): Promise<void> {
    this.abort('the session was closed');
    await this.#running?.done.catch(() => undefined);
    await this.#agent.fire({ name: 'SessionEnd', reason }).catch(() => undefined);
    await this.#agent.session.backgroundEvents.close();
    this.#reportUnrun(this.pendingPrompts.list().map(({ prompt }) => prompt));
    await this.#agent.toolContext.shells.closeAll();
    await this.#options.release?.();
    this.#options.stored?.close();
    this.#agent.emit({ type: 'session-end', reason });
  }

  /** The model reads with its next request that a command in the background has ended. */
  #reportShell({ id, command, status, exitCode }: ShellState): void {
    if (status === 'running' || status === 'killed') return;
    const how = exitCode === null ? status : `${status} with exit code ${exitCode}`;
    const text = `The background command ${id} (${command}) ${how}. BashOutput has its output.`;
    this.#agent.pendingContext.push(formatReminder(text));
  }

  #announce(): void {
    const { source, model, permissions, tools, listSpecs } = this.#options;
    this.#agent.emit({
      type: 'session-start',
      source,
      cwd: this.#agent.toolContext.cwd(),
      model: { provider: model.provider, id: model.id },
      permissionMode: permissions.mode(),
      tools: listSpecs(tools()).map(({ name }) => name),
      transcriptPath: this.transcriptPath,
    });
    for (const text of this.#prepared.notes) {
      this.#agent.emit({ type: 'notice', level: 'warning', text });
    }
  }

  async #setUp(trigger: 'init' | 'maintenance', signal: AbortSignal | undefined): Promise<void> {
    const verdict = await this.#agent.fire({ name: 'Setup', trigger }, signal);
    this.#agent.pendingContext.push(...formatContexts(verdict, { event: 'Setup', subject: null }));
  }

  async #fireSessionStart(signal: AbortSignal | undefined): Promise<void> {
    const { source, earlier, clock } = this.#options;
    const resumed = earlier === null ? {} : describeResumed(earlier, clock.now());
    const verdict = await fireSessionStart(this.#agent, { source, ...resumed }, signal);
    const { initialMessage, title } = verdict.changes;
    if (typeof initialMessage === 'string') this.#prepared.initialMessages.push(initialMessage);
    if (typeof title === 'string') this.#prepared.task.rename(title);
    await watchPaths(this.#agent, verdict);
  }
}

function describeResumed(
  { lastMessageAt, contextTokens, title }: NonNullable<SessionOptions['earlier']>,
  now: number,
) {
  const seconds =
    lastMessageAt === null ? 0 : Math.max(0, Math.round((now - lastMessageAt) / 1000));
  return {
    secondsSinceLastResponse: seconds,
    contextTokens,
    ...dropUndefined({ title: title ?? undefined }),
  };
}

function formatWakeLimit(cap: number): string {
  return `hooks woke the agent ${cap} times in a row; what they say now waits for the next prompt`;
}

const MAX_UNRUN = 5;

function formatUnrun(prompts: readonly string[]): string {
  const more = prompts.length - MAX_UNRUN;
  const listed = prompts.slice(0, MAX_UNRUN).map((prompt) => JSON.stringify(prompt));
  if (more > 0) listed.push(`and ${more} more`);
  return `the session ended before it could run the queued ${prompts.length === 1 ? 'prompt' : 'prompts'}: ${listed.join(', ')}`;
}

function createBusyError(id: string): HooklineError {
  return new HooklineError('SESSION_BUSY', {
    message: `the session ${id} is working on another prompt, or is closed`,
    hint: 'Wait for it, steer it, or abort it first.',
  });
}
