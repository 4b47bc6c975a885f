import { formatUndelivered } from '../../agent/loop/steering.ts';
import type { Session } from '../../agent/session/session.ts';
import type { Host } from '../../host/create-host.ts';
import { isCustomCommand } from './slash-commands.ts';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import { toForeignScreenText } from './render/format-text.ts';
import type { ChatView } from './view/view.ts';

/** What the sender asks of its chat, and reports to it. */
interface SenderCallbacks {
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
  readonly #host: Host;
  readonly #queued: QueuedPrompts;
  readonly #chat: SenderCallbacks;
  #isSending = false;

  constructor(host: Host, queued: QueuedPrompts, chat: SenderCallbacks) {
    this.#host = host;
    this.#queued = queued;
    this.#chat = chat;
  }

  get isBusy(): boolean {
    return this.#isSending || this.#chat.session()?.isRunning === true;
  }

  send(text: string): void {
    const queued = this.#queued;
    if (this.#steer(text)) queued.addSteered(text);
    else if (this.isBusy || this.#chat.isBlocked() || queued.hasWaiting) queued.add(text);
    else void this.#send(text);
  }

  /** Sends the next queued prompt when the agent is idle. */
  sendNext(): void {
    if (this.#chat.session()?.isRunning !== true) this.sendAfterRun();
  }

  /** Like sendNext, when a run is about to end; a hook may have started that run. */
  sendAfterRun(): void {
    if (this.#isSending || this.#chat.session() === null || this.#chat.isBlocked()) return;
    const text = this.#queued.takeNext();
    if (text !== null) void this.#send(text);
  }

  /** Slash commands are only expanded at the start of a run, and the order of prompts is kept. */
  #steer(text: string): boolean {
    const current = this.#chat.session();
    if (current === null || !current.isRunning) return false;
    if (this.#chat.isBlocked() || this.#queued.hasWaiting) return false;
    return !isCustomCommand(text, current.commands()) && current.steer(text);
  }

  async #send(text: string): Promise<void> {
    const { session, onSent, onEnd } = this.#chat;
    this.#isSending = true;
    onSent(text);
    const problem = await this.#host.queue(session()?.id ?? '', text).then(
      () => null,
      (error: unknown) => error,
    );
    this.#isSending = false;
    onEnd(problem);
  }
}

/**
 * One with `isSteered` was sent to the running agent, which reads it before its next request, unless
 * the run ends first.
 */
interface QueuedPrompt {
  readonly text: string;
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
    return this.#queued.some(({ isSteered }) => !isSteered);
  }

  /** Takes the prompts that the agent reads now. */
  takeSteered(): readonly string[] {
    return this.#take(({ isSteered }) => isSteered).map(({ text }) => text);
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
      ({ text, isSteered }) => isSteered && event.text === formatUndelivered(text),
    );
    if (queued !== undefined) queued.isSteered = false;
    return queued !== undefined;
  }

  #takeUnread(isWanted: (each: QueuedPrompt) => boolean): readonly string[] {
    const prompts = this.#take(isWanted);
    this.#expectedNotices.push(
      ...prompts.filter(({ isSteered }) => isSteered).map(({ text }) => formatUndelivered(text)),
    );
    return prompts.map(({ text }) => text);
  }

  #take(isWanted: (each: QueuedPrompt) => boolean): readonly QueuedPrompt[] {
    const prompts = this.#queued.filter(isWanted);
    this.#queued = this.#queued.filter((each) => !prompts.includes(each));
    if (prompts.length > 0) this.#show();
    return prompts;
  }

  #show(): void {
    this.#view.setQueued(
      this.#queued.map(({ text }) => toForeignScreenText(text).split('\n')[0] ?? ''),
    );
  }
}
