import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { resolveBuiltFile } from '../../base/built-files.ts';
import { HooklineError } from '../../base/errors.ts';
import type { createSessions as CreateSessions } from '../agent/sessions.ts';
import type { Host, HostOptions, ImportSessions } from '../host.ts';

/**
 * What `hookline/hooks` needs of the agent is found when it is needed, by its path: a bundler that could
 * follow an import would put the whole agent into every program that embeds hooks.
 */

/** Creates a host with the installed package. */
export async function createInstalledHost(options: HostOptions = {}): Promise<Host> {
  const { createHost } = await importInstalled('index.js');
  return createHost(options);
}

export const importInstalledSessions: ImportSessions = async (host) => {
  const { createSessions } = await importInstalled('host/agent/sessions.js');
  return createSessions(host());
};

function importInstalled(
  file: 'index.js',
): Promise<{ createHost: (options: HostOptions) => Promise<Host> }>;
function importInstalled(
  file: 'host/agent/sessions.js',
): Promise<{ createSessions: typeof CreateSessions }>;
async function importInstalled(file: string): Promise<unknown> {
  const ownFile = resolveBuiltFile(file);
  const place = existsSync(ownFile) ? ownFile : path.join(findPackage(), 'dist', file);
  const installed: unknown = await import(pathToFileURL(place).href);
  return installed;
}

/** Finds the package beside a program that has `hookline/hooks` in its own bundle. */
function findPackage(): string {
  try {
    return path.dirname(createRequire(import.meta.url).resolve('hookline/package.json'));
  } catch (error) {
    throw new HooklineError('PACKAGE_MISSING', {
      message: 'expected the package hookline beside this program, found that it is not installed',
      hint: 'The bundled hooks run without it; agents and MCP servers need it: npm install hookline',
      cause: error,
    });
  }
}
