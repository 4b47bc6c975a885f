import type { RunResult } from '../../agent/runtime-event.ts';
import type { Session } from '../../agent/session/session.ts';

/** Runs a prompt until it ends, or until somebody has had enough. */
export async function promptUntil(
  session: Session,
  prompt: string | null,
  signal: AbortSignal | undefined,
): Promise<RunResult> {
  const abort = (): void => session.abort('interrupted by the person');
  const running = session.prompt(prompt);
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await running;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
