import { isRefusal, type Verdict, joinTexts } from '../../hooks/decision.ts';
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
  const refusal = describeRefusal(verdict);
  const context = joinTexts(verdict.context);
  const hasInput = refusal === null && verdict.input !== null && event.name === 'PreToolUse';
  const answer = {
    ...(refusal === null ? {} : { cancel: true, errorMessage: refusal }),
    ...(context === null ? {} : { contextModification: context }),
    ...(hasInput ? { overrideInput: verdict.input } : {}),
  };
  const isEmpty = Object.keys(answer).length === 0;
  return {
    stdout: isEmpty ? '' : `${JSON.stringify(answer)}\n`,
    stderr: '',
    exitCode: 0,
    losses: [
      ...listRefusalLosses(name, event, verdict),
      ...listChangeLosses(name, verdict, { hasInput, isRefused: refusal !== null }),
    ],
  };
}

/** Cline cannot ask, wait for another decision, or end a run after the action: it cancels instead. */
function describeRefusal({ effect, stop, reasons }: Verdict): string | null {
  const isRefused = isRefusal(effect) || effect === 'ask' || effect === 'defer' || stop !== null;
  if (!isRefused) return null;
  return joinTexts(reasons) ?? stop?.reason ?? 'Refused by a hook';
}

function listRefusalLosses(
  name: FileHookName | undefined,
  event: HookEvent,
  { effect, stop }: Verdict,
): readonly string[] {
  const isRefused = isRefusal(effect) || effect === 'ask' || effect === 'defer' || stop !== null;
  if (effect === 'allow' && event.name === 'PreToolUse' && stop === null) {
    return ['Cline still asks for its own approval'];
  }
  if (!isRefused) return [];
  if (name === undefined) return [`Cline has no hook for ${event.name}, so nothing is refused`];
  if (!CANCELLABLE.includes(name)) return [`Cline ignores the answer of ${name}`];
  if (effect === 'ask' || effect === 'defer') {
    return [`Cline cannot ${effect}: the task is cancelled instead`];
  }
  if (stop?.pending === 'run') return ['Cline cancels at once, before the pending action'];
  return stop === null ? ['Cline ends the task, not only this action'] : [];
}

function listChangeLosses(
  name: FileHookName | undefined,
  { context, output, changes, messages }: Verdict,
  { hasInput, isRefused }: { hasInput: boolean; isRefused: boolean },
): readonly string[] {
  const reads = name !== undefined && CANCELLABLE.includes(name);
  return [
    ...(context.length > 0 && !reads ? [`${name ?? 'the event'} takes no context in Cline`] : []),
    ...(context.length > 0 && reads && isRefused ? ['Cline drops context beside a cancel'] : []),
    ...(hasInput ? ['Cline in VS Code does not take overrideInput'] : []),
    ...(output === null ? [] : ['Cline cannot replace the result of a tool']),
    ...(messages.length === 0 ? [] : ['Cline shows no messages of hooks to the user']),
    ...Object.keys(changes).map((field) => `Cline does not read: ${field}`),
  ];
}
