import type * as acp from '@agentclientprotocol/sdk';
import type { FinishReason } from '../agent/models/model.ts';
import type { RuntimeEvent } from '../agent/runtime-event.ts';
import type { Session } from '../agent/session/session.ts';
import { untilAborted } from '../base/until-aborted.ts';
import type { Host } from '../host/create-host.ts';
import { isPermissionMode } from '../permissions/mode.ts';
import { endingOf } from './ending.ts';
import { configOptionsOf, MODE_OPTION, MODEL_OPTION, modesOf } from './modes.ts';
import { commandsOf, runOwnCommand } from './own-commands.ts';
import { readPrompt } from './read-prompt.ts';
import { wrongMoment, wrongParams } from './request-errors.ts';
import type { Aside } from './shown/asides.ts';

export interface EditorSessionParts {
  readonly host: Host;
  readonly session: Session;
  readonly tell: (update: acp.SessionUpdate) => void;
  readonly say: (aside: Aside) => void;
}

/** One session as an editor drives it; it has a host of its own. */
export class EditorSession {
  readonly #parts: EditorSessionParts;
  readonly #unsubscribe: () => void;
  /** Aborts when the prompt under way is cancelled; null when there is none. */
  #prompting: AbortController | null = null;
  #serversSettled: Promise<unknown> | null = null;
  #lastFinish: FinishReason | null = null;
  #told: Told;

  constructor(parts: EditorSessionParts) {
    this.#parts = parts;
    this.#told = toldOf(parts.session);
    this.#unsubscribe = parts.host.subscribe((event) => this.#observe(event));
  }

  get id(): string {
    return this.#parts.session.id;
  }

  /** What the answer to an opened session says of it. */
  setup(): Required<Pick<acp.NewSessionResponse, 'modes' | 'configOptions'>> {
    const state = this.#parts.session.state();
    return { modes: modesOf(state), configOptions: configOptionsOf(state) };
  }

  announceCommands(): void {
    const { session, tell } = this.#parts;
    const availableCommands = commandsOf(session.commands());
    tell({ sessionUpdate: 'available_commands_update', availableCommands });
  }

  /** A request that the editor takes back is the same as a cancelled prompt. */
  async prompt(
    blocks: readonly acp.ContentBlock[],
    signal: AbortSignal,
  ): Promise<acp.PromptResponse> {
    if (this.#prompting !== null) {
      throw wrongMoment('another prompt is being worked on; cancel it first');
    }
    const cancel = (): void => this.cancel();
    this.#prompting = new AbortController();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return { stopReason: await this.#run(blocks, this.#prompting.signal) };
    } finally {
      this.#prompting = null;
      signal.removeEventListener('abort', cancel);
    }
  }

  async #run(blocks: readonly acp.ContentBlock[], cancelled: AbortSignal): Promise<acp.StopReason> {
    const { session, say } = this.#parts;
    const { text, images, notes } = readPrompt(blocks);
    if (text === '' && images.length === 0) throw wrongParams('the prompt says nothing');
    for (const note of notes) say({ severity: 'warning', text: note });
    await this.#awaitServers(cancelled);
    const said = cancelled.aborted ? '' : await runOwnCommand(text, this.#parts);
    if (said !== null) this.#say(said);
    if (cancelled.aborted) return 'cancelled';
    if (said !== null) return 'end_turn';
    session.show(images);
    this.#lastFinish = null;
    // A hook may have woken the agent; what the person says comes after that.
    const { stopReason, words } = endingOf(await session.queue(text), this.#lastFinish);
    if (words !== null) say({ severity: 'info', text: words });
    this.#tellState();
    return stopReason;
  }

  /** People type while servers start; editors may not, and the agent should have its tools. */
  async #awaitServers(cancelled: AbortSignal): Promise<void> {
    const { host, session } = this.#parts;
    this.#serversSettled ??= host.mcpServers();
    const before = session.commands().length;
    await untilAborted(this.#serversSettled, cancelled).catch(() => undefined);
    if (session.commands().length !== before) this.announceCommands();
  }

  #say(text: string): void {
    const content = { type: 'text' as const, text };
    if (text !== '') this.#parts.tell({ sessionUpdate: 'agent_message_chunk', content });
    this.#tellState();
  }

  cancel(): void {
    this.#prompting?.abort();
    this.#parts.session.abort('the person cancelled it');
  }

  setMode(mode: string): void {
    if (!isPermissionMode(mode)) throw wrongParams(`there is no mode ${JSON.stringify(mode)}`);
    this.#parts.session.setPermissionMode(mode);
    this.#tellMode();
  }

  async setOption(id: string, value: unknown): Promise<acp.SetSessionConfigOptionResponse> {
    const { host, session } = this.#parts;
    if (typeof value !== 'string') throw wrongParams('an option’s value should be text');
    if (id === MODE_OPTION) this.setMode(value);
    else if (id !== MODEL_OPTION) throw wrongParams(`there is no option ${JSON.stringify(id)}`);
    else {
      const refusal = await host.switchModel(session.id, value, { source: 'picker' });
      if (refusal !== null) throw wrongMoment(refusal);
      this.#told = toldOf(session);
    }
    return { configOptions: configOptionsOf(session.state()) };
  }

  async close(): Promise<void> {
    await this.#parts.host.dispose();
    this.#unsubscribe();
  }

  #observe(event: RuntimeEvent): void {
    if (event.parentAgentId !== null) return;
    if (event.type === 'turn-end') this.#lastFinish = event.finishReason;
    // Cancelled while it waited for a run that a hook had begun.
    if (event.type === 'run-start' && this.#prompting?.signal.aborted === true) this.cancel();
    if (event.type === 'tool-end' || event.type === 'run-end') this.#tellMode();
  }

  /** Modes and models change by hooks, by plans that are agreed to and by commands, too. */
  #tellMode(): void {
    const { session, tell } = this.#parts;
    const now = toldOf(session);
    const before = this.#told;
    this.#told = now;
    if (now.mode !== before.mode) {
      tell({ sessionUpdate: 'current_mode_update', currentModeId: now.mode });
    }
    if (now.mode !== before.mode || now.model !== before.model) {
      const configOptions = configOptionsOf(session.state());
      tell({ sessionUpdate: 'config_option_update', configOptions });
    }
    const { title } = now;
    if (title !== before.title) tell({ sessionUpdate: 'session_info_update', title });
  }

  #tellState(): void {
    const { session, tell } = this.#parts;
    const { contextTokens: used, contextLimit, costUsd } = session.state();
    this.#tellMode();
    const size = Number.isFinite(contextLimit) ? contextLimit : used;
    const cost = costUsd === null ? null : { amount: costUsd, currency: 'USD' };
    tell({ sessionUpdate: 'usage_update', used, size, cost });
  }
}

interface Told {
  readonly mode: string;
  readonly model: string;
  readonly title: string | null;
}

function toldOf(session: Session): Told {
  const { permissionMode: mode, model, title } = session.state();
  return { mode, model: model.id, title };
}
