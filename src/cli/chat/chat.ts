import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import type { Session } from '../../agent/session/session.ts';
import type { SessionSelection } from '../../host/agent/open-stored-session.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { IdleTimer } from './idle-timer.ts';
import { colors } from '../output/colors.ts';
import { PromptSender, type QueuedPrompts } from './prompt-sender.ts';
import { listCommands, parseTyped, type TypedCommand } from './slash-commands.ts';
import { formatProblem, toForeignScreenText, formatPrompt } from './render/format-text.ts';
import { getNextMode, formatStatusLine } from './render/status.ts';
import type { Host } from '../../host/create-host.ts';
import type { CommandContext, GlobalFlags } from '../context.ts';
import type { PromptHistory } from './prompt-history.ts';
import type { ActivityLine } from './render/activity-line.ts';
import type { ChatReport } from './render/report.ts';
import type { ChatView } from './view/view.ts';
import { type Message, getMessageText, REMINDER_START } from '../../sessions/messages.ts';
import { redactObject } from '../../host/redact-object.ts';

/** The objects that a chat works with. */
interface ChatParts {
  readonly context: CommandContext;
  readonly host: Host;
  readonly view: ChatView;
  readonly report: ChatReport;
  readonly activity: ActivityLine;
  readonly history: PromptHistory;
  /** Also holds what was typed before the session was open. */
  readonly queued: QueuedPrompts;
}

/** Connects one user with one session at a time: input goes to the agent or to a slash command. */
export class Chat {
  readonly #parts: ChatParts;
  readonly #leaving = new AbortController();
  #sessionId: string | null = null;
  readonly #sender: PromptSender;
  /** The slash commands that run. */
  readonly #commands = new Set<{ readonly abort: AbortController; readonly needsIdle: boolean }>();
  /** Whether input that arrived without a session still has to be submitted. */
  #hasEarlyInput = true;
  /** Whether prompts that hooks sent while the session started still have to be run. */
  #isNew = false;
  /** The worktree name; every session of the chat works in it. */
  #worktree: string | null = null;
  /** Runs while the agent waits for input after a run. */
  readonly #idleTimer: IdleTimer;
  #isExitArmed = false;
  #exitCode: ExitCode = EXIT.fine;
  /** Why no session could be opened. */
  #error: Error | null = null;

