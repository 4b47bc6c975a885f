import type * as acp from '@agentclientprotocol/sdk';
import type { FinishReason } from '../agent/models/model.ts';
import type { RuntimeEvent } from '../agent/runtime-event.ts';
import type { Session } from '../agent/session/session.ts';
import { waitOrAbort } from '../base/abort.ts';
import type { Host } from '../host/create-host.ts';
import { isPermissionMode } from '../permissions/permissions.ts';
import { endingOf } from './ending.ts';
import { configOptionsOf, MODE_OPTION, MODEL_OPTION, modesOf } from './modes.ts';
import { commandsOf, runOwnCommand } from './own-commands.ts';
import type { Editor } from './person/editor.ts';
import { readPrompt } from './read-prompt.ts';
import { wrongMoment, wrongParams } from './request-errors.ts';

export interface EditorSessionParts {
  readonly host: Host;
  readonly session: Session;
  readonly editor: Editor;
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
    const { session, editor } = this.#parts;
    const availableCommands = commandsOf(session.commands());
    editor.tell({ sessionUpdate: 'available_commands_update', availableCommands });
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
      // An editor takes the answer for the end of what it is told.
      await this.#parts.editor.settled();
      this.#prompting = null;
      signal.removeEventListener('abort', cancel);
    }
  }

  async #run(blocks: readonly acp.ContentBlock[], cancelled: AbortSignal): Promise<acp.StopReason> {
    const { session, editor } = this.#parts;
    const { text, images, notes } = readPrompt(blocks);
    if (text === '' && images.length === 0) throw wrongParams('the prompt says nothing');
    for (const note of notes) editor.say({ severity: 'warning', text: note });
    await this.#awaitServers(cancelled);
    const said = await this.#runOwn(text, cancelled);
    if (said !== null) this.#say(said);
    if (cancelled.aborted) return 'cancelled';
    if (said !== null) return 'end_turn';
    session.show(images);
    this.#lastFinish = null;
    // A hook may have woken the agent; what the person says comes after that.
    const { ending, reason } = await session.queue(text);
    const shown = await editor.clean({ ending, reason });
    const { stopReason, words } = endingOf(shown, this.#lastFinish);
    if (words !== null) editor.say({ severity: 'info', text: words });
    this.#tellState();
    return stopReason;
  }

  /** What an own command says; null when the text is none. */
  async #runOwn(text: string, cancelled: AbortSignal): Promise<string | null> {
    if (cancelled.aborted) return '';
    try {
      return await runOwnCommand(text, { ...this.#parts, signal: cancelled });
    } catch (error) {
      if (cancelled.aborted) return '';
      throw error;
    }
  }

  /** People type while servers start; editors may not, and the agent should have its tools. */
  async #awaitServers(cancelled: AbortSignal): Promise<void> {
    const { host, session } = this.#parts;
    this.#serversSettled ??= host.mcpServers();
    const before = session.commands().length;
    await waitOrAbort(this.#serversSettled, cancelled).catch(() => undefined);
    if (session.commands().length !== before) this.announceCommands();
  }

  #say(text: string): void {
    const content = { type: 'text' as const, text };
    if (text !== '') this.#parts.editor.tell({ sessionUpdate: 'agent_message_chunk', content });
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
    const { host, session, editor } = this.#parts;
    if (typeof value !== 'string') throw wrongParams('an option’s value should be text');
    if (id === MODE_OPTION) this.setMode(value);
    else if (id !== MODEL_OPTION) throw wrongParams(`there is no option ${JSON.stringify(id)}`);
    else {
      const refusal = await host.switchModel(session.id, value, { source: 'picker' });
      if (refusal !== null) throw wrongMoment((await editor.clean({ refusal })).refusal);
      this.#told = toldOf(session);
    }
    return { configOptions: configOptionsOf(session.state()) };
  }

  async close(): Promise<void> {
    await this.#parts.host.dispose();
    this.#unsubscribe();
    await this.#parts.editor.settled();
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
    const { session, editor } = this.#parts;
    const now = toldOf(session);
    const before = this.#told;
    this.#told = now;
    if (now.mode !== before.mode) {
      editor.tell({ sessionUpdate: 'current_mode_update', currentModeId: now.mode });
    }
    if (now.mode !== before.mode || now.model !== before.model) {
      const configOptions = configOptionsOf(session.state());
      editor.tell({ sessionUpdate: 'config_option_update', configOptions });
    }
    const { title } = now;
    if (title !== before.title) editor.tell({ sessionUpdate: 'session_info_update', title });
  }

  #tellState(): void {
    const { session, editor } = this.#parts;
    const { contextTokens: used, contextLimit, costUsd } = session.state();
    this.#tellMode();
    const size = Number.isFinite(contextLimit) ? contextLimit : used;
    const cost = costUsd === null ? null : { amount: costUsd, currency: 'USD' };
    editor.tell({ sessionUpdate: 'usage_update', used, size, cost });
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
