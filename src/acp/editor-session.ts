import type * as acp from '@agentclientprotocol/sdk';
import type { FinishReason } from '../agent/models/model.ts';
import type { RuntimeEvent } from '../agent/runtime-event.ts';
import type { Session } from '../agent/session/session.ts';
import { waitOrAbort } from '../base/abort.ts';
import type { Host } from '../host/create-host.ts';
import { isPermissionMode } from '../permissions/permissions.ts';
import { toStopReason } from './stop-reason.ts';
import { listConfigOptions, MODE_OPTION, MODEL_OPTION, listModes } from './modes.ts';
import { listCommands, runOwnCommand } from './commands.ts';
import type { Editor } from './requests.ts';
import { readPrompt } from './read-prompt.ts';
import { createInvalidRequestError, createInvalidParamsError } from './request-errors.ts';

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
  #sent: SentState;

  constructor(parts: EditorSessionParts) {
    this.#parts = parts;
    this.#sent = readSentState(parts.session);
    this.#unsubscribe = parts.host.subscribe((event) => this.#observe(event));
  }

  get id(): string {
    return this.#parts.session.id;
  }

  /** Modes and options, for the response to a request that opens the session. */
  setup(): Required<Pick<acp.NewSessionResponse, 'modes' | 'configOptions'>> {
    const state = this.#parts.session.state();
    return { modes: listModes(state), configOptions: listConfigOptions(state) };
  }

  announceCommands(): void {
    const { session, editor } = this.#parts;
    const availableCommands = listCommands(session.commands());
    editor.sendUpdate({ sessionUpdate: 'available_commands_update', availableCommands });
  }

  /** Aborting the request cancels the prompt. */
  async prompt(
    blocks: readonly acp.ContentBlock[],
    signal: AbortSignal,
  ): Promise<acp.PromptResponse> {
    if (this.#prompting !== null) {
      throw createInvalidRequestError('another prompt is being worked on; cancel it first');
    }
    const cancel = (): void => this.cancel();
    this.#prompting = new AbortController();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return { stopReason: await this.#run(blocks, this.#prompting.signal) };
    } finally {
      // Editors take the response for the end of the updates.
      await this.#parts.editor.settled();
      this.#prompting = null;
      signal.removeEventListener('abort', cancel);
    }
  }

  async #run(blocks: readonly acp.ContentBlock[], cancelled: AbortSignal): Promise<acp.StopReason> {
    const { session, editor } = this.#parts;
    const { text, images, notes } = readPrompt(blocks);
    if (text === '' && images.length === 0) {
      throw createInvalidParamsError('the prompt says nothing');
    }
    for (const note of notes) editor.sendNotice({ severity: 'warning', text: note });
    await this.#awaitServers(cancelled);
    const reply = await this.#runOwn(text, cancelled);
    if (reply !== null) this.#sendReply(reply);
    if (cancelled.aborted) return 'cancelled';
    if (reply !== null) return 'end_turn';
    session.show(images);
    this.#lastFinish = null;
    // A hook may have woken the agent; the user's prompt runs after that.
    const { ending, reason } = await session.queue(text);
    const redacted = await editor.redact({ ending, reason });
    const { stopReason, message } = toStopReason(redacted, this.#lastFinish);
    if (message !== null) editor.sendNotice({ severity: 'info', text: message });
    this.#sendState();
    return stopReason;
  }

  /** The reply of a built-in command; null when the text is no command. */
  async #runOwn(text: string, cancelled: AbortSignal): Promise<string | null> {
    if (cancelled.aborted) return '';
    try {
      return await runOwnCommand(text, { ...this.#parts, signal: cancelled });
    } catch (error) {
      if (cancelled.aborted) return '';
      throw error;
    }
  }

  /** An editor may send the first prompt at once, and the agent should have the tools of all servers. */
  async #awaitServers(cancelled: AbortSignal): Promise<void> {
    const { host, session } = this.#parts;
    this.#serversSettled ??= host.mcpServers();
    const before = session.commands().length;
    await waitOrAbort(this.#serversSettled, cancelled).catch(() => undefined);
    if (session.commands().length !== before) this.announceCommands();
  }

  #sendReply(text: string): void {
    const content = { type: 'text' as const, text };
    if (text !== '') {
      this.#parts.editor.sendUpdate({ sessionUpdate: 'agent_message_chunk', content });
    }
    this.#sendState();
  }

  cancel(): void {
    this.#prompting?.abort();
    this.#parts.session.abort('cancelled by the user');
  }

  setMode(mode: string): void {
    if (!isPermissionMode(mode)) {
      throw createInvalidParamsError(`there is no mode ${JSON.stringify(mode)}`);
    }
    this.#parts.session.setPermissionMode(mode);
    this.#sendMode();
  }

  async setOption(id: string, value: unknown): Promise<acp.SetSessionConfigOptionResponse> {
    const { host, session, editor } = this.#parts;
    if (typeof value !== 'string') {
      throw createInvalidParamsError('an option’s value should be text');
    }
    if (id === MODE_OPTION) this.setMode(value);
    else if (id !== MODEL_OPTION) {
      throw createInvalidParamsError(`there is no option ${JSON.stringify(id)}`);
    } else {
      const refusal = await host.switchModel(session.id, value, { source: 'picker' });
      if (refusal !== null) {
        throw createInvalidRequestError((await editor.redact({ refusal })).refusal);
      }
      this.#sent = readSentState(session);
    }
    return { configOptions: listConfigOptions(session.state()) };
  }

  async close(): Promise<void> {
    await this.#parts.host.dispose();
    this.#unsubscribe();
    await this.#parts.editor.settled();
  }

  #observe(event: RuntimeEvent): void {
    if (event.parentAgentId !== null) return;
    if (event.type === 'turn-end') this.#lastFinish = event.finishReason;
    // The prompt was cancelled while it waited for a run that a hook had started.
    if (event.type === 'run-start' && this.#prompting?.signal.aborted === true) this.cancel();
    if (event.type === 'tool-end' || event.type === 'run-end') this.#sendMode();
  }

  /** Hooks, accepted plans and commands change mode and model, too, so that every event may. */
  #sendMode(): void {
    const { session, editor } = this.#parts;
    const current = readSentState(session);
    const before = this.#sent;
    this.#sent = current;
    if (current.mode !== before.mode) {
      editor.sendUpdate({ sessionUpdate: 'current_mode_update', currentModeId: current.mode });
    }
    if (current.mode !== before.mode || current.model !== before.model) {
      const configOptions = listConfigOptions(session.state());
      editor.sendUpdate({ sessionUpdate: 'config_option_update', configOptions });
    }
    const { title } = current;
    if (title !== before.title) editor.sendUpdate({ sessionUpdate: 'session_info_update', title });
  }

  #sendState(): void {
    const { session, editor } = this.#parts;
    const { contextTokens: used, contextLimit, costUsd } = session.state();
    this.#sendMode();
    const size = Number.isFinite(contextLimit) ? contextLimit : used;
    const cost = costUsd === null ? null : { amount: costUsd, currency: 'USD' };
    editor.sendUpdate({ sessionUpdate: 'usage_update', used, size, cost });
  }
}

interface SentState {
  readonly mode: string;
  readonly model: string;
  readonly title: string | null;
}

function readSentState(session: Session): SentState {
  const { permissionMode: mode, model, title } = session.state();
  return { mode, model: model.id, title };
}
