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
}

export interface AgentUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  reasoningTokenCount?: number;
  totalCost?: number;
}

/** What comes out is what goes in, to which a class that extends it then adds fields. */
class Itself {
  declare readonly messages?: unknown;

  constructor(owner: object) {
    return owner;
  }
}

/**
 * What a snapshot or the result of a run has beside what it shows, in fields that nobody else sees.
 * Not in a WeakMap: every event has a snapshot, and putting it there takes ten times as long.
 */
class Kept extends Itself {
  #said: (() => readonly AgentMessage[]) | null = null;
  #copy: (() => AgentMessage[]) | null = null;
  #copied: AgentMessage[] | null = null;
  #fields = 0;

  static beside(owner: object): Kept {
    return #said in owner ? owner : new Kept(owner);
  }

  static share(owner: object, getMessages: () => readonly AgentMessage[]): void {
    Kept.beside(owner).#said = getMessages;
  }

  static saidBy(owner: object): readonly AgentMessage[] | null {
    return #said in owner ? (owner.#said?.() ?? null) : null;
  }

  static lend(owner: object, copy: () => AgentMessage[]): void {
    Kept.beside(owner).#copy = copy;
    Object.defineProperty(owner, 'messages', Kept.#messages);
    Kept.beside(owner).#fields = Object.keys(owner).length;
  }

  static isUnread(owner: object): boolean {
    return #said in owner && owner.#copy !== null && owner.#copied === null;
  }

  static isUntouched(owner: object): boolean {
    return Kept.isUnread(owner) && Object.keys(owner).length === Kept.beside(owner).#fields;
  }

  static readonly #messages: PropertyDescriptor = {
    enumerable: true,
    configurable: true,
    get(this: object): readonly AgentMessage[] {
      const kept = Kept.beside(this);
      return (kept.#copied ??= kept.#copy?.() ?? []);
    },
    set(this: object, messages: AgentMessage[]): void {
      Kept.beside(this).#copied = messages;
    },
  };
}

/**
 * Keeps, beside a snapshot or the result of a run, the conversation for whoever only reads it: always
 * the same list, which only grows, until the conversation is another one. Nothing is copied for it.
 */
export function shareMessages<Owner extends object>(
  owner: Owner,
  messages: () => readonly AgentMessage[],
): Owner {
  Kept.share(owner, messages);
  return owner;
}

export function getSharedMessages(owner: object): readonly AgentMessage[] | null {
  return Kept.saidBy(owner);
}

/** Defines `messages` of a snapshot, which is copied on first read, because few plugins read it. */
export function defineMessages<Owner extends object>(
  owner: Owner,
  copy: () => AgentMessage[],
): asserts owner is Owner & Pick<AgentRuntimeStateSnapshot, 'messages'> {
  Kept.lend(owner, copy);
}

/** Whether `messages` has been neither read nor replaced. */
export function isUnread(snapshot: object): boolean {
  return Kept.isUnread(snapshot);
}

/** The same, and whether nobody has added anything to it. */
export function isUntouched(snapshot: object): boolean {
  return Kept.isUntouched(snapshot);
}
