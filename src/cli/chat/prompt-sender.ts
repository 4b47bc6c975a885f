import type { Session } from '../../agent/session/session.ts';
import { PromptQueue } from '../../agent/session/prompt-queue.ts';
import { isCustomCommand } from './slash-commands.ts';
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
  readonly #queued: QueuedPrompts;
  readonly #chat: SenderCallbacks;
  #isSending = false;

  constructor(queued: QueuedPrompts, chat: SenderCallbacks) {
    this.#queued = queued;
    this.#chat = chat;
  }

  get isBusy(): boolean {
    return this.#isSending || this.#chat.session()?.isRunning === true;
  }

  send(text: string): void {
    const session = this.#chat.session();
    const queued = this.#queued;
    if (session === null) queued.add(text);
    else if (this.#canSteer(session, text)) session.steer(text, queued.addSteered(text));
    else if (this.isBusy || this.#chat.isBlocked() || queued.hasWaiting) queued.add(text);
    else void this.#send(session, text);
  }

  /** Sends the next queued prompt when the agent is idle. */
  sendNext(): void {
    if (this.#chat.session()?.isRunning !== true) this.sendAfterRun();
  }

  /** Like sendNext, when a run is about to end; a hook may have started that run. */
  sendAfterRun(): void {
    const session = this.#chat.session();
    if (this.#isSending || session === null || this.#chat.isBlocked()) return;
    const text = this.#queued.takeNext();
    if (text !== null) void this.#send(session, text);
  }

  /** Slash commands are only expanded at the start of a run, and the order of prompts is kept. */
  #canSteer(session: Session, text: string): boolean {
    if (!session.isRunning || this.#chat.isBlocked() || this.#queued.hasWaiting) return false;
    return !isCustomCommand(text, session.commands());
  }

  async #send(session: Session, text: string): Promise<void> {
    const { onSent, onEnd } = this.#chat;
    this.#isSending = true;
    onSent(text);
    const problem = await session.queue(text).then(
      () => null,
      (error: unknown) => error,
    );
    this.#isSending = false;
    onEnd(problem);
  }
}

/** Prompts that the agent has not read yet, as the view shows them. */
export class QueuedPrompts {
  readonly #queue: PromptQueue;
  /**
   * The ids of those that the running agent was sent: it reads them before its next request, unless the run
   * ends first. The others wait for the end of the run.
   */
  readonly #steered = new Set<string>();

  constructor(view: ChatView) {
    this.#queue = new PromptQueue((prompts) =>
      view.setQueued(prompts.map(({ prompt }) => toForeignScreenText(prompt).split('\n')[0] ?? '')),
    );
  }

  /** Queues a prompt for after the run. */
  add(text: string): void {
    this.#queue.add({ prompt: text });
  }

  addFirst(text: string): void {
    this.#queue.addFirst({ prompt: text });
  }

  /**
   * Adds a prompt for the running agent. The returned function is called when the run has ended and the agent
   * has not read it: the prompt then waits like the others, if it is still here.
   */
  addSteered(text: string): () => void {
    const { id } = this.#queue.add({ prompt: text });
    this.#steered.add(id);
    return () => void this.#steered.delete(id);
  }

  /** Whether a prompt waits for the end of the run. */
  get hasWaiting(): boolean {
    return this.#queue.list().some(({ id }) => !this.#steered.has(id));
  }

  /** Takes the prompts that the agent reads now. */
  takeSteered(): readonly string[] {
    const steered = this.#queue.takeAll(({ id }) => this.#steered.has(id));
    this.#steered.clear();
    return steered.map(({ prompt }) => prompt);
  }

  /** Takes the first prompt. */
  takeNext(): string | null {
    return this.#queue.take()?.prompt ?? null;
  }

  takeAll(): readonly string[] {
    return this.#queue.takeAll(() => true).map(({ prompt }) => prompt);
  }
}
