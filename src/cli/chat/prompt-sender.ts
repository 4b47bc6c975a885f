import type { Session } from '../../agent/session/session.ts';
import type { Host } from '../../host/create-host.ts';
import { isCustomCommand } from './slash-commands.ts';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import { toForeignScreenText } from './render/format-text.ts';
import type { ChatView } from './view/view.ts';

interface PromptSenderOptions {
  readonly host: Host;
  readonly queued: QueuedPrompts;
  /** Null while there is no session. */
  readonly session: () => Session | null;
  /** Whether a command runs that requires an idle agent. */
  readonly isBlocked: () => boolean;
  /** Called when a prompt is sent. */
  readonly onSent: (text: string) => void;
  /** Called when a prompt was answered or failed. */
  readonly onEnd: (problem: unknown) => void;
}

/** Sends prompts to the agent: at once, into a running turn, or after the run. */
export class PromptSender {
  readonly #options: PromptSenderOptions;
  #isSending = false;

  constructor(options: PromptSenderOptions) {
    this.#options = options;
  }

  get isBusy(): boolean {
    return this.#isSending || this.#options.session()?.isRunning === true;
  }

  send(text: string): void {
    const { queued, isBlocked } = this.#options;
    if (this.#steer(text)) queued.addSteered(text);
    else if (this.isBusy || isBlocked() || queued.hasWaiting) queued.add(text);
    else void this.#send(text);
  }

  /** Sends the next queued prompt when the agent is idle. */
  sendNext(): void {
    if (this.#options.session()?.isRunning !== true) this.sendAfterRun();
  }

  /** Like sendNext, when a run is about to end; a hook may have started that run. */
  sendAfterRun(): void {
    const { queued, session, isBlocked } = this.#options;
    if (this.#isSending || session() === null || isBlocked()) return;
    const text = queued.takeNext();
    if (text !== null) void this.#send(text);
  }

  /** Slash commands are only expanded at the start of a run, and the order of prompts is kept. */
  #steer(text: string): boolean {
    const { queued, session, isBlocked } = this.#options;
    const current = session();
    if (current === null || !current.isRunning || isBlocked() || queued.hasWaiting) return false;
    return !isCustomCommand(text, current.commands()) && current.steer(text);
  }

  async #send(text: string): Promise<void> {
    const { host, session, onSent, onEnd } = this.#options;
    this.#isSending = true;
    onSent(text);
    const problem = await host.queue(session()?.id ?? '', text).then(
      () => null,
      (error: unknown) => error,
    );
    this.#isSending = false;
    onEnd(problem);
  }
}

interface QueuedPrompt {
  readonly text: string;
  /**
   * Sent to the running agent, which reads it before its next request; if the run ends first, it does not.
   */
  isSteered: boolean;
}

/** Prompts that the agent has not read yet. */
export class QueuedPrompts {
  readonly #view: ChatView;
  #queued: QueuedPrompt[] = [];
  /** Expected session notices about prompts that are no longer queued. */
  readonly #expectedNotices: string[] = [];

  constructor(view: ChatView) {
    this.#view = view;
  }

  /** Queues a prompt for after the run. */
  add(text: string): void {
    this.#queued.push({ text, isSteered: false });
    this.#show();
  }

  addFirst(text: string): void {
    this.#queued.unshift({ text, isSteered: false });
    this.#show();
  }

  /** Adds a prompt that was sent to the running agent. */
  addSteered(text: string): void {
    this.#queued.push({ text, isSteered: true });
    this.#show();
  }

  /** Whether a prompt waits for the end of the run. */
  get hasWaiting(): boolean {
    return this.#queued.some(({ isSteered: isTold }) => !isTold);
  }

  /** Takes the prompts that the agent reads now. */
  takeSteered(): readonly string[] {
    return this.#take(({ isSteered: isTold }) => isTold).map(({ text }) => text);
  }

  /** Takes the first prompt. */
  takeNext(): string | null {
    const [first] = this.#queued;
    return this.#takeUnread((each) => each === first)[0] ?? null;
  }

  takeAll(): readonly string[] {
    return this.#takeUnread(() => true);
  }

  /** Suppresses the session's notice about an unread prompt, which is still queued here or was taken. */
  absorbNotice(event: RuntimeEvent): boolean {
    if (event.type !== 'notice') return false;
    const at = this.#expectedNotices.indexOf(event.text);
    if (at !== -1) return this.#expectedNotices.splice(at, 1).length > 0;
    const queued = this.#queued.find(
      ({ text, isSteered: isTold }) => isTold && event.text === formatUnheardNotice(text),
    );
    if (queued !== undefined) queued.isSteered = false;
    return queued !== undefined;
  }

  #takeUnread(isWanted: (each: QueuedPrompt) => boolean): readonly string[] {
    const taken = this.#take(isWanted);
    this.#expectedNotices.push(
      ...taken
        .filter(({ isSteered: isTold }) => isTold)
        .map(({ text }) => formatUnheardNotice(text)),
    );
    return taken.map(({ text }) => text);
  }

  #take(isWanted: (each: QueuedPrompt) => boolean): readonly QueuedPrompt[] {
    const taken = this.#queued.filter(isWanted);
    this.#queued = this.#queued.filter((each) => !taken.includes(each));
    if (taken.length > 0) this.#show();
    return taken;
  }

  #show(): void {
    this.#view.setQueued(
      this.#queued.map(({ text }) => toForeignScreenText(text).split('\n')[0] ?? ''),
    );
  }
}

/** The wording of the session's notice. */
function formatUnheardNotice(text: string): string {
  return `the run ended before the agent could be told: ${text}`;
}