  constructor(parts: ChatParts) {
    this.#parts = parts;
    this.#idleTimer = new IdleTimer(parts.host.config.settings['chat.idleMs'], () =>
      this.#reportIdle(),
    );
    this.#sender = new PromptSender(parts.queued, {
      session: () => (this.#sessionId === null ? null : this.#getSession()),
      isBlocked: () => this.#hasIdleCommand(),
      onSent: (text) => this.#showPrompt(text),
      onEnd: (problem) => this.#endPrompt(problem),
    });
  }

  /** Opens the session and resolves when the user leaves. */
  async run(request: SessionSelection): Promise<ExitCode> {
    const { host, activity } = this.#parts;
    const unsubscribe = host.subscribe((event) => this.#observe(event));
    this.#worktree = request.worktree ?? null;
    try {
      await this.#open(request);
      this.#submitEarly();
      await this.#waitUntilLeft();
      await this.#close();
      if (this.#error !== null) throw this.#error;
      return this.#exitCode;
    } catch (error) {
      if (this.#leaving.signal.aborted && this.#error === null) return this.#exitCode;
      throw error;
    } finally {
      unsubscribe();
      this.#idleTimer.stop();
      activity.end();
    }
  }

  submit(text: string): void {
    if (text.trim() === '') return;
    if (this.#sessionId === null) {
      this.#hasEarlyInput = true;
      return this.#parts.queued.add(text);
    }
    this.#parts.history.append(text);
    this.#parts.view.addHistory([text]);
    const commands = this.#getSession().commands();
    const typed = parseTyped(
      text.trim(),
      commands.map(({ name }) => name),
    );
    if (typed.kind === 'prompt') this.#sender.send(text);
    else if (typed.kind === 'unknown') this.#showWarning(typed.problem);
    else if (typed.needsIdle && this.#isBusy()) this.#showWarning(BUSY);
    else void this.#runCommand(typed);
  }

  /** Ctrl-C aborts the run first, then leaves the chat. */
  interrupt(): void {
    if (this.#sessionId === null || this.#isExitArmed) return this.leave();
    this.#isExitArmed = true;
    const isBusy = this.#isBusy();
    for (const { abort } of this.#commands) abort.abort();
    if (isBusy) return this.cancel();
    this.#parts.report.showText(colors.dim('Press Ctrl+C again or Ctrl+D to exit'));
  }

  cancel(): void {
    if (this.#sessionId === null || !this.#getSession().isRunning) return;
    const { queued, view, activity } = this.#parts;
    const unread = queued.takeAll();
    if (unread.length > 0) view.restoreDraft(unread.join('\n\n'));
    activity.set('cancelling …');
    this.#getSession().abort('interrupted by the user');
  }

  noteKey(): void {
    this.#isExitArmed = false;
    this.#idleTimer.restart();
  }

  leave(exitCode: ExitCode = EXIT.fine): void {
    this.#exitCode = exitCode;
    this.#leaving.abort();
  }

  cycleMode(): void {
    if (this.#sessionId === null) return;
    const session = this.#getSession();
    session.setPermissionMode(getNextMode(session.state().permissionMode));
    this.#showStatus();
  }

  /** Rejects pastes that exceed the context window, at about four characters per token. */
  getPasteLimit(): number {
    if (this.#sessionId === null) return MIN_PASTE_LIMIT;
    return Math.min(MAX_PASTE_LIMIT, 4 * this.#getSession().state().contextLimit);
  }

  getCwd(): string {
    return this.#sessionId === null
      ? this.#parts.host.startDirectory
      : this.#getSession().state().cwd;
  }

  #getSession(): Session {
    return this.#parts.host.session(this.#sessionId ?? '');
  }

  #isBusy(): boolean {
    return this.#sender.isBusy || this.#commands.size > 0;
  }

  /** Whether a command runs that requires an idle agent. */
  #hasIdleCommand(): boolean {
    return [...this.#commands].some(({ needsIdle }) => needsIdle);
  }

  #waitUntilLeft(): Promise<void> {
    const { signal } = this.#leaving;
    return new Promise((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  async #open(request: SessionSelection): Promise<void> {
    await this.#enter(await this.#start(request));
  }

  async #start(request: SessionSelection): Promise<string> {
    const { host, activity } = this.#parts;
    activity.set('starting …');
    const worktree = this.#worktree === null ? {} : { worktree: this.#worktree };
    const { signal } = this.#leaving;
    const { sessionId } = await host.start({ ...worktree, ...request, idle: true, signal });
    return sessionId;
  }

  /** Makes a session the current one. */
  async #enter(sessionId: string): Promise<void> {
    const { host, view, report, activity, context } = this.#parts;
    const earlier = host.session(sessionId).messages();
    if (earlier.length > 0) await showEarlierMessages(view, earlier, context.flags);
    view.setCommands(listCommands(host, sessionId));
    report.showHooks();
    this.#sessionId = sessionId;
    this.#isNew = true;
    this.#showStatus();
    activity.set(null);
  }

  /** Runs what was typed before there was a session, or else what its hooks sent meanwhile. */
  #submitEarly(): void {
    if (this.#sessionId === null) return;
    const early = this.#hasEarlyInput ? this.#parts.queued.takeAll() : [];
    this.#hasEarlyInput = false;
    for (const text of early) this.submit(text);
    if (this.#isNew && !this.#isBusy()) this.#getSession().runPending();
    this.#isNew = false;
  }

  async #close(): Promise<void> {
    const { host, activity, report } = this.#parts;
    activity.set('exiting …');
    if (this.#sessionId !== null) {
      this.#getSession().abort('the user left');
      await host.end(this.#sessionId, 'prompt_input_exit');
    }
    await report.waitUntilShown();
  }

  #observe(event: RuntimeEvent): void {
    const { report, host, view, queued } = this.#parts;
    const isOwn = event.sessionId === this.#sessionId || this.#sessionId === null;
    if (!isOwn) return;
    report.observe(event);
    if (event.parentAgentId !== null) return;
    if (event.type === 'run-start') this.#idleTimer.stop();
    if (event.type === 'run-end') this.#idleTimer.start();
    if (event.type === 'turn-start') queued.takeSteered().forEach((text) => this.#showPrompt(text));
    if (event.type === 'turn-end' || event.type === 'run-end') this.#showStatus();
    if (event.type !== 'run-end' || this.#sessionId === null) return;
    // MCP servers may have added commands since.
    view.setCommands(listCommands(host, this.#sessionId));
    this.#sender.sendAfterRun();
  }

  #reportIdle(): void {
    if (this.#sessionId !== null && !this.#isBusy()) this.#getSession().reportIdle();
  }

  #showStatus(): void {
    if (this.#sessionId === null) return;
    this.#parts.view.setStatus(formatStatusLine(this.#getSession().state(), this.#worktree));
  }

  #showPrompt(text: string): void {
    this.#parts.report.showText(formatPrompt(toForeignScreenText(text)));
  }

  #showWarning(text: string): void {
    this.#parts.report.showText(colors.yellow(text));
  }

  #endPrompt(problem: unknown): void {
    if (this.#leaving.signal.aborted) return;
    if (problem !== null) this.#showWarning(formatProblem(problem));
    this.#showStatus();
    this.#sender.sendNext();
  }

  async #runCommand(typed: Extract<TypedCommand, { kind: 'builtin' }>): Promise<void> {
    const { context, host, view, report } = this.#parts;
    const running = { abort: new AbortController(), needsIdle: typed.needsIdle };
    this.#commands.add(running);
    try {
      await typed.run({
        context,
        host,
        view,
        sessionId: this.#sessionId ?? '',
        signal: running.abort.signal,
        showText: (text) => report.showText(text),
        leave: () => this.leave(),
        changeSession: (to) => this.#changeSession(to),
      });
    } catch (error) {
      const isInterrupted = running.abort.signal.aborted;
      if (!this.#leaving.signal.aborted) {
        this.#showWarning(isInterrupted ? INTERRUPTED : formatProblem(error));
      }
    } finally {
      this.#commands.delete(running);
      this.#endCommand();
    }
  }

  #endCommand(): void {
    if (this.#leaving.signal.aborted) return;
    this.#showStatus();
    this.#submitEarly();
    this.#sender.sendNext();
  }

  /** Opens the next session before ending the current one where possible, so that a failure loses nothing. */
  async #changeSession(to: { readonly resume: string } | 'new'): Promise<void> {
    const { host, view, activity } = this.#parts;
    const before = this.#sessionId ?? '';
    // Input that arrives meanwhile is for the next session.
    this.#sessionId = null;
    if (to === 'new' && this.#worktree === null) return this.#restart(before);
    try {
      // A worktree is removed when no session uses it, so the next session opens first.
      const sessionId = await this.#start(to === 'new' ? { afterClear: true } : to);
      await host.end(before, to === 'new' ? 'clear' : 'resume');
      view.clear();
      await this.#enter(sessionId);
    } catch (error) {
      this.#sessionId ??= before;
      activity.set(null);
      throw error;
    }
  }

  async #restart(before: string): Promise<void> {
    const { host, view } = this.#parts;
    try {
      await host.end(before, 'clear');
      view.clear();
      await this.#open({ afterClear: true });
    } catch (error) {
      this.#error = error instanceof Error ? error : null;
      this.leave(EXIT.refused);
    }
  }
}

const INTERRUPTED = 'interrupted by the user';
const BUSY = 'The agent is working. Wait, or press Esc to cancel.';
/** The limit before the model is known. */
export const MIN_PASTE_LIMIT = 100_000;
const MAX_PASTE_LIMIT = 4_000_000;

const MAX_EARLIER_MESSAGES = 10;

/** Shows the last messages of a resumed session. */
async function showEarlierMessages(
  view: ChatView,
  messages: readonly Message[],
  flags: Pick<GlobalFlags, 'raw'>,
): Promise<void> {
  const texts = messages.map((message) => ({
    role: message.role,
    text: getMessageText(message).trim(),
  }));
  const visible = texts.filter(({ text }) => text !== '' && !text.startsWith(REMINDER_START));
  const omitted = visible.length - MAX_EARLIER_MESSAGES;
  if (omitted > 0) view.showText(colors.dim(`… ${omitted} earlier messages`));
  const { last } = await redactObject({ last: visible.slice(-MAX_EARLIER_MESSAGES) }, flags);
  for (const { role, text } of last) {
    if (role === 'user') view.showText(formatPrompt(toForeignScreenText(text)));
    else view.answer().end(toForeignScreenText(text));
  }
}
