import { HooklineError, getErrorMessage } from '../../base/errors.ts';
import type { Verdict } from '../../hooks/decision.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import type { LateOutcome } from '../../hooks/observers.ts';
import type { PermissionMode } from '../../permissions/permissions.ts';
import type { ImageBlock, Message } from '../../sessions/messages.ts';
import type { Agent } from '../agent.ts';
import { announceInstructions, fireAside, watchPaths } from '../loop/fire-aside.ts';
import {
  formatHookMessage,
  formatContexts,
  formatReminder,
} from '../conversation/hook-messages.ts';
import { compact } from '../loop/compaction.ts';
import type { SlashCommand } from '../instructions/commands.ts';
import type { PreparedSession, SessionOptions } from './prepare-session.ts';
import { runPrompt } from './prompt.ts';
import type { RunResult } from '../runtime-event.ts';
import type { ModelSwitch, Session, SessionState } from './session.ts';
import { announceStart } from './session-start.ts';
import { switchModel } from './switch-model.ts';
import type { ShellState } from '../tools/shell/shells.ts';
import type { Tool } from '../tools/tool.ts';

/** A session that is open; the only place where Setup, SessionEnd, DirectoryAdded and FileChanged are fired. */
export class RunningSession implements Session {
  readonly id: string;
  readonly transcriptPath: string | null;
  readonly #prepared: PreparedSession;
  readonly #options: SessionOptions;
  readonly #agent: Agent;
  #running: { readonly abort: AbortController; readonly done: Promise<unknown> } | null = null;
  #closed: Promise<void> | null = null;
  /** A hook wants the agent to hear of something, be it idle or not. */
  #isWoken = false;
  /** How often in a row it was woken without a word of the person. */
  #wakes = 0;

