import type * as acp from '@agentclientprotocol/sdk';
import type { FinishReason } from '../agent/models/model.ts';
import type { RuntimeEvent, RunResult } from '../agent/runtime-event.ts';
import type { Session, SessionState } from '../agent/session/session.ts';
import { waitOrAbort } from '../base/abort.ts';
import { getOwnValue } from '../base/json.ts';
import type { Host } from '../host/create-host.ts';
import { isPermissionMode, type PermissionMode } from '../permissions/permissions.ts';
import type { Connection } from './connection.ts';
import type { Editor } from './ask-editor.ts';
import { readPrompt } from './read-prompt.ts';
import {
  createInvalidRequestError,
  createInvalidParamsError,
  createInternalError,
} from './request-errors.ts';
import { listPricedModels } from '../agent/models/prices.ts';
import type { SlashCommand } from '../agent/instructions/commands.ts';

/** A session that an editor controls; it has its own host. */
export class EditorSession {
  readonly #host: Host;
  readonly #session: Session;
  readonly #editor: Editor;
  readonly #connection: Connection;
  readonly #transcript: string | null;
  readonly #unsubscribe: () => void;
  /** Aborts when the prompt under way is cancelled; null when there is none. */
  #prompting: AbortController | null = null;
  #serversSettled: Promise<unknown> | null = null;
  /** The state that the editor was sent last. */
  #sent: Pick<SessionState, 'permissionMode' | 'model' | 'title'>;

  constructor(
    host: Host,
    session: Session,
    editor: Editor,
    connection: Connection,
    transcript: string | null,
  ) {
    this.#host = host;
    this.#session = session;
    this.#editor = editor;
    this.#connection = connection;
    this.#transcript = transcript;
    this.#sent = session.state();
    this.#unsubscribe = host.subscribe((event) => this.#observe(event));
  }

  get id(): string {
    return this.#session.id;
  }

  /** Sends the stored transcript, for an editor that does not show it yet. */
  async replay(): Promise<void> {
    if (this.#transcript === null) return;
    await this.#connection.sendTranscript(this.id, this.#transcript, this.#session.state().cwd);
  }

  /** Sends the updates that were queued and all further ones: the editor knows the session now. */
  release(): void {
    this.#connection.release(this.id);
    this.#session.runPending();
  }

  /** Modes and options, for the response to a request that opens the session. */
  setup(): Required<Pick<acp.NewSessionResponse, 'modes' | 'configOptions'>> {
    const state = this.#session.state();
    return { modes: listModes(state), configOptions: listConfigOptions(state) };
  }

  announceCommands(): void {
    const availableCommands = listCommands(this.#session.commands());
    this.#editor.sendUpdate({ sessionUpdate: 'available_commands_update', availableCommands });
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
      await this.#editor.settled();
      this.#prompting = null;
      signal.removeEventListener('abort', cancel);
    }
  }

  async #run(blocks: readonly acp.ContentBlock[], cancelled: AbortSignal): Promise<acp.StopReason> {
    const editor = this.#editor;
    const { text, images, notes } = readPrompt(blocks);
    if (text === '' && images.length === 0) {
      throw createInvalidParamsError('the prompt is empty');
    }
    for (const note of notes) editor.sendNotice({ severity: 'warning', text: note });
    await this.#awaitServers(cancelled);
    const reply = await this.#runOwn(text, cancelled);
    if (reply !== null) this.#sendReply(reply);
    if (cancelled.aborted) return 'cancelled';
    if (reply !== null) return 'end_turn';
    this.#session.show(images);
    // A hook may have woken the agent; the user's prompt runs after that.
    const { ending, reason, endedByHooks = [] } = await this.#session.queue(text);
    const hooks = endedByHooks.length === 0 ? '' : ` (${endedByHooks.join(', ')})`;
    const { finishReason } = this.#session.state();
    const why = reason === null ? null : `${reason}${hooks}`;
    const redacted = await editor.redact({ ending, reason: why });
    const { stopReason, message } = toStopReason(redacted, finishReason);
    if (message !== null) editor.sendNotice({ severity: 'info', text: message });
    this.#sendState();
    return stopReason;
  }

  /** The reply of a built-in command; null when the text is no command. */
  async #runOwn(text: string, cancelled: AbortSignal): Promise<string | null> {
    if (cancelled.aborted) return '';
    try {
      return await runOwnCommand(this.#session, text, cancelled);
    } catch (error) {
      if (cancelled.aborted) return '';
      throw error;
    }
  }

