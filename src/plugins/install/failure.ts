import { HooklineError } from '../../base/errors.ts';

/** A plugin could not be installed, updated or taken away, and everything is as it was. */
export function createInstallError(message: string, hint?: string): HooklineError {
  return new HooklineError('PLUGIN_INSTALL_FAILED', {
    message,
    ...(hint === undefined ? {} : { hint }),
  });
}