  constructor(prepared: PreparedSession, options: SessionOptions) {
    this.#prepared = prepared;
    this.#options = options;
    this.#agent = prepared.agent;
    this.id = options.id;
    this.transcriptPath = prepared.agent.transcriptPath;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  messages(): readonly Message[] {
    return this.#agent.conversation.messages;
  }

  async open(signal: AbortSignal | undefined): Promise<void> {
    const { setup, addedDirectories } = this.#options;
    this.#agent.bench.shells.onChange((shell) => this.#hearOf(shell));
    this.#announce();
    if (setup !== null) await this.#setUp(setup, signal);
    for (const directory of addedDirectories) {
      fireAside(this.#agent, { name: 'DirectoryAdded', directory, source: 'slash_command' });
    }
    announceInstructions(this.#agent, this.#prepared.instructions());
    await this.#start(signal);
  }

  prompt(text: string | null): Promise<RunResult> {
    this.#wakes = 0;
    return this.#run(text).finally(() => void this.#agent.images.splice(0));
  }

  async queue(text: string): Promise<RunResult> {
    while (this.#running !== null) await this.#running.done.catch(() => undefined);
    return this.prompt(text);
  }

  #run(text: string | null): Promise<RunResult> {
    if (this.#running !== null || this.#closed !== null) return Promise.reject(busy(this.id));
    return this.#work((signal) => runPrompt(this.#prepared, text, signal));
  }

  /** One thing at a time, because all share the conversation. */
  #work<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const abort = new AbortController();
    const begin = async (): Promise<Result> => {
      // Hooks may speak to the session as soon as the work begins, so it must be known by then.
      await Promise.resolve();
      return work(abort.signal);
    };
    const done = begin().finally(() => {
      this.#running = null;
      this.#dropUnheard();
      if (!abort.signal.aborted) this.#wakeUp();
    });
    this.#running = { abort, done };
    return done;
  }

  /** What was said too late for this run must not turn up in the middle of another. */
  #dropUnheard(): void {
    for (const said of this.#agent.steering.splice(0)) {
      const text = `the run ended before the agent could be told: ${said}`;
      this.#agent.tell({ type: 'notice', level: 'warning', text });
    }
  }

  show(images: readonly ImageBlock[]): void {
    this.#agent.images.push(...images);
  }

  steer(text: string): boolean {
    if (this.#running === null) return false;
    this.#agent.steering.push(text);
    return true;
  }

  abort(reason: string): void {
    this.#running?.abort.abort(reason);
  }

  async compact(instructions: string | null): Promise<string | null> {
    if (this.#running !== null) return 'the agent is working; compact when it is done';
    if (this.#closed !== null) return 'the session is closed';
    return this.#work((signal) =>
      compact(this.#agent, { trigger: 'manual', instructions }, signal).catch(getErrorMessage),
    );
  }

  state(): SessionState {
    const { model, bench, contextTokens, total } = this.#agent;
    return {
      title: this.#prepared.title(),
      cwd: bench.cwd(),
      model: { provider: model.provider, id: model.id },
      permissionMode: this.#options.permissions.mode(),
      contextTokens,
      contextLimit: model.contextTokens,
      ...total,
    };
  }

  tools(): readonly Tool[] {
    return this.#options.tools();
  }

  commands(): readonly SlashCommand[] {
    return this.#prepared.commands;
  }

  setPermissionMode(mode: PermissionMode): void {
    this.#options.permissions.setMode(mode);
  }

  switchModel(wanted: ModelSwitch): Promise<string | null> {
    return switchModel(this.#agent, wanted);
  }

  receiveLate({ event, outcome }: LateOutcome): void {
    const { hook, decision } = outcome;
    this.#agent.tell({ type: 'hook-late', hook, event: event.name });
    const text = decision?.context ?? '';
    if (text === '') return;
    this.#agent.waiting.push(formatHookMessage({ kind: 'late', text, from: [hook] }));
    const isIdle = this.#running === null && this.#closed === null;
    this.#isWoken ||= decision?.wake === true;
    if (isIdle) this.#wakeUp();
  }

  /** Where nobody looks, whoever started the last run has its result and goes on. */
  #wakeUp(): void {
    const hasNews = this.#isWoken && this.#agent.waiting.length > 0;
    this.#isWoken = false;
    if (!hasNews || this.#closed !== null || this.#options.person === null) return;
    this.#wakes += 1;
    const { stopCap } = this.#options.limits;
    if (stopCap === 0 || this.#wakes <= stopCap) void this.#run(null).catch(() => undefined);
    else this.#agent.tell({ type: 'notice', level: 'warning', text: wokenTooOften(stopCap) });
  }

  reportFile({ file, change }: Pick<FiredEvent<'FileChanged'>, 'file' | 'change'>): void {
    fireAside(this.#agent, { name: 'FileChanged', file, change }, (verdict) =>
      watchPaths(this.#agent, verdict),
    );
  }

  reportConfig(event: FiredEvent<'ConfigChange'>): Promise<Verdict> {
    return this.#agent.fire(event);
  }

  close(reason: string): Promise<void> {
    this.#closed ??= this.#close(reason);
    return this.#closed;
  }

  async #close(reason: string): Promise<void> {
    this.abort('the session was closed');
    await this.#running?.done.catch(() => undefined);
    await this.#agent.fire({ name: 'SessionEnd', reason }).catch(() => undefined);
    await this.#agent.world.asides.close();
    await this.#agent.bench.shells.closeAll();
    await this.#options.release?.();
    this.#options.stored?.close();
    this.#agent.tell({ type: 'session-end', reason });
  }

  /** A command in the background that ends is news for the model, as soon as it asks again. */
  #hearOf({ id, command, status, exitCode }: ShellState): void {
    if (status === 'running' || status === 'killed') return;
    const how = exitCode === null ? status : `${status} with exit code ${exitCode}`;
    const text = `The background command ${id} (${command}) ${how}. BashOutput has its output.`;
    this.#agent.waiting.push(formatReminder(text));
  }

  #announce(): void {
    const { source, model, permissions, tools, specsOf } = this.#options;
    this.#agent.tell({
      type: 'session-start',
      source,
      cwd: this.#agent.bench.cwd(),
      model: { provider: model.provider, id: model.id },
      permissionMode: permissions.mode(),
      tools: specsOf(tools()).map(({ name }) => name),
      transcriptPath: this.transcriptPath,
    });
    for (const text of this.#prepared.notes) {
      this.#agent.tell({ type: 'notice', level: 'warning', text });
    }
  }

  async #setUp(trigger: 'init' | 'maintenance', signal: AbortSignal | undefined): Promise<void> {
    const verdict = await this.#agent.fire({ name: 'Setup', trigger }, signal);
    this.#agent.waiting.push(...formatContexts(verdict, { event: 'Setup', subject: null }));
  }

  async #start(signal: AbortSignal | undefined): Promise<void> {
    const { source, earlier, clock } = this.#options;
    const resumed = earlier === null ? {} : resumedFacts(earlier, clock.now());
    const verdict = await announceStart(this.#agent, { source, ...resumed }, signal);
    const { initialMessage, title } = verdict.changes;
    if (typeof initialMessage === 'string') this.#prepared.initialMessages.push(initialMessage);
    if (typeof title === 'string') this.#prepared.rename(title);
    await watchPaths(this.#agent, verdict);
  }
}

function resumedFacts(
  { lastMessageAt, contextTokens, title }: NonNullable<SessionOptions['earlier']>,
  now: number,
) {
  const seconds =
    lastMessageAt === null ? 0 : Math.max(0, Math.round((now - lastMessageAt) / 1000));
  return {
    secondsSinceLastResponse: seconds,
    contextTokens,
    ...(title === null ? {} : { title }),
  };
}

function wokenTooOften(cap: number): string {
  return `hooks woke the agent ${cap} times in a row; what they say now waits for the next prompt`;
}

function busy(id: string): HooklineError {
  return new HooklineError('SESSION_BUSY', {
    message: `the session ${id} is working on another prompt, or is closed`,
    hint: 'Wait for it, steer it, or abort it first.',
  });
}
