import { HooklineError } from '../../../base/errors.ts';

/** What was written does not say where a plugin is. */
export function unusable(message: string, hint: string): HooklineError {
  return new HooklineError('USAGE_INVALID', { message: `plugin install: ${message}`, hint });
}
