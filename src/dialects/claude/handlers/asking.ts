import { getErrorMessage } from '../../../base/errors.ts';
import { truncateText } from '../../../base/json.ts';
import type { Failure, FailureKind } from '../../../hooks/decision.ts';
import { runWithinLimit } from '../../../hooks/time-limit.ts';
import type { Answer, Handler, HandlerInput, ProgramReport } from '../../../hooks/handler.ts';

/** Asks somebody who may hang, throw or not listen to the signal, and always ends with an answer. */
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

/** As much of a text as a message can hold. */
export function formatExcerpt(text: string): string {
  const trimmed = text.trim();
  return trimmed.length <= EXCERPT_LENGTH ? trimmed : `${truncateText(trimmed, EXCERPT_LENGTH)}…`;
}

const REPORT_LENGTH = 64 * 1024;

/** What a trace shows of the text that somebody other than a program answered with. */
export function createProgramReport(text: string): ProgramReport {
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
  // Listens before the one who is asked does: why it was ended counts, not what it then says.
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
