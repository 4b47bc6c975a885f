import { isRecord } from '../../base/json.ts';
import { type Verdict, joinContexts, joinTexts, listJoined } from '../../hooks/decision.ts';
import type { HookEvent } from '../../hooks/facts.ts';
import type { WrittenAnswer } from '../dialect.ts';
import { type ClaudeEvent, listClaudeNames } from './events.ts';
import { READ_FIELDS, type SpecificField } from './output/schema.ts';
import { canBlock } from './output/rulings.ts';

type Fields = Record<string, unknown>;

/** A part of the answer: fields of the JSON, fields of `hookSpecificOutput`, and losses. */
interface AnswerPart {
  readonly top?: Fields;
  readonly specific?: Fields;
  readonly exitCode?: 2;
  readonly losses?: readonly string[];
}

/**
 * A verdict as a command hook of Claude Code prints it: JSON and exit code 0, or exit code 2 with the
 * reason on stderr where the event knows nothing else. A refusal that an event cannot express becomes
 * the strictest one that it has.
 */
export function writeAnswer(event: HookEvent, verdict: Verdict): WrittenAnswer {
  const [name] = listClaudeNames(event);
  if (name === undefined) return writeUnknownEvent(event, verdict);
  const parts = [
    writeRuling(name, verdict),
    writeStop(name, verdict),
    writeContext(name, verdict),
    writeMessages(verdict),
    ...writeChanges(name, verdict),
  ];
  const top = joinFields(parts.map((part) => part.top));
  const specific = joinFields(parts.map((part) => part.specific));
  const hasSpecific = Object.keys(specific).length > 0;
  const answer = {
    ...top,
    ...(hasSpecific ? { hookSpecificOutput: { hookEventName: name, ...specific } } : {}),
  };
  const exitCode = parts.some((part) => part.exitCode === 2) ? 2 : 0;
  const json = Object.keys(answer).length === 0 ? '' : `${JSON.stringify(answer)}\n`;
  const { stdout, losses } = addPlainText(name, verdict, json, exitCode);
  return {
    stdout,
    stderr: exitCode === 2 ? `${findReason(verdict)}\n` : '',
    exitCode,
    losses: [...parts.flatMap((part) => part.losses ?? []), ...losses],
  };
}

function joinFields(all: readonly (Fields | undefined)[]): Fields {
  return Object.fromEntries(all.flatMap((fields) => Object.entries(fields ?? {})));
}

/** An unknown event is refused with exit code 2, which refuses at every event that can be refused. */
function writeUnknownEvent({ name }: HookEvent, verdict: Verdict): WrittenAnswer {
  const exitCode = isRefusedOrStopped(verdict) ? 2 : 0;
  return {
    stdout: '',
    stderr: exitCode === 2 ? `${findReason(verdict)}\n` : '',
    exitCode,
    losses: [`Claude Code has no event for ${name}`],
  };
}

function findReason({ reasons, stop }: Verdict): string {
  return joinTexts(reasons) ?? stop?.reason ?? 'Refused by a hook';
}

type WrittenEffect = 'pass' | 'allow' | 'ask' | 'defer' | 'deny';

/** A stop that skips the pending action also refuses it. */
function findEffect({ effect }: Verdict): WrittenEffect {
  return effect === 'stop' ? 'deny' : effect;
}

/** Whether an event that knows neither `ask` nor `defer` must be refused. */
function shouldRefuse(effect: WrittenEffect): boolean {
  return effect !== 'pass' && effect !== 'allow';
}

/** Whether an event must be refused that also cannot end the run. */
function isRefusedOrStopped(verdict: Verdict): boolean {
  return shouldRefuse(findEffect(verdict)) || verdict.stop !== null;
}

function writeRuling(name: ClaudeEvent, verdict: Verdict): AnswerPart {
  const effect = findEffect(verdict);
  // These events end at once on `continue: false`, and keep what a refusal would erase.
  if (verdict.effect === 'stop' && STOPS_AT_ONCE.includes(name)) return {};
  if (name === 'WorktreeCreate') return writeWorktreeRuling(effect, verdict);
  if (effect === 'pass') return {};
  switch (name) {
    case 'PreToolUse':
      return writePermission(effect, verdict);
    case 'PreModelSwitch':
      return effect === 'defer'
        ? { ...writePermission('deny', verdict), losses: [explainCannot(name, effect)] }
        : writePermission(effect, verdict);
    case 'PermissionRequest':
      return writePermissionRequest(effect, verdict);
    default:
      return writeBlock(name, effect, verdict);
  }
}

