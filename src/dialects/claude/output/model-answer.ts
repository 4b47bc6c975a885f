import { truncateText, isRecord, parseJson } from '../../../base/json.ts';
import type { Decision } from '../../../hooks/decision.ts';
import type { Answer } from '../../../hooks/handler.ts';
import { findRepeatedKey } from '../../find-refusal.ts';
import type { ClaudeEvent } from '../events.ts';
import { getFailurePolicy } from './failures.ts';

export interface ModelAnswerRequest {
  readonly event: ClaudeEvent;
  /** The model's answer. */
  readonly text: string;
  readonly continueOnBlock: boolean;
  readonly kind: 'prompt' | 'agent';
  /** The hook's prompt as written. */
  readonly label: string;
}

interface Judgement {
  readonly ok: boolean;
  readonly reason: string;
  readonly impossible: boolean;
  /** Whether another field, or the same one once more, says the opposite. */
  readonly isContradicted: boolean;
}

/** Converts a model's `{ ok, reason }` to an answer; `ok: true` decides nothing. */
export function decideModelAnswer(request: ModelAnswerRequest): Answer {
  const judgement = findJudgement(request.text);
  if (judgement === null) {
    return { failure: { kind: 'output', message: describeUnusable(request.text) } };
  }
  if (judgement.ok && judgement.isContradicted) {
    const failure = { kind: 'output', message: 'its answer agrees and objects at once' } as const;
    return { failure, onFailure: getFailurePolicy(request.event, 'block') };
  }
  return judgement.ok ? {} : createObjection(judgement, request);
}

function findJudgement(text: string): Judgement | null {
  const fenced = /```(?:json)?[ \t]*\r?\n(.*?)```/su.exec(text)?.[1];
  return readJudgement(text) ?? (fenced === undefined ? null : readJudgement(fenced));
}

function readJudgement(text: string): Judgement | null {
  const parsed = parseJson(text.trim());
  if (!parsed.ok || !isRecord(parsed.value)) return null;
  const { ok: isOk, decision, reason, impossible } = parsed.value;
  const ok = typeof isOk === 'boolean' ? isOk : APPROVALS.get(decision);
  if (ok === undefined) return null;
  return {
    ok,
    reason: typeof reason === 'string' ? reason : '',
    impossible: impossible === true,
    isContradicted: APPROVALS.get(decision) === !ok || findRepeatedKey(text, []) !== null,
  };
}

/** Models also answer with these values, which many prompts ask for because Claude Code's guide once did. */
const APPROVALS: ReadonlyMap<unknown, boolean> = new Map([
  ['approve', true],
  ['allow', true],
  ['block', false],
  ['deny', false],
]);

const SHOWN_CHARACTERS = 200;

function describeUnusable(text: string): string {
  const found =
    text.trim() === '' ? 'nothing' : JSON.stringify(truncateText(text, SHOWN_CHARACTERS));
  const parsed = parseJson(text.trim());
  const where = parsed.ok || !/^\s*\{/.test(text) ? '' : ` (${parsed.error})`;
  return `gave no usable answer: expected {"ok": true or false, "reason": "…"}, found ${found}${where}`;
}

function createObjection(judgement: Judgement, request: ModelAnswerRequest): Answer {
  const { event, kind } = request;
  const reason = formatReason(judgement, request);
  const isEndOfWork = event === 'Stop' || event === 'SubagentStop';
  if (isEndOfWork && judgement.impossible) {
    return { notes: [`it may end, because the hook’s condition cannot be met: ${reason}`] };
  }
  if (!OBJECTABLE.includes(event)) {
    return { notes: [`a ${kind} hook has no effect on ${event}: ${reason}`] };
  }
  return { decision: { effect: 'deny', reason, ...createTurnEnd(reason, request) } };
}

function formatReason({ reason }: Judgement, { kind, label }: ModelAnswerRequest): string {
  const reasonText = reason === '' ? 'no reason given' : reason;
  return kind === 'agent'
    ? `Agent hook condition was not met: ${reasonText}`
    : `[${label}]: ${reasonText}`;
}

/**
 * Events at which an objection counts. Refusing a prompt or a batch ends the turn; at the other
 * events the model reads the reason and continues.
 */
const OBJECTABLE: readonly ClaudeEvent[] = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'UserPromptSubmit',
  'UserPromptExpansion',
  'Stop',
  'SubagentStop',
  'TaskCreated',
  'TaskCompleted',
  'TeammateIdle',
];

/** By default an objection to a tool call also ends the turn; that of an `agent` hook never does. */
function createTurnEnd(reason: string, request: ModelAnswerRequest): Pick<Decision, 'stop'> {
  const { event, kind, continueOnBlock } = request;
  if (continueOnBlock || kind === 'agent') return {};
  if (event === 'PreToolUse') return { stop: { reason, pending: 'skip' } };
  return event === 'PostToolUse' ? { stop: { reason, pending: 'run' } } : {};
}
