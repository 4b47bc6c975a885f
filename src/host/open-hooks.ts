import path from 'node:path';
import { systemClock, type Clock } from '../base/clock.ts';
import { findRealPath, isInside } from '../base/paths.ts';
import type { Discoverer } from '../dialects/dialect.ts';
import { openDialects, type DialectName } from '../dialects/index.ts';
import type { Moment } from '../hooks/facts.ts';
import { findEnclosingWorkspaceProblem } from '../trust/trust-record.ts';
import {
  type Config,
  loadConfig,
  readSurroundings,
  getStateDirectory,
  type Surroundings,
} from './config.ts';
import { createMachine } from './dialect-machine.ts';
import { createHookSet, type HookSet } from './hook-set.ts';
import { createMoment } from './moment.ts';
import type { Settings } from './settings.ts';
import { listGuardedRoots, openTrust, type Trust, type NamedLock } from './trust.ts';
import { resolveRoots } from './workspace.ts';
import type { HookExchange } from '../trace/exchange.ts';
import type { DialectSearch } from '../dialects/machine.ts';

/** Where to look for hooks, and what lets them run. */
export interface HookSearch extends DialectSearch {
  /** The process's own by default, or the first of `roots` when that lies in none of them. */
  readonly cwd?: string;
  /** Workspace roots; the git root of `cwd` when there are none. */
  readonly roots?: readonly string[];
  /** Whose hooks to look for; all of them by default. */
  readonly dialects?: readonly DialectName[];
  /** Told what went to each hook and what came back. */
  readonly onExchange?: (exchange: HookExchange) => void;
  /** `record`: what the person trusted (default). `all`: run everything that is found. */
  readonly trust?: 'record' | 'all';
  /** A lock that the caller vouches for. */
  readonly lock?: NamedLock;
  /** Settings that stand above every file and variable. */
  readonly flags?: Partial<Settings>;
  /** What the caller knows of its session; the rest is filled in. */
  readonly moment?: Partial<Moment>;
  readonly surroundings?: Surroundings;
  readonly clock?: Clock;
}

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
  const machine = { ...createMachine(opened), search };
  const dialects = openDialects(machine, search.dialects);
  return createHookSet({
    dialects: settings['hooks.enabled'] ? dialects : dialects.map(withoutHooks),
    settings,
    surroundings: opened.surroundings,
    stateDirectory: opened.stateDirectory,
    configFile,
    trust: search.trust === 'all' ? null : opened.trust.checker,
    sessionId: () => opened.moment().sessionId,
  });
}

/**
 * Whoever switches hooks off still means what is forbidden and allowed, and wants no plugin: most bring
 * hooks, and nobody knows of which before it is loaded.
 */
function withoutHooks(dialect: Discoverer): Discoverer {
  const { createServerUnit } = dialect;
  return {
    ...(createServerUnit === undefined ? {} : { createServerUnit }),
    discover(options) {
      const { permissions = [], mcpServers = [], brokenServers = [] } = dialect.discover(options);
      return { hooks: [], ignored: [], watched: [], permissions, mcpServers, brokenServers };
    },
  };
}
