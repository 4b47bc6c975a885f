import type { Clock } from '../base/clock.ts';
import type { HookEngine } from '../hooks/engine.ts';
import type { Moment } from '../hooks/facts.ts';
import type { PermissionUpdate, Permissions } from '../permissions/permissions.ts';
import type { Asides } from './asides.ts';
import type { Instruction, Instructions } from './instructions/instructions.ts';
import type { LoopLimits } from './loop/loop-guard.ts';
import type { Model, ModelRequest, ToolSpec } from './models/model.ts';
import type { RuntimeEvent } from './runtime-event.ts';
import type { Tool } from './tools/tool.ts';
import type { ElicitationAnswer, ElicitationRequest, Question } from './tools/tool-context.ts';

/** What all agents of one session share. */
export interface World {
  readonly sessionId: string;
  readonly engine: HookEngine;
  readonly permissions: Permissions;
  readonly clock: Clock;
  readonly limits: Limits;
  /** Null when nobody is there to be asked. */
  readonly person: Person | null;
  readonly asides: Asides;
  /** Those that the session began with. */
  readonly instructions: readonly Instruction[];
  /** Instructions that count for a file and were not given yet. */
  instructionsFor(file: string): Promise<Instructions>;
  /** Files for FileChanged; done when their changes are seen. */
  watch(paths: readonly string[]): Promise<void>;
  /** What is true of every moment of the session; an agent adds what is its own. */
  moment(): Partial<Moment>;
  emit(event: RuntimeEvent): void;
  /** Waits before a failed request is made again; must end soon after the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Changes a request after its hooks did, right before it goes out. Must not throw. */
  readonly shapeRequest?: (request: ModelRequest, signal: AbortSignal) => Promise<ModelRequest>;
  /** The model that a sub-agent or hook names; the session's own when it is not known. */
  modelFor(name: string | null): Promise<Model>;
  /** The tools that a model is told of, under the names of the chosen face. */
  specsOf(tools: readonly Tool[]): readonly ToolSpec[];
}

export interface Limits {
  /** How many model requests one prompt may take. */
  readonly maxTurns: number;
  /** How often in a row hooks may keep the agent from ending; 0 for ever. */
  readonly stopCap: number;
  /** The share of the model's context at which the conversation is compacted. */
  readonly compactAt: number;
  /** When a run that goes in circles ends; the agent has limits of its own. */
  readonly loops?: LoopLimits;
}

export type { ElicitationAnswer, ElicitationRequest };

/** Whoever sits in front of the agent. */
export interface Person {
  approve(request: ApprovalRequest, signal: AbortSignal): Promise<Approval>;
  /** Null when they dismissed the questions. */
  answer(
    questions: readonly Question[],
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, string>> | null>;
  /** What an MCP server wants to know; a person who cannot be asked so leaves it out. */
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
  /** What shall not be asked again. */
  readonly updates?: readonly PermissionUpdate[];
}
