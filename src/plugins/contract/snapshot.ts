import type { AgentMessage } from './message.ts';

/** A copy of an agent's state. */
export interface AgentRuntimeStateSnapshot {
  agentId: string;
  agentRole?: string;
  parentAgentId?: string | null;
  conversationId?: string;
  runId?: string;
  status: 'idle' | 'running' | 'completed' | 'aborted' | 'failed';
  iteration: number;
  messages: AgentMessage[];
  pendingToolCalls: string[];
  usage: AgentUsage;
  lastError?: string;
  lastErrorClass?: ProviderErrorClass;
}

/** What kind of failure of a model's service ended a run. */
export type ProviderErrorClass = 'context_window_exceeded' | 'auth' | 'unknown';

export interface AgentUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  reasoningTokenCount?: number;
  totalCost?: number;
}

/** Its constructor returns the given object, so that a subclass adds its private fields to that object. */
class OwnerAsThis {
  declare readonly messages?: unknown;

  constructor(owner: object) {
    return owner;
  }
}

/**
 * Private fields on a snapshot or on the result of a run. Not in a WeakMap: every event has a snapshot,
 * and adding it there takes ten times as long.
 */
class HiddenFields extends OwnerAsThis {
  #getShared: (() => readonly AgentMessage[]) | null = null;
  #copy: (() => AgentMessage[]) | null = null;
  #copied: AgentMessage[] | null = null;
  #fields = 0;

  static ensure(owner: object): HiddenFields {
    return #getShared in owner ? owner : new HiddenFields(owner);
  }

  static setShared(owner: object, getMessages: () => readonly AgentMessage[]): void {
    HiddenFields.ensure(owner).#getShared = getMessages;
  }

  static getShared(owner: object): readonly AgentMessage[] | null {
    return #getShared in owner ? (owner.#getShared?.() ?? null) : null;
  }

  static defineMessages(owner: object, copy: () => AgentMessage[]): void {
    HiddenFields.ensure(owner).#copy = copy;
    Object.defineProperty(owner, 'messages', HiddenFields.#messages);
    HiddenFields.ensure(owner).#fields = Object.keys(owner).length;
  }

  static isUnread(owner: object): boolean {
    return #getShared in owner && owner.#copy !== null && owner.#copied === null;
  }

  static isUntouched(owner: object): boolean {
    return (
      HiddenFields.isUnread(owner) &&
      Object.keys(owner).length === HiddenFields.ensure(owner).#fields
    );
  }

  static readonly #messages: PropertyDescriptor = {
    enumerable: true,
    configurable: true,
    get(this: object): readonly AgentMessage[] {
      const hidden = HiddenFields.ensure(this);
      return (hidden.#copied ??= hidden.#copy?.() ?? []);
    },
    set(this: object, messages: AgentMessage[]): void {
      HiddenFields.ensure(this).#copied = messages;
    },
  };
}

/**
 * Attaches the conversation to a snapshot or to the result of a run, for code that only reads it. It is
 * the same growing list until the conversation is replaced, and is not copied.
 */
export function shareMessages<Owner extends object>(
  owner: Owner,
  messages: () => readonly AgentMessage[],
): Owner {
  HiddenFields.setShared(owner, messages);
  return owner;
}

export function getSharedMessages(owner: object): readonly AgentMessage[] | null {
  return HiddenFields.getShared(owner);
}

/** Defines `messages` of a snapshot, which is copied on first read, because few plugins read it. */
export function defineMessages<Owner extends object>(
  owner: Owner,
  copy: () => AgentMessage[],
): asserts owner is Owner & Pick<AgentRuntimeStateSnapshot, 'messages'> {
  HiddenFields.defineMessages(owner, copy);
}

/** Whether `messages` has been neither read nor replaced. */
export function isUnread(snapshot: object): boolean {
  return HiddenFields.isUnread(snapshot);
}

/** Whether the snapshot is unread and no field was added to it. */
export function isUntouched(snapshot: object): boolean {
  return HiddenFields.isUntouched(snapshot);
}