/** Claude Code takes a hook of this event for the one that creates the worktree: without a path it fails. */
function writeWorktreeRuling(effect: WrittenEffect, { changes, stop }: Verdict): AnswerPart {
  if (!shouldRefuse(effect)) {
    const isEnough = changes['worktreePath'] !== undefined || stop !== null;
    return isEnough ? {} : { losses: ['WorktreeCreate without a path fails in Claude Code'] };
  }
  return {
    exitCode: 2,
    losses: effect === 'deny' ? [] : [explainCannot('WorktreeCreate', effect)],
  };
}

function explainCannot(name: ClaudeEvent, effect: WrittenEffect): string {
  return `${name} cannot ${effect} in Claude Code, so that it is refused`;
}

function writePermission(effect: WrittenEffect, verdict: Verdict): AnswerPart {
  const reason = effect === 'deny' ? findReason(verdict) : joinTexts(verdict.reasons);
  return {
    specific: {
      permissionDecision: effect,
      ...(reason === null ? {} : { permissionDecisionReason: reason }),
    },
  };
}

/** Claude Code is about to ask the user, so `ask` needs no output. */
function writePermissionRequest(effect: WrittenEffect, verdict: Verdict): AnswerPart {
  if (effect === 'ask') return {};
  const isRefused = effect !== 'allow';
  const permissions = listJoined(verdict.changes['permissions']);
  const decision = isRefused
    ? {
        behavior: 'deny',
        message: findReason(verdict),
        ...(verdict.stop?.pending === 'skip' ? { interrupt: true } : {}),
      }
    : {
        behavior: 'allow',
        ...(isRecord(verdict.input) ? { updatedInput: verdict.input } : {}),
        ...(permissions.length === 0 ? {} : { updatedPermissions: permissions }),
      };
  const losses = [
    ...(effect === 'defer' ? [explainCannot('PermissionRequest', effect)] : []),
    ...(isRefused || verdict.reasons.length === 0
      ? []
      : ['PermissionRequest takes no reason for what it allows']),
  ];
  return { specific: { decision }, losses };
}

function writeBlock(name: ClaudeEvent, effect: WrittenEffect, verdict: Verdict): AnswerPart {
  if (effect === 'allow') return {};
  const effectLosses = effect === 'deny' ? [] : [explainCannot(name, effect)];
  if (canBlock(name)) {
    return { ...refuseEvent(name, findReason(verdict)), losses: effectLosses };
  }
  const top = IGNORES_STOP.includes(name)
    ? {}
    : { continue: false, stopReason: findReason(verdict) };
  return { top, exitCode: 2, losses: [`${name} cannot be refused in Claude Code`] };
}

/** Events of which Claude Code documents only that exit code 2 refuses them, not `decision`. */
const REFUSED_BY_EXIT_CODE: readonly ClaudeEvent[] = [
  'TeammateIdle',
  'TaskCreated',
  'TaskCompleted',
  'Elicitation',
  'ElicitationResult',
  'WorktreeCreate',
];

function refuseEvent(name: ClaudeEvent, reason: string): AnswerPart {
  const top = { decision: 'block', reason };
  return REFUSED_BY_EXIT_CODE.includes(name) ? { top, exitCode: 2 } : { top };
}

/** Events at which `continue: false` also keeps the pending action from happening. */
const STOPS_AT_ONCE: readonly ClaudeEvent[] = [
  'UserPromptSubmit',
  'UserPromptExpansion',
  'PostToolBatch',
];

/** Events at which Claude Code does not read `continue`. */
const IGNORES_STOP: readonly ClaudeEvent[] = [
  'SessionStart',
  'TaskCreated',
  'Notification',
  'ConfigChange',
  'PreCompact',
  'PostCompact',
  'Elicitation',
  'ElicitationResult',
  'WorktreeCreate',
  'WorktreeRemove',
  'SessionEnd',
  'InstructionsLoaded',
  'MessageDisplay',
  'CwdChanged',
  'FileChanged',
  'DirectoryAdded',
  'StopFailure',
];

function writeStop(name: ClaudeEvent, verdict: Verdict): AnswerPart {
  const { stop } = verdict;
  if (stop === null) return {};
  const isHeld = shouldRefuse(findEffect(verdict));
  const top = { continue: false, stopReason: stop.reason };
  if (!IGNORES_STOP.includes(name)) {
    // These events cannot run the pending action first and stop afterwards.
    const isLate = stop.pending === 'run' && !isHeld && STOPS_AT_ONCE.includes(name);
    return { top, losses: isLate ? [`${name} stops before the pending action`] : [] };
  }
  const losses = [`${name} cannot end the run in Claude Code`];
  if (isHeld) return { losses };
  return canBlock(name) ? { ...refuseEvent(name, stop.reason), losses } : { exitCode: 2, losses };
}

