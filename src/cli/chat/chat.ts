import { isHooklineError, messageOf } from '../../base/errors.ts';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import type { Session } from '../../agent/session/session.ts';
import type { SessionWish } from '../../host/agent/keep-session.ts';
import type { Host } from '../../host/create-host.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { CommandContext } from '../context.ts';
import { colors } from '../words/colors.ts';
import { printable } from '../words/print.ts';
import type { PromptHistory } from './prompt-history.ts';
import type { CommandPlace } from './command-place.ts';
import { QueuedPrompts } from './queued-prompts.ts';
import { allCommands, readTyped } from './slash-commands.ts';
import type { Doing } from './telling/doing.ts';
import { showEarlier } from './telling/earlier-messages.ts';
import { promptWords } from './telling/prompt-words.ts';
import type { ChatReport } from './telling/report.ts';
import { modeAfter, statusLine } from './telling/status.ts';
import { shown } from './telling/shown-text.ts';
import type { ChatView } from './view/view.ts';

/** What a chat is made of. */
export interface ChatParts {
  readonly context: CommandContext;
  readonly host: Host;
  readonly view: ChatView;
  readonly report: ChatReport;
  readonly doing: Doing;
  readonly history: PromptHistory;
}

/** One person and one session at a time: what is typed goes to the agent, or to a command. */
export class Chat {
  readonly #parts: ChatParts;
  readonly #leaving = new AbortController();
  #sessionId: string | null = null;
  readonly #queued: QueuedPrompts;
  /** Typed before the session was open. */
  readonly #early: string[] = [];
  #command: AbortController | null = null;
  #wantsToLeave = false;
  #isSending = false;
  #exitCode: ExitCode = EXIT.fine;
  /** Why there is no session to go on with. */
  #problem: Error | null = null;

  constructor(parts: ChatParts) {
    this.#parts = parts;
    this.#queued = new QueuedPrompts(parts.view);
  }

