/** `hookline`: everything that a host needs to run hooks. */
export { type ErrorCode, HooklineError, isHooklineError } from './base/errors.ts';
export { VERSION } from './base/version.ts';
export { createHost, type Host, type HostOptions } from './host/create-host.ts';
export type { AgentOptions, ModelWish } from './host/agent/agent-options.ts';
export type { Started, StartRequest } from './host/agent/sessions.ts';
export type { HookSearch } from './host/hook-search.ts';
export type { Model, ModelChunk, ModelFailure, ModelRequest, Usage } from './agent/models/model.ts';
export { scripted, type ScriptTurn } from './agent/models/scripted.ts';
export type { RunResult, RuntimeEvent } from './agent/runtime-event.ts';
export type { ModelSwitch, Session, SessionState } from './agent/session/session.ts';
export type {
  Approval,
  ApprovalRequest,
  ElicitationAnswer,
  ElicitationRequest,
  Person,
} from './agent/world.ts';
export type { Message } from './sessions/messages.ts';
export type { HookEngine } from './hooks/engine.ts';
export type { Decision, Effect, Failure, Outcome, Stop, Verdict } from './hooks/decision.ts';
export { isRefusal } from './hooks/decision.ts';
export { EVENT_NAMES, EVENTS } from './hooks/events.ts';
export type { EventName, FiredEvent, HookEvent, Moment } from './hooks/facts.ts';
export type { Answer, Handler, HandlerInput, HandlerSource } from './hooks/handler.ts';
export type { DispatchRecord, HandlerProgress, LateOutcome } from './hooks/observers.ts';
