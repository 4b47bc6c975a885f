/** `hookline/testing`: fire hooks, run plugins and compare what they answer, in any test runner. */
export { isHooklineError, HooklineError, type ErrorCode } from './base/errors.ts';
export { createScriptedModel as scripted, type ScriptTurn } from './agent/models/scripted.ts';
export { fireHook, type FireHookOptions } from './testing/fire-hook.ts';
export { expectDecision, type ExpectedDecision } from './testing/run-case.ts';
export { findCases, readCase, type HookCase } from './testing/case.ts';
export { runCase, type CaseResult, type RunCaseOptions } from './testing/run-case.ts';
export { recordCase, type RecordedCase, type RecordRequest } from './testing/record-case.ts';
export { formatDifference, type Difference } from './testing/expectation.ts';
export type {
  EventDescription,
  FireDescription,
  PayloadDescription,
} from './testing/resolve-event.ts';
export { createSampleEvent as sampleEvent } from './testing/sample-event.ts';
export {
  createPluginTestHost,
  type FiredMoment,
  type PluginTestHost,
  type PluginTestOptions,
  type PluginTestRun,
} from './testing/plugin-host/create-plugin-test-host.ts';
export type { PluginContributions } from './testing/plugin-host/contributions.ts';
export type { GivenPlugins } from './testing/plugin-host/create-plugin-test-host.ts';
export type { Decision, Effect, Outcome, Verdict } from './hooks/decision.ts';
