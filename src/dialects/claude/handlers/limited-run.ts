import { getErrorMessage } from '../../../base/errors.ts';
import { truncateText } from '../../../base/json.ts';
import type { Failure, FailureKind } from '../../../hooks/decision.ts';
import { runWithinLimit } from '../../../hooks/run-handler.ts';
import type { Answer, Handler, HandlerInput } from '../../../hooks/handler.ts';

/** Creates a run around an `ask` that may hang, throw or ignore the signal; the run always resolves. */
export function createLimitedRun(
  { timeoutMs }: { readonly timeoutMs: number },
  ask: (input: HandlerInput, signal: AbortSignal) => Promise<Answer>,
): Handler['run'] {
  return async (input, signal) => {
    if (signal.aborted) return KILLED;
    const askOnce = (inner: AbortSignal) => askUntilAborted((ending) => ask(input, ending), inner);
    return (await runWithinLimit(askOnce, signal, timeoutMs)) ?? {};
  };
}

export function createFailedAnswer(
  kind: FailureKind,
  message: string,
): { readonly failure: Failure } {
  return { failure: { kind, message } };
}

const EXCERPT_LENGTH = 500;

/** Truncates a text for use in a message. */
export function formatExcerpt(text: string): string {
  const trimmed = text.trim();
  return trimmed.length <= EXCERPT_LENGTH ? trimmed : `${truncateText(trimmed, EXCERPT_LENGTH)}…`;
}

const REPORT_LENGTH = 64 * 1024;

/** Creates the report of an answer that did not come from a program, for traces. */
export function createProgramReport(text: string): NonNullable<Answer['program']> {
  const isShort = text.length <= REPORT_LENGTH;
  const stdout = isShort
    ? text
    : `${truncateText(text, REPORT_LENGTH)}\n[... cut: ${text.length} characters in all ...]`;
  return { exitCode: null, stdout, stderr: '' };
}

const KILLED = createFailedAnswer('killed', 'was ended because the dispatch was aborted');

async function askUntilAborted(
  ask: (signal: AbortSignal) => Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  // Registered before `ask` starts, so that the reason of the abort wins over what `ask` then returns.
  let end: (() => void) | undefined;
  const ended = new Promise<Answer>((resolve) => {
    end = () => resolve(KILLED);
    signal.addEventListener('abort', end, { once: true });
  });
  try {
    return await Promise.race([ended, ask(signal)]);
  } catch (error) {
    return createFailedAnswer('threw', getErrorMessage(error));
  } finally {
    if (end !== undefined) signal.removeEventListener('abort', end);
  }
}
