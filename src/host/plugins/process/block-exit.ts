import { HooklineError } from '../../../base/errors.ts';
import { getCurrentOwner } from '../../../plugins/plugin-ownership.ts';

let isHeld = false;

/**
 * From now on `process.exit` fails in whatever a plugin of this process does: it would end the agent, and
 * all other plugins with it. Where anybody else calls it, the process ends as ever.
 */
export function blockExit(): void {
  if (isHeld) return;
  isHeld = true;
  const exit = process.exit.bind(process);
  process.exit = (code) => {
    if (getCurrentOwner() === null) return exit(code);
    throw refused(code);
  };
}

function refused(code: string | number | null | undefined): HooklineError {
  const call = `process.exit(${code ?? ''})`;
  return new HooklineError('PLUGIN_EXIT', {
    message: `${call} was not done: it would have ended the agent, and not only this plugin`,
    hint: 'Throw an error, or return; or give plugins processes of their own: plugins.isolation "process".',
  });
}
