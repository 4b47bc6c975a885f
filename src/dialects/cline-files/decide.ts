import { truncateText } from '../../base/json.ts';
import type { Decision } from '../../hooks/decision.ts';
import { vocabularyOfKeys } from '../../hooks/faces/faces.ts';
import { callOf } from '../../hooks/facts.ts';
import type { HandlerInput } from '../../hooks/handler.ts';
import type { FileHookAnswer } from './output.ts';

export interface DecideOptions {
  /** What `cancel` on a tool call means: deny this call, or end the run as Cline 4 does. */
  readonly cancel: 'deny' | 'stop';
  readonly maxContextChars: number;
}

export interface Decided {
  readonly decision: Decision;
  readonly notes: readonly string[];
}

/** What a file hook's answer means for the event; the event's own row says what of it counts. */
export function decide(
  answer: FileHookAnswer,
  input: HandlerInput,
  options: DecideOptions,
): Decided {
  const limit = options.maxContextChars;
  const context = boundText('context', contextOf(answer), limit);
  const refusal = boundRefusal(refusalOf(answer, input, options), limit);
  return {
    decision: {
      ...refusal.decision,
      ...(context.text === undefined ? {} : { context: context.text }),
      ...rewriteOf(answer, input),
    },
    notes: [...refusal.notes, ...context.notes],
  };
}

/** An error message without `cancel` is advice for the model, unless there is other advice. */
function contextOf({ cancel, context, errorMessage }: FileHookAnswer): string | undefined {
  return cancel === true ? context : (context ?? errorMessage);
}

interface BoundText {
  readonly text: string | undefined;
  readonly notes: readonly string[];
}

function boundText(name: string, text: string | undefined, limit: number): BoundText {
  if (text === undefined || text.length <= limit) return { text, notes: [] };
  const note = `${name} cut at ${limit} characters; it had ${text.length}`;
  return { text: `${truncateText(text, limit)}\n\n[... ${note} ...]`, notes: [note] };
}

/** The model and the person read these too; the reason of a stop is the reason of its refusal. */
function boundRefusal({ stop, ...refusal }: Decision, limit: number): Decided {
  const reason = boundText('reason', refusal.reason ?? stop?.reason, limit);
  const notice = boundText('notice', refusal.notice, limit);
  const { text } = reason;
  return {
    decision: {
      ...refusal,
      ...(refusal.reason === undefined || text === undefined ? {} : { reason: text }),
      ...(stop === undefined || text === undefined ? {} : { stop: { ...stop, reason: text } }),
      ...(notice.text === undefined ? {} : { notice: notice.text }),
    },
    notes: [...reason.notes, ...notice.notes],
  };
}

function refusalOf(answer: FileHookAnswer, input: HandlerInput, options: DecideOptions): Decision {
  if (answer.cancel !== true) return answer.review === true ? reviewOf(answer) : {};
  const reason = answer.errorMessage ?? answer.context ?? 'cancelled without a message';
  if (options.cancel === 'stop' && input.tool !== null) {
    return { effect: 'deny', reason, stop: { reason, pending: 'skip' } };
  }
  return { effect: 'deny', reason };
}

function reviewOf({ errorMessage }: FileHookAnswer): Decision {
  return { effect: 'ask', reason: errorMessage ?? 'a hook asks for a review of this call' };
}

function rewriteOf({ overrideInput }: FileHookAnswer, { event }: HandlerInput): Decision {
  if (overrideInput === undefined) return {};
  const call = callOf(event);
  const face = call === null ? null : vocabularyOfKeys(call, overrideInput);
  return face === null ? { input: overrideInput } : { input: overrideInput, inputFace: face };
}
