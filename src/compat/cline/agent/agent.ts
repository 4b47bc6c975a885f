import { randomUUID } from 'node:crypto';
import { dropUndefined } from '../../../base/defined.ts';
import { HooklineError, getErrorMessage } from '../../../base/errors.ts';
import type { AgentImagePart, AgentMessage } from '../../../plugins/contract/message.ts';
import type { AgentRunResult, AgentRuntimeEvent } from '../../../plugins/contract/runtime-hooks.ts';
import type { AgentRuntimeStateSnapshot } from '../../../plugins/contract/snapshot.ts';
import { createBusyError, createUnsupportedError } from '../errors.ts';
import { type AgentRuntimeConfig, checkAgentConfig } from './agent-config.ts';
import { createImageBlock, formatFileText } from '../../../plugins/messages/agent-messages.ts';
import type { ImageBlock } from '../../../sessions/messages.ts';
import type { AgentPrompt, OpenedAgent } from './open-agent.ts';

export type AgentRunInput = string | AgentMessage | readonly AgentMessage[];

export type AgentEventListener = (event: AgentRuntimeEvent) => void;

/**
 * A standalone agent loop, as in `@cline/agents`: its model, tools and hooks come from the program, and
 * nothing from this machine. It keeps its conversation from one run to the next, and stores nothing.
 */
export class AgentRuntime {
  readonly #config: AgentRuntimeConfig;
  readonly #agentId: string;
  readonly #listeners = new Set<AgentEventListener>();
  /** The conversation before the session was opened. */
  #earlierMessages: readonly AgentMessage[];
  #opened: Promise<OpenedAgent> | null = null;
  #open: OpenedAgent | null = null;
  #state: AgentRuntimeStateSnapshot | null = null;
  #aborted: string | null = null;
  #isRunning = false;

  /** Throws USAGE_INVALID for a configuration that names no model. */
  constructor(config: AgentRuntimeConfig) {
    checkAgentConfig(config);
    this.#config = config;
    this.#agentId = config.agentId ?? `agent_${randomUUID()}`;
    this.#earlierMessages = config.initialMessages ?? [];
  }