  /** An editor may send the first prompt at once, and the agent should have the tools of all servers. */
  async #awaitServers(cancelled: AbortSignal): Promise<void> {
    this.#serversSettled ??= this.#host.mcpServers();
    const before = this.#session.commands().length;
    await waitOrAbort(this.#serversSettled, cancelled).catch(() => undefined);
    if (this.#session.commands().length !== before) this.announceCommands();
  }

  #sendReply(text: string): void {
    const content = { type: 'text' as const, text };
    if (text !== '') {
      this.#editor.sendUpdate({ sessionUpdate: 'agent_message_chunk', content });
    }
    this.#sendState();
  }

  cancel(): void {
    this.#prompting?.abort();
    this.#session.abort('cancelled by the user');
  }

  setMode(mode: string): void {
    if (!isPermissionMode(mode)) {
      throw createInvalidParamsError(`mode ${JSON.stringify(mode)} not found`);
    }
    this.#session.setPermissionMode(mode);
    this.#sendMode();
  }

  async setOption(id: string, value: unknown): Promise<acp.SetSessionConfigOptionResponse> {
    if (typeof value !== 'string') {
      throw createInvalidParamsError('an option’s value should be text');
    }
    if (id === MODE_OPTION) this.setMode(value);
    else if (id !== MODEL_OPTION) {
      throw createInvalidParamsError(`option ${JSON.stringify(id)} not found`);
    } else {
      const refusal = await this.#session.switchModel({ model: value, source: 'picker' });
      if (refusal !== null) {
        throw createInvalidRequestError((await this.#editor.redact({ refusal })).refusal);
      }
      this.#sent = this.#session.state();
    }
    return { configOptions: listConfigOptions(this.#session.state()) };
  }

  async close(): Promise<void> {
    await this.#host.dispose();
    this.#unsubscribe();
    await this.#editor.settled();
  }

  #observe(event: RuntimeEvent): void {
    if (event.parentAgentId !== null) return;
    // The prompt was cancelled while it waited for a run that a hook had started.
    if (event.type === 'run-start' && this.#prompting?.signal.aborted === true) this.cancel();
    if (event.type === 'tool-end' || event.type === 'run-end') this.#sendMode();
  }

  /** Hooks, accepted plans and commands change mode and model, too, so that every event may. */
  #sendMode(): void {
    const editor = this.#editor;
    const current = this.#session.state();
    const before = this.#sent;
    this.#sent = current;
    const { permissionMode: currentModeId } = current;
    const isOtherMode = currentModeId !== before.permissionMode;
    if (isOtherMode) editor.sendUpdate({ sessionUpdate: 'current_mode_update', currentModeId });
    if (isOtherMode || current.model.id !== before.model.id) {
      const configOptions = listConfigOptions(current);
      editor.sendUpdate({ sessionUpdate: 'config_option_update', configOptions });
    }
    const { title } = current;
    if (title !== before.title) editor.sendUpdate({ sessionUpdate: 'session_info_update', title });
  }

  #sendState(): void {
    const { contextTokens: used, contextLimit, costUsd } = this.#session.state();
    this.#sendMode();
    const size = Number.isFinite(contextLimit) ? contextLimit : used;
    const cost = costUsd === null ? null : { amount: costUsd, currency: 'USD' };
    this.#editor.sendUpdate({ sessionUpdate: 'usage_update', used, size, cost });
  }
}

const MODE_OPTION = 'mode';
const MODEL_OPTION = 'model';

const MODES: Readonly<Record<PermissionMode, { readonly name: string; readonly about: string }>> = {
  default: { name: 'Ask', about: 'Reads freely; asks before edits and commands' },
  acceptEdits: { name: 'Accept edits', about: 'Also edits files of the workspace without asking' },
  plan: { name: 'Plan', about: 'Reads and plans; changes nothing' },
  dontAsk: { name: 'Do not ask', about: 'What would be asked is denied' },
  bypassPermissions: { name: 'Bypass permissions', about: 'Does everything that no rule forbids' },
};

/** The permission modes, as editors offer them. */
function listModes({ permissionMode }: SessionState): acp.SessionModeState {
  return {
    currentModeId: permissionMode,
    availableModes: Object.entries(MODES).map(([id, { name, about }]) => ({
      id,
      name,
      description: about,
    })),
  };
}

/** Mode and model as options, for editors that support options: those ignore `modes`. */
function listConfigOptions(state: SessionState): acp.SessionConfigOption[] {
  return [
    {
      type: 'select',
      id: MODE_OPTION,
      name: 'Mode',
      category: 'mode',
      currentValue: state.permissionMode,
      options: Object.entries(MODES).map(([value, { name, about }]) => ({
        value,
        name,
        description: about,
      })),
    },
    {
      type: 'select',
      id: MODEL_OPTION,
      name: 'Model',
      category: 'model',
      currentValue: state.model.id,
      options: listModelNames(state).map((value) => ({ value, name: value })),
    },
  ];
}

const FAMILIES: Readonly<Record<string, string>> = {
  anthropic: 'claude-',
  openai: 'gpt-',
  gemini: 'gemini-',
};

/** Other models can be named with `/model`: no service is asked for its list. */
function listModelNames({ model: { provider, id } }: SessionState): readonly string[] {
  const family = getOwnValue(FAMILIES, provider);
  const models = family === undefined ? [] : listPricedModels(family);
  return [...new Set([id, ...models])];
}

/** Built-in commands: what the protocol has no request for. */
const OWN: readonly acp.AvailableCommand[] = [
  {
    name: 'compact',
    description: 'Compact the conversation',
    input: { hint: 'what to keep' },
  },
  {
    name: 'model',
    description: 'Show or switch the model',
    input: { hint: 'its name, or provider/name' },
  },
];

/** All slash commands of a session. A user's command does not replace a built-in one. */
function listCommands(commands: readonly SlashCommand[]): acp.AvailableCommand[] {
  const written = commands.filter(({ name }) => !OWN.some((own) => own.name === name));
  return [
    ...OWN,
    ...written.map(({ name, description, argumentHint }) => ({
      name,
      description,
      input: argumentHint === null ? null : { hint: argumentHint },
    })),
  ];
}

/**
 * Runs a built-in command and returns its reply; null when the text is no built-in command. The
 * signal aborts when the prompt is cancelled.
 */
async function runOwnCommand(
  session: Session,
  text: string,
  signal: AbortSignal,
): Promise<string | null> {
  const [, name, args = ''] = /^\/(\w+)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  if (name === 'compact') return compact(session, args.trim());
  if (name === 'model') return showOrSwitchModel(session, args.trim(), signal);
  return null;
}

async function compact(session: Session, instructions: string): Promise<string> {
  const problem = await session.compact(instructions === '' ? null : instructions);
  // Success is reported by the `compaction-end` event.
  return problem === null ? '' : `Conversation not compacted: ${problem}`;
}

async function showOrSwitchModel(
  session: Session,
  name: string,
  signal: AbortSignal,
): Promise<string> {
  if (name !== '') {
    const refusal = await session.switchModel({ model: name, source: 'command', signal });
    if (refusal !== null) return refusal;
  }
  const { provider, id } = session.state().model;
  return `The model is ${id} (${provider}).`;
}

/**
 * The protocol's stop reason of a run, and why it ended where the user would not see it otherwise.
 * Throws when the run failed: editors show the message of an
 * error. A prompt that a hook refused ends its turn, because editors remove the messages of a turn
 * that ends with `refusal`, and with them the hook's reason.
 */
export function toStopReason(
  { ending, reason }: Pick<RunResult, 'ending' | 'reason'>,
  finishReason: FinishReason | null,
): { readonly stopReason: acp.StopReason; readonly message: string | null } {
  switch (ending) {
    case 'done':
      return { stopReason: FINISHES[finishReason ?? 'stop'] ?? 'end_turn', message: reason };
    case 'aborted':
      return { stopReason: 'cancelled', message: null };
    case 'max_turns':
      return { stopReason: 'max_turn_requests', message: reason };
    case 'model_failed':
    case 'failed':
      throw createInternalError(reason ?? 'the run failed');
    case 'refused':
    case 'stopped_by_hook':
    case 'loop':
      return { stopReason: 'end_turn', message: reason };
    case 'tool_deferred':
      return { stopReason: 'end_turn', message: reason ?? 'A hook left a call undecided.' };
  }
}

const FINISHES: Readonly<Partial<Record<FinishReason, acp.StopReason>>> = {
  length: 'max_tokens',
  'content-filter': 'refusal',
};
