/** `hookline/hooks`: the engine, Cline's file hooks and Claude's hooks, for embedding in an agent of your own. */
export { isHooklineError, HooklineError, type ErrorCode } from './base/errors.ts';
export type { Host, HostOptions } from './host/create-host.ts';
export { createInstalledHost as createHost } from './host/embed/installed-host.ts';
export {
  createClaudeHooksSource as claudeHooks,
  createClineFilesSource as clineFiles,
  createHookEngine,
  type EmbeddedEngineOptions,
} from './host/embed/engine.ts';
export type { HookSearch } from './host/open-hooks.ts';
export { HookFactory, type HookFactoryOptions } from './host/embed/hook-factory.ts';
export { StdioHookRunner, type StdioHookOptions } from './host/embed/hook-runner.ts';
export {
  CombinedHookRunner,
  HookRunner,
  NoOpHookRunner,
  type HookOutput,
  type RunHookOptions,
} from './host/embed/hook-runner.ts';
export {
  applyDecision,
  EventTransformer,
  HookConfiguration,
  HookExecutor,
  HookManager,
  SupportedAgent,
  type AppliedDecision,
  type HookExecution,
  type HookManagerOptions,
} from './host/embed/hook-manager.ts';
export type {
  ClaudeHookInput,
  ClaudeHookInputs,
  ClaudeHookOutput,
  ClaudeHookOutputs,
  ClineHookInputs,
  ClineHookOutput,
  ClineHookOutputs,
  HookGroup,
  HooksJson,
} from './host/embed/hook-types.ts';
export type { FileHookData, FileHookName } from './dialects/index.ts';
export type { HookEngine } from './hooks/engine.ts';
export type { Decision, Effect, Failure, Outcome, Stop, Verdict } from './hooks/decision.ts';
export { isRefusal } from './hooks/decision.ts';
export { EVENT_NAMES, EVENTS } from './hooks/events.ts';
export type { EventName, FiredEvent, HookEvent, Moment } from './hooks/facts.ts';
export type { Answer, Handler, HandlerInput, HandlerSource } from './hooks/handler.ts';
export { compileMatcher, type Matcher } from './hooks/matcher.ts';
export { mergeOutcomes } from './hooks/merge.ts';
export type { DispatchRecord, HandlerProgress, LateOutcome } from './hooks/dispatch-record.ts';
export { createStopGuard, type StopGuard, type StopRuling } from './hooks/stop-guard.ts';
