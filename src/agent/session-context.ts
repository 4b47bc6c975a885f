import type { Clock } from '../base/clock.ts';
import type { HookEngine } from '../hooks/engine.ts';
import type { AgentFacts, Moment } from '../hooks/facts.ts';
import type { PermissionUpdate, Permissions } from '../permissions/permissions.ts';
import type { ToolUseBlock } from '../sessions/messages.ts';
import type { Conversation } from './conversation/conversation.ts';
import type { Instruction, LoadedInstructions } from './instructions/instructions.ts';
import { waitOrAbort } from '../base/abort.ts';
import type { LoopLimits } from './loop/loop-guard.ts';
import {
  NO_USAGE,
  type FinishReason,
  type Model,
  type ModelFailure,
  type ModelRequest,
  type ModelToolActivity,
  type ToolSpec,
  type Usage,
} from './models/model.ts';
import type { RuntimeEvent } from './runtime-event.ts';
import type { Tool } from './tools/tool.ts';
import type { ElicitationAnswer, ElicitationRequest, Question } from './tools/tool-context.ts';
import { setTimeout as sleep } from 'node:timers/promises';

/** What others read of an agent while it works; only the agent's own loop writes it. */
export interface AgentState {
  readonly facts: AgentFacts;
  readonly conversation: Pick<Conversation, 'messages'>;
  /** The run under way, or else the last one. */
  runId: string | null;
  status: 'idle' | 'running' | 'completed' | 'aborted' | 'failed';
  /** Why the last run ended otherwise than by being done. */
  lastError: string | null;
  /** The failure of the model that ended the last run; null when something else did. */
  lastFailure: ModelFailure | null;
  /** The turn under way, or else the last one of the run. */
  turn: AgentTurn;
  usage: Usage;
  /** Cost of the run in US dollars; null once a model had no known price. */
  costUsd: number | null;
  /** What the last answer of the model took, with its cost where that is known. */
  lastUsage: Usage;
  /** Calls that have started and not ended, by their ids, with the input that hooks left them. */
  readonly pendingCalls: Map<string, PendingCall>;
}

/** A sub-agent is created to run at once. */
export function createAgentState(
  facts: AgentFacts,
  conversation: AgentState['conversation'],
): AgentState {
  return {
    facts,
    conversation,
    runId: null,
    status: facts.parentId === null ? 'idle' : 'running',
    lastError: null,
    lastFailure: null,
    turn: createTurn(0),
    usage: NO_USAGE,
    costUsd: 0,
    lastUsage: NO_USAGE,
    pendingCalls: new Map(),
  };
}

/** One model request with its answer and calls; only the agent's own loop writes it. */
export interface AgentTurn {
  /** Number of the request within the run, from 1; 0 before the first. */
  readonly iteration: number;
  /** The answer's text so far. */
  text: string;
  /** The answer's reasoning so far. */
  thinking: string;
  /** Calls that the model's service made itself, each with what is known of it so far. */
  modelTools: readonly ModelToolActivity[];
  /** How many of its calls have started. */
  toolCalls: number;
  /** Why the answer ended; null before. */
  finishReason: FinishReason | null;
  /** The effort in the request; null when it is left to the service. */
  effort: string | null;
}

export function createTurn(iteration: number): AgentTurn {
  return {
    iteration,
    text: '',
    thinking: '',
    modelTools: [],
    toolCalls: 0,
    finishReason: null,
    effort: null,
  };
}

export type PendingCall = Pick<ToolUseBlock, 'name' | 'input'>;

