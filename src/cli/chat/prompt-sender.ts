import type { Session } from '../../agent/session/session.ts';
import type { Host } from '../../host/create-host.ts';
import { isCustomCommand } from './slash-commands.ts';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import { toForeignScreenText } from './render/format-text.ts';
import type { ChatView } from './view/view.ts';

interface PromptSenderOptions {
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

interface QueuedPrompt {
  readonly text: string;
  /** The agent was told, and hears it before its next request; if its run ends earlier, it does not. */
  isSteered: boolean;
}

/** What the person said that the agent has not heard yet. */
export class QueuedPrompts {
  readonly #view: ChatView;
  #queued: QueuedPrompt[] = [];
  /** What the session will say about words that are not queued here any more. */
  readonly #settled: string[] = [];

  constructor(view: ChatView) {
    this.#view = view;
  }

  /** For later. */
  add(text: string): void {
    this.#queued.push({ text, isSteered: false });
    this.#show();
  }

  addFirst(text: string): void {
    this.#queued.unshift({ text, isSteered: false });
    this.#show();
  }

  /** The agent that works was told. */
  addSteered(text: string): void {
    this.#queued.push({ text, isSteered: true });
    this.#show();
  }

  /** Whether something waits for the end of the run. */
  get hasWaiting(): boolean {
    return this.#queued.some(({ isSteered: isTold }) => !isTold);
  }

  /** Those that the agent hears now. */
  takeSteered(): readonly string[] {
    return this.#take(({ isSteered: isTold }) => isTold).map(({ text }) => text);
  }

  /** The first one, as a prompt of its own. */
  takeNext(): string | null {
    const [first] = this.#queued;
    return this.#takeUnheard((each) => each === first)[0] ?? null;
  }

  takeAll(): readonly string[] {
    return this.#takeUnheard(() => true);
  }

  /** What a run ended too early for is not lost: it is queued here, or was taken. */
  absorbNotice(event: RuntimeEvent): boolean {
    if (event.type !== 'notice') return false;
    const at = this.#settled.indexOf(event.text);
    if (at !== -1) return this.#settled.splice(at, 1).length > 0;
    const queued = this.#queued.find(
      ({ text, isSteered: isTold }) => isTold && event.text === formatUnheardNotice(text),
    );
    if (queued !== undefined) queued.isSteered = false;
    return queued !== undefined;
  }

  #takeUnheard(isWanted: (each: QueuedPrompt) => boolean): readonly string[] {
    const taken = this.#take(isWanted);
    this.#settled.push(
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

/** As the session says it. */
function formatUnheardNotice(text: string): string {
  return `the run ended before the agent could be told: ${text}`;
}
