import type { Session } from '../../agent/session/session.ts';
import type { Host } from '../../host/create-host.ts';
import type { QueuedPrompts } from './queued-prompts.ts';
import { isCustomCommand } from './slash-commands.ts';

export interface PromptSenderOptions {
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
