import path from 'node:path';
import { systemClock } from '../base/clock.ts';
import { findRealPath, isInside } from '../base/paths.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { createDialects } from '../dialects/index.ts';
import type { Moment } from '../hooks/facts.ts';
import { NO_SERVERS } from '../mcp/server-config.ts';
import { findEnclosingWorkspaceProblem } from '../trust/trust-record.ts';
import {
  type Config,
  loadConfig,
  readSurroundings,
  getStateDirectory,
  type Surroundings,
} from './config.ts';
import { dialectOptions } from './dialects/options.ts';
import type { HookSearch } from './hook-search.ts';
import { createHookSet, type HookSet } from './hook-set.ts';
import { createMoment } from './moment.ts';
import type { Settings } from './settings.ts';
import { listGuardedRoots, openTrust, type Trust } from './trust.ts';
import { resolveRoots } from './workspace.ts';

export interface OpenedHooks {
  readonly config: Config;
  readonly trust: Trust;
  readonly hookSet: HookSet;
  readonly moment: () => Moment;
  readonly workspaceRoots: readonly string[];
  /** Where the session was opened, real path. */
  readonly startDirectory: string;
  readonly surroundings: Surroundings;
  /** Where state lives; null without a home directory. */
  readonly stateDirectory: string | null;
}

/** Reads the configuration and the trust record, and finds every hook. */
export function openHooks(search: HookSearch): OpenedHooks {
  const surroundings = search.surroundings ?? readSurroundings();
  const clock = search.clock ?? systemClock;
  const start = path.resolve(surroundings.cwd, search.cwd ?? '');
  const workspaceRoots = resolveRoots({ cwd: start, roots: search.roots ?? [] });
  const cwd = search.cwd === undefined ? directoryIn(workspaceRoots, start) : start;
  const state = getStateDirectory(surroundings);
  const place = findConfigFile(surroundings, workspaceRoots);
  const config = readConfig(place, { surroundings, workspaceRoots, flags: search.flags ?? {} });
  const trust = openTrust({
    stateDirectory: state,
    workspaceRoots,
    home: surroundings.home,
    lock: search.lock,
    clock,
  });
  const known = { cwd, startDirectory: cwd, workspaceRoots, ...search.moment };
  const moment = createMoment({ surroundings, clock, known });
  const opened = {
    config,
    trust,
    moment,
    workspaceRoots,
    startDirectory: findRealPath(cwd) ?? cwd,
    surroundings,
    stateDirectory: state,
  };
  const configFile = place.misplaced === null ? place.file : null;
  return { ...opened, hookSet: findHooks(opened, search, configFile) };
}

/** Whoever names roots from elsewhere means paths in them, not beside them. */
function directoryIn(workspaceRoots: readonly string[], start: string): string {
  const real = findRealPath(start) ?? start;
  const isThere = workspaceRoots.some((root) => isInside(root, real));
  return isThere ? start : (workspaceRoots[0] ?? start);
}

interface ConfigRequest {
  readonly surroundings: Surroundings;
  readonly workspaceRoots: readonly string[];
  readonly flags: Partial<Settings>;
}

interface ConfigPlace {
  readonly file: string | null;
  /** Why the file must not be believed, or null. */
  readonly misplaced: string | null;
}

/** The person's own file. Lying inside a workspace, it could be the workspace's: that may only tighten. */
function findConfigFile(
  surroundings: Surroundings,
  workspaceRoots: readonly string[],
): ConfigPlace {
  const state = getStateDirectory(surroundings);
  if (state === null) return { file: null, misplaced: null };
  const file = path.join(state, 'config.json');
  const guarded = listGuardedRoots({ workspaceRoots, home: surroundings.home });
  return { file, misplaced: findEnclosingWorkspaceProblem(file, guarded) };
}

function readConfig({ file: homeFile, misplaced }: ConfigPlace, request: ConfigRequest): Config {
  const config = loadConfig({
    homeFile: misplaced === null ? homeFile : null,
    workspaceFiles: request.workspaceRoots
      .map((root) => path.join(root, '.hookline', 'config.json'))
      .filter((file) => file !== homeFile || misplaced !== null),
    env: request.surroundings.env,
    flags: request.flags,
  });
  if (misplaced === null) return config;
  return { ...config, problems: [`${homeFile}: ignored: ${misplaced}`, ...config.problems] };
}

function findHooks(
  opened: Omit<OpenedHooks, 'hookSet'>,
  search: HookSearch,
  configFile: string | null,
): HookSet {
  const { settings } = opened.config;
  const dialects = createDialects(dialectOptions({ ...opened, settings, search }), search.dialects);
  return createHookSet({
    dialects: settings['hooks.enabled'] ? dialects : dialects.map(withoutHooks),
    settings,
    surroundings: opened.surroundings,
    stateDirectory: opened.stateDirectory,
    configFile,
    trust: search.trust === 'all' ? null : opened.trust.checker,
    sessionId: () => opened.moment().sessionId,
    onExchange: search.onExchange,
  });
}

/**
 * Whoever switches hooks off still means what is forbidden and allowed, and wants no plugin: most bring
 * hooks, and nobody knows of which before it is loaded.
 */
function withoutHooks(dialect: Dialect): Dialect {
  return {
    name: dialect.name,
    discover(options) {
      const { hooks, permissions = [], mcpServers = NO_SERVERS } = dialect.discover(options);
      const units = hooks.filter(
        (hook) => hook.permissions !== undefined || hook.mcpServer !== undefined,
      );
      const nothing = { ignored: [], watched: [], announced: [] };
      return { hooks: units, ...nothing, permissions, mcpServers };
    },
  };
}
