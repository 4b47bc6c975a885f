import type { Session } from '../../agent/session/session.ts';
import type { Host } from '../../host/create-host.ts';
import type { QueuedPrompts } from './queued-prompts.ts';
import { isCustomCommand } from './slash-commands.ts';

export interface PromptSenderOptions {
  readonly host: Host;
  readonly queued: QueuedPrompts;
  /** Null while there is none to talk to. */
  readonly session: () => Session | null;
  /** Whether a command is under way that the agent must rest for. */
  readonly isBlocked: () => boolean;
  /** A prompt goes to the agent now. */
  readonly onSent: (text: string) => void;
  /** A prompt has been answered, or could not be. */
  readonly onEnd: (problem: unknown) => void;
}

/** Brings what the person says to the agent: at once, while it works, or when it is done. */
export class PromptSender {
  readonly #place: PromptSenderOptions;
  #isSending = false;

  constructor(place: PromptSenderOptions) {
    this.#place = place;
  }

  get isBusy(): boolean {
    return this.#isSending || this.#place.session()?.isRunning === true;
  }

  send(text: string): void {
    const { queued, isBlocked: mustRest } = this.#place;
    if (this.#tell(text)) queued.addSteered(text);
    else if (this.isBusy || mustRest() || queued.hasWaiting) queued.add(text);
    else void this.#deliver(text);
  }

  /** Sends the first that waits, when nothing else goes on. */
  sendNext(): void {
    if (this.#place.session()?.isRunning !== true) this.sendAfterRun();
  }

  /** The same where a run is about to be over, which a hook may have begun. */
  sendAfterRun(): void {
    const { queued, session, isBlocked: mustRest } = this.#place;
    if (this.#isSending || session() === null || mustRest()) return;
    const text = queued.takeNext();
    if (text !== null) void this.#deliver(text);
  }

  /** A command is only understood at the beginning of a run, and nothing overtakes it. */
  #tell(text: string): boolean {
    const { queued, session, isBlocked: mustRest } = this.#place;
    const current = session();
    if (current === null || !current.isRunning || mustRest() || queued.hasWaiting) return false;
    return !isCustomCommand(text, current.commands()) && current.steer(text);
  }

  async #deliver(text: string): Promise<void> {
    const { host, session, onSent, onEnd } = this.#place;
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