/** What all agents of one session share. */
export interface SessionContext {
  readonly sessionId: string;
  /** The session's own agent, and sub-agents while they run. */
  readonly agents: Map<string, AgentState>;
  readonly engine: HookEngine;
  readonly permissions: Permissions;
  readonly clock: Clock;
  readonly limits: Limits;
  /** The reasoning effort of all requests; null for that of the service. */
  readonly effort: string | null;
  /** Whether all calls of a turn are checked before the first one runs; otherwise each just before it runs. */
  readonly checksWholeTurn: boolean;
  /** Null when there is no user to ask. */
  readonly person: Person | null;
  readonly backgroundEvents: BackgroundEvents;
  /** The instructions that the session began with. */
  readonly instructions: readonly Instruction[];
  /** The instructions for files that agents read. */
  readonly fileInstructions: Pick<LoadedInstructions, 'loadForFile' | 'forgetFiles'>;
  /** Watches files for FileChanged; settles when the watcher is ready. */
  watch(paths: readonly string[]): Promise<void>;
  /** The part of an event's moment that all agents of the session share. */
  moment(): Partial<Moment>;
  emit(event: RuntimeEvent): void;
  /** Waits before a failed request is retried; must settle soon after the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Changes a request after its hooks did, right before it is sent. Must not throw. */
  readonly shapeRequest?: (request: ModelRequest, signal: AbortSignal) => Promise<ModelRequest>;
  /** Opens the model that a sub-agent or hook names; the session's own when it is not known. */
  openModel(name: string | null): Promise<Model>;
  /** The tools as the model sees them, in the vocabulary of the session. */
  listSpecs(tools: readonly Tool[]): readonly ToolSpec[];
}

export interface Limits {
  /** How many model requests one prompt may take. */
  readonly maxTurns: number;
  /** How often in a row hooks may keep the agent from ending; 0 is unlimited. */
  readonly stopCap: number;
  /** The share of the model's context at which the conversation is compacted. */
  readonly compactAt: number;
  /** When a run that repeats itself ends; the agent has defaults. */
  readonly loops?: LoopLimits;
  /** How often a request is repeated whose answer has nothing in it; such an answer is accepted by default. */
  readonly emptyAnswerRetries?: number;
}

export type { ElicitationAnswer, ElicitationRequest };

/** The user, as a session asks them: a terminal, an editor, a program. */
export interface Person {
  /** `call` is the call as the model made it, in the turn `iteration` of its agent. */
  approve(
    request: ApprovalRequest,
    signal: AbortSignal,
    call: ToolUseBlock,
    iteration: number,
  ): Promise<Approval>;
  /** Null when the user dismissed the questions. `callId`: the call that asks them, if it is one. */
  answer(
    questions: readonly Question[],
    signal: AbortSignal,
    callId: string | null,
  ): Promise<Readonly<Record<string, string>> | null>;
  /** Asks what an MCP server wants to know; absent when the user cannot be asked so. */
  elicit?(request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationAnswer>;
}

export interface ApprovalRequest {
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
  /** Why it is asked. */
  readonly reason: string;
  readonly suggestions: readonly PermissionUpdate[];
  readonly agentId: string;
}

export interface Approval {
  readonly isAllowed: boolean;
  /** For the model, when it is not. */
  readonly reason?: string;
  /** Permissions for the rest of the session. */
  readonly updates?: readonly PermissionUpdate[];
}

/** Long enough for hooks of a short run to finish. */
const GRACE_MS = 1500;

/** Long enough for hooks that write something down; one that hangs must not keep the agent. */
const MAX_ORDERED_WAIT_MS = 10_000;

/** Events that are fired without waiting for their hooks. They are ended with the session at the latest. */
export class BackgroundEvents {
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  /** Settles when everything that was added in order is done; null when it is. */
  #ordered: Promise<void> | null = null;

  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  readonly add = (work: Promise<unknown>): void => {
    const settled = work.finally(() => this.#running.delete(settled));
    this.#running.add(settled);
  };

  /** Runs work after all that was added so before. It must not reject. */
  addInOrder(work: () => Promise<void>): void {
    const running = (this.#ordered === null ? work() : this.#ordered.then(work)).finally(() => {
      if (this.#ordered === running) this.#ordered = null;
    });
    this.#ordered = running;
    this.add(running);
  }

  /** Waits for what was added in order, but not for ever. Rejects when the signal aborts. */
  async waitForOrdered(signal: AbortSignal): Promise<void> {
    if (this.#ordered === null) return;
    const limit = sleep(MAX_ORDERED_WAIT_MS, undefined, { ref: false });
    await waitOrAbort(Promise.race([this.#ordered, limit]), signal);
  }

  /** Waits a moment for the hooks that still run, and then aborts them. */
  async close(): Promise<void> {
    const done = Promise.allSettled(this.#running);
    await Promise.race([done, sleep(GRACE_MS, undefined, { ref: false })]);
    this.#closing.abort();
    await done;
  }
}
