import { messageOf } from '../base/errors.ts';
import type { OnIssue } from './issue.ts';

/** How many errors of one plugin that nothing caught are told of: a timer may throw for ever. */
const MAX_TOLD = 10;

/** Tells of errors that a plugin left for nobody to catch. */
export function createUncaughtIssues(
  plugin: () => string,
  onIssue: OnIssue,
): (error: unknown) => void {
  let count = 0;
  return (error) => {
    count += 1;
    if (count > MAX_TOLD) return;
    const rest = count === MAX_TOLD ? ' (further ones are not told of)' : '';
    const message = `an error that nothing caught: ${messageOf(error)}${rest}`;
    onIssue({ plugin: plugin(), phase: 'uncaught', level: 'error', message });
  };
}
