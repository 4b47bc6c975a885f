import type { Decision, Effect, Stop } from '../../../hooks/decision.ts';
import { CLAUDE_EVENTS, type ClaudeEvent } from '../events.ts';
import type { HookAnswer, PermissionDecision } from './schema.ts';

/** An effect with the hook's own reason. */
export interface Ruling {
  readonly effect: Effect;
  readonly reason: string | undefined;
}

const NO_RULING: Ruling = { effect: 'pass', reason: undefined };

/** Whether exit code 2 and `decision: "block"` refuse this event. */
export function canBlock(event: ClaudeEvent): boolean {
  return CLAUDE_EVENTS[event].exit2 === 'blocks';
}

/** Reads the effect from the JSON; of two fields that give one, the stricter counts. */
export function readRuling(event: ClaudeEvent, answer: HookAnswer): Ruling {
  const { specific, reason } = answer;
  if (event === 'PermissionRequest') return readPermissionRuling(specific.decision);
  const effect = specific.permissionDecision ?? 'pass';
  const specificRuling: Ruling = {
    effect,
    reason: omitEmpty(specific.permissionDecisionReason) ?? omitEmpty(reason),
  };
  const legacy = readLegacyRuling(event, answer);
  if (specificRuling.effect === 'deny' || legacy.effect === 'pass') return specificRuling;
  return legacy.effect === 'deny' || specificRuling.effect === 'pass' ? legacy : specificRuling;
}

function readPermissionRuling(decision: PermissionDecision | undefined): Ruling {
  if (decision === undefined) return NO_RULING;
  return { effect: decision.behavior, reason: omitEmpty(decision.message) };
}

function readLegacyRuling(event: ClaudeEvent, answer: HookAnswer): Ruling {
  const { decision } = answer;
  const reason = omitEmpty(answer.reason);
  if (decision === 'block' && canBlock(event)) return { effect: 'deny', reason };
  if (decision === 'approve' && event === 'PreToolUse') return { effect: 'allow', reason };
  return NO_RULING;
}

/** An empty reason counts as absent. */
function omitEmpty(reason: string | undefined): string | undefined {
  return reason === '' ? undefined : reason;
}

/** Converts a ruling to a decision; a refusal always has a reason. */
export function toDecision(event: ClaudeEvent, { effect, reason }: Ruling): Decision {
  if (effect === 'pass') return {};
  if (effect === 'deny') return { effect, reason: reason ?? getDefaultReason(event) };
  return reason === undefined ? { effect } : { effect, reason };
}

function getDefaultReason(event: ClaudeEvent): string {
  return event === 'PermissionRequest' ? 'Permission denied by hook' : 'Blocked by hook';
}

/** Warns about a `decision` that has no effect at this event. */
export function noteIdleDecision(event: ClaudeEvent, { decision }: HookAnswer): string[] {
  if (event === 'PermissionRequest' && decision !== undefined) {
    return [
      `"decision": "${decision}" has no effect on PermissionRequest; use hookSpecificOutput.decision.behavior`,
    ];
  }
  if (decision !== 'block' || canBlock(event)) return [];
  return [`"decision": "block" has no effect on ${event}`];
}

/** Events at which a stop also skips the pending action; elsewhere the action runs first. */
const NOTHING_MORE: readonly ClaudeEvent[] = [
  'UserPromptSubmit',
  'UserPromptExpansion',
  'PostToolBatch',
];

/** `continue: false`: ends the turn, but does not by itself refuse a tool call. */
export function readStop(event: ClaudeEvent, { goesOn, stopReason }: HookAnswer): Stop | null {
  if (goesOn) return null;
  const pending = NOTHING_MORE.includes(event) ? 'skip' : 'run';
  return { reason: omitEmpty(stopReason) ?? 'Stopped by hook', pending };
}

/** `interrupt`: ends the turn as if the user had refused. */
export function readInterrupt({ specific }: HookAnswer): Stop | null {
  const { decision } = specific;
  if (decision?.behavior !== 'deny' || decision.interrupt !== true) return null;
  return {
    reason: omitEmpty(decision.message) ?? getDefaultReason('PermissionRequest'),
    pending: 'skip',
  };
}
