import { isHooklineError, getErrorMessage } from '../../../base/errors.ts';
import { printable } from '../../words/print.ts';

/** What went wrong, and what to do about it, in sentences. */
export function problemWords(error: unknown): string {
  const message = getErrorMessage(error);
  const hint = isHooklineError(error) ? error.hint : undefined;
  if (hint === undefined) return printable(message);
  return printable(`${message}${/[.!?…]$/u.test(message) ? '' : '.'} ${hint}`);
}