  /** Resolves with the result, also of a failed run; rejects only for wrong use. */
  async run(input: AgentRunInput): Promise<AgentRunResult> {
    if (this.#isRunning) throw createBusyError(this.#agentId);
    this.#isRunning = true;
    this.#aborted = null;
    try {
      const { prompt, before } = readInput(input);
      if (before.length > 0) await this.#begin([...this.#getMessages(), ...before]);
      const opened = await this.#ensureOpen();
      const running = opened.run(prompt);
      if (this.#aborted !== null) opened.abort(this.#aborted);
      return await running;
    } finally {
      this.#isRunning = false;
    }
  }

  /** Continues the conversation, with a prompt or without one. */
  async continue(input: AgentRunInput = 'Continue.'): Promise<AgentRunResult> {
    return this.run(input);
  }

  /** Ends the current run; its promise resolves with the aborted result. */
  abort(reason: unknown = 'the run was aborted'): void {
    if (!this.#isRunning) return;
    this.#aborted = getErrorMessage(reason);
    this.#open?.abort(this.#aborted);
  }

  subscribe(listener: AgentEventListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Replaces the conversation; subscriptions stay. */
  restore(messages: readonly AgentMessage[]): void {
    this.abort('another conversation was restored');
    void this.#begin(messages).catch(() => undefined);
  }

  /** The state at the last event, with the whole conversation. */
  snapshot(): AgentRuntimeStateSnapshot {
    const { agentRole, parentAgentId = null, conversationId = this.#agentId } = this.#config;
    const idle = {
      ...IDLE,
      usage: { ...NO_USAGE },
      agentId: this.#agentId,
      ...dropUndefined({ agentRole }),
      parentAgentId,
      conversationId,
    };
    return { ...idle, ...this.#state, messages: [...this.#getMessages()] };
  }

  /** Ends the session, and with it the plugins. */
  async dispose(): Promise<void> {
    await this.#begin(this.#getMessages());
  }

  #getMessages(): readonly AgentMessage[] {
    return this.#state?.messages ?? this.#earlierMessages;
  }

  /** Closes the session; the next run opens another one with these messages. */
  async #begin(messages: readonly AgentMessage[]): Promise<void> {
    const last = this.#opened;
    this.#earlierMessages = [...messages];
    this.#opened = null;
    this.#open = null;
    this.#state = null;
    await (await last?.catch(() => null))?.close();
  }

  async #ensureOpen(): Promise<OpenedAgent> {
    this.#opened ??= this.#openAgent();
    const opened = this.#opened;
    try {
      this.#open = await opened;
      return this.#open;
    } catch (error) {
      // The next run may succeed, for example with a key that was set meanwhile.
      if (this.#opened === opened) this.#opened = null;
      throw error;
    }
  }

  async #openAgent(): Promise<OpenedAgent> {
    // Most of the agent is loaded with the first run.
    const { openAgent } = await import('./open-agent.ts');
    return openAgent(this.#config, this.#agentId, this.#earlierMessages, (event) => {
      this.#state = event.snapshot;
      for (const listener of this.#listeners) notify(listener, event);
    });
  }
}

export function createAgentRuntime(config: AgentRuntimeConfig): AgentRuntime {
  return new AgentRuntime(config);
}

export function createAgent(config: AgentRuntimeConfig): AgentRuntime {
  return new AgentRuntime(config);
}

const NO_USAGE = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const IDLE: Pick<AgentRuntimeStateSnapshot, 'status' | 'iteration' | 'pendingToolCalls'> = {
  status: 'idle',
  iteration: 0,
  pendingToolCalls: [],
};

/** An error of a listener must not end the run. */
function notify(listener: AgentEventListener, event: AgentRuntimeEvent): void {
  const call = async (): Promise<void> => listener(event);
  call().catch(() => undefined);
}

/** `before` are the messages before the prompt. */
function readInput(input: AgentRunInput): {
  prompt: AgentPrompt;
  before: readonly AgentMessage[];
} {
  if (typeof input === 'string') {
    return { prompt: { text: input, images: [], message: null }, before: [] };
  }
  const messages = isList(input) ? input : [input];
  const last = messages.at(-1);
  if (last === undefined || last.role !== 'user') {
    throw new HooklineError('USAGE_INVALID', {
      message: 'expected a text, or messages of which the last one is the user’s',
      hint: 'Restore the earlier messages with restore(messages), then run the next prompt.',
    });
  }
  return { prompt: readPrompt(last), before: messages.slice(0, -1) };
}

function isList(input: AgentMessage | readonly AgentMessage[]): input is readonly AgentMessage[] {
  return Array.isArray(input);
}

function readPrompt(message: AgentMessage): AgentPrompt {
  const texts: string[] = [];
  const images: ImageBlock[] = [];
  for (const part of message.content) {
    if (part.type === 'text') texts.push(part.text);
    else if (part.type === 'file') texts.push(formatFileText(part.path, part.content));
    else if (part.type === 'image') images.push(readImage(part));
    else throw createPartError(part.type);
  }
  const text = texts.join('\n\n');
  return { text: text.trim() === '' ? '(image)' : text, images, message: structuredClone(message) };
}

/** Programs may pass bytes, too. */
function readImage({ image, mediaType }: AgentImagePart): ImageBlock {
  const data: unknown = image;
  if (data instanceof Uint8Array || data instanceof ArrayBuffer) {
    return createImageBlock(Buffer.from(new Uint8Array(data)).toString('base64'), mediaType);
  }
  const [, type, encoded] = /^data:([^;,]+);base64,(.*)$/s.exec(image) ?? [];
  if (encoded !== undefined) return createImageBlock(encoded, type);
  if (typeof data !== 'string' || data.includes(':')) throw createPartError('address of an image');
  return createImageBlock(data, mediaType);
}

function createPartError(type: string): HooklineError {
  return createUnsupportedError(
    `${type} in a prompt of a standalone agent`,
    'Give it as text, or an image as base64.',
  );
}