function writeContext(name: ClaudeEvent, verdict: Verdict): AnswerPart {
  if (verdict.context.length === 0) return {};
  const text = joinContexts(verdict.context.map((context) => context.text));
  if (isRead(name, 'additionalContext')) return { specific: { additionalContext: text } };
  return { losses: [`${name} takes no context in Claude Code`] };
}

function writeMessages(verdict: Verdict): AnswerPart {
  const text = joinTexts(verdict.messages);
  return text === null ? {} : { top: { systemMessage: text } };
}

function isRead(name: ClaudeEvent, field: SpecificField): boolean {
  return READ_FIELDS[name].includes(field);
}

/** The fields of a verdict that become one field of `hookSpecificOutput` each. */
const CHANGE_FIELDS: Readonly<Record<string, SpecificField>> = {
  prompt: 'updatedPrompt',
  suppressPrompt: 'suppressOriginalPrompt',
  classifierContext: 'classifierContext',
  title: 'sessionTitle',
  initialMessage: 'initialUserMessage',
  watchPaths: 'watchPaths',
  reloadSkills: 'reloadSkills',
  display: 'displayContent',
  retry: 'retry',
  worktreePath: 'worktreePath',
};

function writeChanges(name: ClaudeEvent, verdict: Verdict): readonly AnswerPart[] {
  const { input, output, changes } = verdict;
  return [
    ...(input === null ? [] : [writeInput(name, verdict)]),
    ...(output === null || output === undefined ? [] : [writeOutput(name, output)]),
    ...Object.entries(changes).map(([field, value]) => writeChange(name, verdict, field, value)),
  ];
}

function writeInput(name: ClaudeEvent, verdict: Verdict): AnswerPart {
  const isWritten = name === 'PermissionRequest' && verdict.effect === 'allow';
  if (isWritten && isRecord(verdict.input)) return {};
  if (isRead(name, 'updatedInput') && isRecord(verdict.input)) {
    return { specific: { updatedInput: verdict.input } };
  }
  return { losses: [`${name} cannot change the input of a call in Claude Code`] };
}

function writeOutput(name: ClaudeEvent, output: unknown): AnswerPart {
  if (isRead(name, 'updatedToolOutput')) return { specific: { updatedToolOutput: output } };
  return { losses: [`${name} cannot change the result of a call in Claude Code`] };
}

function writeChange(
  name: ClaudeEvent,
  verdict: Verdict,
  field: string,
  value: unknown,
): AnswerPart {
  if (field === 'answer') return writeElicited(name, verdict, value);
  if (field === 'instructions' && name === 'PreCompact') return {};
  const isAllowed = name === 'PermissionRequest' && verdict.effect === 'allow';
  if (field === 'permissions' && isAllowed) return {};
  const key = CHANGE_FIELDS[field];
  if (key === undefined || !isRead(name, key)) {
    return { losses: [`${name} does not read in Claude Code: ${field}`] };
  }
  const losses = field === 'prompt' ? ['only Hookline reads updatedPrompt'] : [];
  return { specific: { [key]: toFieldValue(field, value) }, losses };
}

function toFieldValue(field: string, value: unknown): unknown {
  if (field === 'watchPaths') return listJoined(value);
  return field === 'classifierContext' ? listJoined(value).join('\n') : value;
}

function writeElicited(name: ClaudeEvent, verdict: Verdict, answer: unknown): AnswerPart {
  if (!isRead(name, 'action') || !isRecord(answer)) {
    return { losses: [`${name} takes no answer in Claude Code`] };
  }
  // An answer beside a refusal could be accepted in its place.
  if (isRefusedOrStopped(verdict)) return {};
  const { action, content } = answer;
  return { specific: content === undefined ? { action } : { action, content } };
}

/** The events of which Claude Code reads plain text, which cannot be combined with JSON. */
function addPlainText(
  name: ClaudeEvent,
  { changes, messages }: Verdict,
  json: string,
  exitCode: 0 | 2,
): { readonly stdout: string; readonly losses: readonly string[] } {
  if (name === 'WorktreeCreate') {
    // Claude Code would take JSON for the path.
    const path = exitCode === 0 ? changes['worktreePath'] : undefined;
    const losses = messages.length === 0 ? [] : ['WorktreeCreate takes no message in Claude Code'];
    return { stdout: typeof path === 'string' ? `${path}\n` : '', losses };
  }
  const text = name === 'PreCompact' ? listJoined(changes['instructions']).join('\n') : '';
  if (text === '') return { stdout: json, losses: [] };
  if (json === '') return { stdout: `${text}\n`, losses: [] };
  return { stdout: json, losses: ['PreCompact takes no instructions beside another answer'] };
}
