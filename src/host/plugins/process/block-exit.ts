import { HooklineError } from '../../../base/errors.ts';
import { getCurrentOwner } from '../../../plugins/plugin-ownership.ts';

let isBlocked = false;

/**
 * From now on `process.exit` throws PLUGIN_EXIT in code that a plugin of this process started: it would end
 * the agent, and all other plugins with it. Called by anybody else, it ends the process.
 */
export function blockExit(): void {
  if (isBlocked) return;
  isBlocked = true;
  const exit = process.exit.bind(process);
  // Without arguments it must be called without arguments: Node.js takes an explicit undefined for exit code 0.
  process.exit = (...codes) => {
    if (getCurrentOwner() === null) return exit(...codes);
    throw createExitError(codes[0]);
  };
}

function createExitError(code: string | number | null | undefined): HooklineError {
  const call = `process.exit(${code ?? ''})`;
  return new HooklineError('PLUGIN_EXIT', {
    message: `${call} was not done: it would have ended the agent, and not only this plugin`,
    hint: 'Throw an error, or return; or give plugins processes of their own: plugins.isolation "process".',
  });
}