  /** Opens the session, and is over when the person leaves. */
  async converse(wish: SessionWish): Promise<ExitCode> {
    const { host, doing } = this.#parts;
    const unsubscribe = host.subscribe((event) => this.#observe(event));
    try {
      await this.#open(wish);
      await this.#left();
      await this.#close();
      if (this.#problem !== null) throw this.#problem;
      return this.#exitCode;
    } catch (error) {
      if (this.#leaving.signal.aborted && this.#problem === null) return this.#exitCode;
      throw error;
    } finally {
      unsubscribe();
      doing.end();
    }
  }

  submit(text: string): void {
    if (text.trim() === '') return;
    if (this.#sessionId === null) {
      this.#early.push(text);
      return;
    }
    this.#parts.history.keep(text);
    this.#parts.view.addHistory([text]);
    const commands = this.#session().commands();
    const typed = readTyped(
      text.trim(),
      commands.map(({ name }) => name),
    );
    if (typed.kind === 'prompt') this.#prompt(text);
    else if (typed.kind === 'unknown') this.#complain(typed.problem);
    else if (typed.needsRest && this.#session().isRunning) this.#complain(BUSY);
    else void this.#runCommand((place) => typed.run(place));
  }

  /** Ctrl-C: first what goes on, then the chat itself. */
  interrupt(): void {
    if (this.#sessionId === null || this.#wantsToLeave) return this.leave();
    this.#wantsToLeave = true;
    const isBusy = this.#command !== null || this.#session().isRunning;
    this.#command?.abort();
    if (isBusy) return this.cancel();
    this.#parts.report.say(colors.dim('ctrl+c again, or ctrl+d, leaves'));
  }

  cancel(): void {
    if (this.#sessionId === null || !this.#session().isRunning) return;
    this.#queued.take();
    this.#parts.doing.set('cancelling …');
    void this.#parts.host.abort(this.#sessionId, 'interrupted by the person');
  }

  typed(): void {
    this.#wantsToLeave = false;
  }

  leave(exitCode: ExitCode = EXIT.fine): void {
    this.#exitCode = exitCode;
    this.#leaving.abort();
  }

  nextMode(): void {
    if (this.#sessionId === null) return;
    const session = this.#session();
    session.setPermissionMode(modeAfter(session.state().permissionMode));
    this.#showStatus();
  }

  /** A prompt that the model cannot take is refused before it is one: four characters make a token. */
  pasteLimit(): number {
    if (this.#sessionId === null) return LEAST_PASTED;
    return Math.min(MOST_PASTED, 4 * this.#session().state().contextLimit);
  }

  cwd(): string {
    return this.#sessionId === null ? this.#parts.host.startDirectory : this.#session().state().cwd;
  }

  #session(): Session {
    return this.#parts.host.session(this.#sessionId ?? '');
  }

  #left(): Promise<void> {
    const { signal } = this.#leaving;
    return new Promise((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  async #open(wish: SessionWish): Promise<void> {
    const { host, doing } = this.#parts;
    doing.set('starting …');
    const { signal } = this.#leaving;
    const { sessionId } = await host.start({ ...wish, idle: true, signal });
    await this.#enter(sessionId);
  }

  /** From now on what is typed goes there. */
  async #enter(sessionId: string): Promise<void> {
    const { host, view, report, doing, context } = this.#parts;
    const earlier = host.session(sessionId).messages();
    if (earlier.length > 0) await showEarlier(view, earlier, context.flags);
    view.setCommands(allCommands(host, sessionId));
    report.tellHooks();
    this.#sessionId = sessionId;
    this.#showStatus();
    doing.set(null);
    for (const text of this.#early.splice(0)) this.submit(text);
  }

  async #close(): Promise<void> {
    const { host, doing, report } = this.#parts;
    doing.set('leaving …');
    if (this.#sessionId !== null) {
      await host.abort(this.#sessionId, 'the person left');
      await host.end(this.#sessionId, 'prompt_input_exit');
    }
    await report.settled();
  }

  #observe(event: RuntimeEvent): void {
    const { report, host, view } = this.#parts;
    const isOwn = event.sessionId === this.#sessionId || this.#sessionId === null;
    if (!isOwn || this.#queued.isAbout(event)) return;
    report.observe(event);
    if (event.parentAgentId !== null) return;
    if (event.type === 'turn-start') this.#queued.take().forEach((text) => this.#sayPrompt(text));
    if (event.type === 'turn-end' || event.type === 'run-end') this.#showStatus();
    if (event.type !== 'run-end' || this.#sessionId === null) return;
    // MCP servers may have brought some in the meantime.
    view.setCommands(allCommands(host, this.#sessionId));
    if (!this.#isSending) this.#sendQueued();
  }

  /** A hook may wake the agent, and then nobody here waits for the end of the run. */
  #sendQueued(): void {
    const texts = this.#queued.take();
    if (texts.length === 0) return;
    texts.forEach((text) => this.#sayPrompt(text));
    void this.#parts.host
      .queue(this.#sessionId ?? '', texts.join('\n\n'))
      .catch((error: unknown) => this.#complain(problemWords(error)));
  }

  #showStatus(): void {
    if (this.#sessionId !== null) this.#parts.view.setStatus(statusLine(this.#session().state()));
  }

  #sayPrompt(text: string): void {
    this.#parts.report.say(promptWords(shown(text)));
  }

  #complain(text: string): void {
    this.#parts.report.say(colors.yellow(text));
  }

  #prompt(text: string): void {
    if (this.#session().steer(text)) return this.#queued.add(text);
    this.#sayPrompt(text);
    void this.#send(text);
  }

  async #send(text: string): Promise<void> {
    const { host } = this.#parts;
    this.#isSending = true;
    try {
      await host.send(this.#sessionId ?? '', text);
    } catch (error) {
      if (!this.#leaving.signal.aborted) this.#complain(problemWords(error));
    } finally {
      this.#isSending = false;
    }
    if (this.#leaving.signal.aborted) return;
    this.#showStatus();
    const queued = this.#queued.take();
    if (queued.length > 0) this.#prompt(queued.join('\n\n'));
  }

  async #runCommand(run: (place: CommandPlace) => Promise<void>): Promise<void> {
    const { context, host, view, report } = this.#parts;
    const command = new AbortController();
    this.#command = command;
    try {
      await run({
        context,
        host,
        view,
        sessionId: this.#sessionId ?? '',
        signal: command.signal,
        say: (text) => report.say(text),
        leave: () => this.leave(),
        changeSession: (to) => this.#changeSession(to),
      });
    } catch (error) {
      this.#complain(problemWords(error));
    } finally {
      this.#command = null;
      this.#showStatus();
    }
  }

  /** One to resume is opened first: when that fails, nothing is lost. */
  async #changeSession(to: { readonly resume: string } | 'new'): Promise<void> {
    const { host, view } = this.#parts;
    const before = this.#sessionId ?? '';
    // What is typed in the meantime is for the other one.
    this.#sessionId = null;
    if (to === 'new') return this.#beginAnew(before);
    try {
      const { sessionId } = await host.start({ resume: to.resume, idle: true });
      await host.end(before, 'resume');
      view.clear();
      await this.#enter(sessionId);
    } catch (error) {
      this.#sessionId ??= before;
      throw error;
    }
  }

  async #beginAnew(before: string): Promise<void> {
    const { host, view } = this.#parts;
    try {
      await host.end(before, 'clear');
      view.clear();
      await this.#open({ afterClear: true });
    } catch (error) {
      this.#problem = error instanceof Error ? error : null;
      this.leave(EXIT.refused);
    }
  }
}

const BUSY = 'The agent is working. Wait for it, or cancel with esc.';
/** Before anybody knows which model it is for. */
export const LEAST_PASTED = 100_000;
const MOST_PASTED = 4_000_000;

function problemWords(error: unknown): string {
  const hint = isHooklineError(error) && error.hint !== undefined ? ` ${error.hint}` : '';
  return printable(`${messageOf(error)}${hint}`);
}
