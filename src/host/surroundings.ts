import { homedir } from 'node:os';
import path from 'node:path';
import { HooklineError, getErrorMessage } from '../base/errors.ts';
import type { Surroundings } from '../dialects/machine.ts';

/** Reads what the process was started with, once; all other code takes it as a parameter. */
export function readSurroundings(): Surroundings {
  return {
    cwd: readCurrentDirectory(),
    env: process.env,
    platform: process.platform,
    home: findHome(process.env),
    nodePath: process.execPath,
  };
}

function readCurrentDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new HooklineError('USAGE_INVALID', {
      message: `the current directory cannot be found: ${getErrorMessage(error)}`,
      hint: 'It may have been deleted: change to an existing one.',
      cause: error,
    });
  }
}

function findHome(env: NodeJS.ProcessEnv): string | null {
  const configured = env['HOME'] ?? env['USERPROFILE'];
  if (configured !== undefined && path.isAbsolute(configured)) return configured;
  try {
    const systemHome = homedir();
    return path.isAbsolute(systemHome) ? systemHome : null;
  } catch {
    return null;
  }
}

/**
 * Returns the key that seals the trust record, or null without a home directory. It is never in the state directory:
 * a copy of that must not be worth anything elsewhere.
 */
export function getTrustKeyFile({ env, home }: Surroundings): string | null {
  const configured = env['HOOKLINE_HOME'];
  if (configured !== undefined && configured !== '') return `${path.resolve(configured)}.key`;
  const stateHome = env['XDG_STATE_HOME'] ?? '';
  // A relative path is ignored, as the XDG base directory specification demands.
  if (path.isAbsolute(stateHome)) return path.join(stateHome, 'hookline', 'trust.key');
  return home === null ? null : path.join(home, '.local', 'state', 'hookline', 'trust.key');
}

/** Returns the directory of Hookline's own state, or null without a home directory. */
export function getStateDirectory({ env, home }: Surroundings): string | null {
  const configured = env['HOOKLINE_HOME'];
  if (configured !== undefined && configured !== '') return path.resolve(configured);
  return home === null ? null : path.join(home, '.hookline');
}
