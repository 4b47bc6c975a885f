import { isRefusal, type Verdict, joinContexts, joinTexts } from '../../hooks/decision.ts';
import type { HookEvent } from '../../hooks/facts.ts';
import type { WrittenAnswer } from '../dialect.ts';
import type { FileHookName } from './events.ts';
import { findHookOfEvent } from './codec.ts';

/** Files whose `cancel` Cline obeys; what the others print is ignored. */
const CANCELLABLE: readonly FileHookName[] = [
  'TaskStart',
  'TaskResume',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PreCompact',
];

/**
 * Writes a verdict as a hook file of Cline prints it. Cline has one refusal, `cancel`, which ends the
 * task and stands for every other refusal. The exit code is always 0, because VS Code ignores the
 * JSON of a hook with another one.
 */
export function writeAnswer(event: HookEvent, verdict: Verdict): WrittenAnswer {
  const name = findHookOfEvent({ event });
  const isRefused = shouldCancel(verdict);
  const context = joinContexts(verdict.context.map(({ text }) => text));
  const hasInput = !isRefused && verdict.input !== null && event.name === 'PreToolUse';
  const answer = {
    ...(isRefused ? { cancel: true, errorMessage: findReason(verdict) } : {}),
    ...(verdict.context.length === 0 ? {} : { contextModification: context }),
    ...(hasInput ? { overrideInput: verdict.input } : {}),
  };
  const isEmpty = Object.keys(answer).length === 0;
  return {
    stdout: isEmpty ? '' : `${JSON.stringify(answer)}\n`,
    stderr: '',
    exitCode: 0,
    losses: [
      ...(isRefused ? listRefusalLosses(name, event, verdict) : listApprovalLosses(event, verdict)),
      ...listChangeLosses(name, verdict, { hasInput, isRefused }),
    ],
  };
}

/** Cline cannot ask, wait for another decision, or end a run after the action: it cancels instead. */
function shouldCancel({ effect, stop }: Verdict): boolean {
  return isRefusal(effect) || effect === 'ask' || effect === 'defer' || stop !== null;
}

function findReason({ reasons, stop }: Verdict): string {
  return joinTexts(reasons) ?? stop?.reason ?? 'Refused by a hook';
}

function listApprovalLosses({ name }: HookEvent, { effect }: Verdict): readonly string[] {
  const isApproved = effect === 'allow' && name === 'PreToolUse';
  return isApproved ? ['Cline still asks for its own approval'] : [];
}

function listRefusalLosses(
  name: FileHookName | undefined,
  event: HookEvent,
  { effect, stop }: Verdict,
): readonly string[] {
  if (name === undefined) return [`Cline has no hook for ${event.name}, so nothing is refused`];
  if (!CANCELLABLE.includes(name)) return [`Cline ignores the answer of ${name}`];
  if (effect === 'ask' || effect === 'defer') {
    return [`Cline cannot ${effect}: the task is cancelled instead`];
  }
  if (stop === null) return ['Cline ends the task, not only this action'];
  return isRefusal(effect) ? [] : ['Cline cancels at once, before the pending action'];
}

function listChangeLosses(
  name: FileHookName | undefined,
  { context, input, output, changes, messages }: Verdict,
  { hasInput, isRefused }: { hasInput: boolean; isRefused: boolean },
): readonly string[] {
  const reads = name !== undefined && CANCELLABLE.includes(name);
  return [
    ...(context.length > 0 && !reads ? [`${name ?? 'the event'} takes no context in Cline`] : []),
    ...(context.length > 0 && reads && isRefused ? ['Cline drops context beside a cancel'] : []),
    ...(hasInput ? ['Cline in VS Code does not take overrideInput'] : []),
    ...(input === null || hasInput || isRefused ? [] : ['Cline cannot change the input here']),
    ...(output === null ? [] : ['Cline cannot replace the result of a tool']),
    ...(messages.length === 0 ? [] : ['Cline shows no messages of hooks to the user']),
    ...Object.keys(changes).map((field) => `Cline does not read: ${field}`),
  ];
}
