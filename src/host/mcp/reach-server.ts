import path from 'node:path';
import type { ConnectionOptions } from '../../mcp/connection.ts';
import { expandServer } from '../../mcp/expand.ts';
import type { ServerEndpoint, ServerConfig } from '../../mcp/server-config.ts';
import { type Environment, PROVIDER_KEYS } from '../../process/environment.ts';
import { hookEnvironment } from '../hook-set.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import type { FoundServer } from './find-servers.ts';

/** How a server is reached right now; a string says why it must not be. */
export function prepareConnection(
  { config, withheld }: FoundServer,
  opened: OpenedHooks,
): ReturnType<ConnectionOptions['prepare']> {
  const why = withheld();
  if (why !== null) return why;
  const env = environmentOf(config, opened);
  const { endpoint, missing } = expandServer(config, env);
  if (missing.length > 0) {
    return `its entry names variables that are not set: ${missing.join(', ')}`;
  }
  const { startDirectory: cwd, workspaceRoots: roots } = opened;
  return { endpoint: inDirectory(endpoint, cwd), cwd, env, roots };
}

function inDirectory(endpoint: ServerEndpoint, start: string): ServerEndpoint {
  if (endpoint.type !== 'stdio' || endpoint.cwd === null) return endpoint;
  return { ...endpoint, cwd: path.resolve(start, endpoint.cwd) };
}

/** What the person's shell has; the model providers' keys are kept from a workspace's servers. */
function environmentOf(
  { place, variables }: ServerConfig,
  { surroundings, config, startDirectory, moment }: OpenedHooks,
): Environment {
  const inherited = hookEnvironment({
    surroundings,
    withhold: place === 'workspace' ? PROVIDER_KEYS : [],
    pass: config.settings['env.pass'],
    sessionId: moment().sessionId,
  });
  return { ...inherited, CLAUDE_PROJECT_DIR: startDirectory, ...variables };
}

const START_TIMEOUT_MS = 30_000;
const CALL_TIMEOUT_MS = 10 * 60_000;

/** In Claude's variables, or in the server's own entry. */
export function readTimeLimits(
  { timeoutMs }: ServerConfig,
  { surroundings }: OpenedHooks,
): Pick<ConnectionOptions, 'startTimeoutMs' | 'callTimeoutMs'> {
  const { env } = surroundings;
  return {
    startTimeoutMs: milliseconds(env['MCP_TIMEOUT']) ?? START_TIMEOUT_MS,
    callTimeoutMs: timeoutMs ?? milliseconds(env['MCP_TOOL_TIMEOUT']) ?? CALL_TIMEOUT_MS,
  };
}

function milliseconds(written: string | undefined): number | null {
  const value = Number(written ?? '');
  return Number.isFinite(value) && value > 0 ? value : null;
}
