import { listRuleProblems } from '../dialects/discovery.ts';
import path from 'node:path';
import { dropUndefined } from '../base/defined.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { findRealPath, isInside } from '../base/paths.ts';
import type { Discoverer } from '../dialects/dialect.ts';
import { openDialects, type DialectName } from '../dialects/index.ts';
import type { Moment } from '../hooks/facts.ts';
import { createLazyClaim, type LazyClaim } from '../trust/claims.ts';
import { findEnclosingWorkspaceProblem } from '../trust/record-location.ts';
import { type Config, loadConfig } from './config.ts';
import type { Surroundings } from '../dialects/machine.ts';
import { readSurroundings, getStateDirectory, getTrustKeyFile } from './surroundings.ts';
import { createMachine, type MachineSearch } from './dialect-machine.ts';
import { createHookSet, type HookSet, type HookSetOptions } from './hook-set.ts';
import { createMoment } from './moment.ts';
import type { Settings } from './settings.ts';
import { listUntrustedDirectories } from '../process/search-path.ts';
import { listGuardedRoots, openTrust, type Trust, type NamedLock } from './open-trust.ts';
import { resolveRoots } from './workspace.ts';
import type { DecodedExchange } from '../trace/exchange.ts';

/** Where to look for hooks, and what lets them run. */
export interface HookSearch extends MachineSearch {
  /** The process's own by default, or the first of `roots` when that lies in none of them. */
  readonly cwd?: string;
  /** Workspace roots; the git root of `cwd` when there are none. */
  readonly roots?: readonly string[];
  /** Whose hooks to look for; all of them by default. */
  readonly dialects?: readonly DialectName[];
  /** Called with what each hook was sent and what it returned. */
  readonly onExchange?: (exchange: DecodedExchange) => void;
  /** `record`: what the user trusted (default). `all`: run everything that is found. */
  readonly trust?: 'record' | 'all';
  /** A lock that the caller trusts. */
  readonly lock?: NamedLock;
  /** Settings that override every file and variable. */
  readonly flags?: Partial<Settings>;
  /** What the caller knows of its session; the rest is filled in. */
  readonly moment?: Partial<Moment>;
  readonly surroundings?: Surroundings;
  readonly clock?: Clock;
  /** Where hooks call back into a session. */
  readonly findCallback?: HookSetOptions['findCallback'];
  /** Runs the hooks that settings put into a sandbox. */
  readonly runInSandbox?: HookSetOptions['runInSandbox'];
}

export interface OpenedHooks {
  readonly config: Config;
  readonly trust: Trust;
  readonly hookSet: HookSet;
  readonly moment: () => Moment;
  readonly workspaceRoots: readonly string[];
  /** Directories whose programs a repository or an agent may have written, also where a PATH leads there. */
  readonly untrusted: readonly string[];
  /** Where the session was opened, real path. */
  readonly startDirectory: string;
  readonly surroundings: Surroundings;
  /** Where state lives; null without a home directory. */
  readonly stateDirectory: string | null;
  /** Held by whoever is about to run what was found, so that trust commands below it are refused. */
  readonly claim: LazyClaim;
}

/** Reads the configuration and the trust record, and finds every hook. */
export function openHooks(search: HookSearch): OpenedHooks {
  const surroundings = search.surroundings ?? readSurroundings();
  const clock = search.clock ?? systemClock;
  const start = path.resolve(surroundings.cwd, search.cwd ?? '');
  const workspaceRoots = resolveRoots(start, search.roots ?? []);
  const cwd = search.cwd === undefined ? findStartDirectory(workspaceRoots, start) : start;
  const state = getStateDirectory(surroundings);
  const { config, configFile } = readConfig(surroundings, workspaceRoots, search.flags ?? {});
  const trust = openTrust({
    stateDirectory: state,
    keyFile: getTrustKeyFile(surroundings),
    workspaceRoots,
    home: surroundings.home,
    lock: search.lock,
    clock,
  });
  const initialMoment = { cwd, startDirectory: cwd, workspaceRoots, ...search.moment };
  const moment = createMoment(surroundings, clock, initialMoment);
  const opened = {
    config,
    trust,
    moment,
    workspaceRoots,
    untrusted: listUntrustedDirectories(workspaceRoots, surroundings.home),
    startDirectory: findRealPath(cwd) ?? cwd,
    surroundings,
    stateDirectory: state,
    claim: createLazyClaim(state),
  };
  return { ...opened, hookSet: findHooks(opened, search, configFile) };
}

/** A caller that names roots from elsewhere means paths in them, not beside them. */
function findStartDirectory(workspaceRoots: readonly string[], start: string): string {
  const real = findRealPath(start) ?? start;
  const isThere = workspaceRoots.some((root) => isInside(root, real));
  return isThere ? start : (workspaceRoots[0] ?? start);
}

/**
 * Reads the settings. The user's own file is ignored inside a workspace, because it could be the
 * workspace's, which may only tighten.
 */
function readConfig(
  surroundings: Surroundings,
  workspaceRoots: readonly string[],
  flags: Partial<Settings>,
): { readonly config: Config; readonly configFile: string | null } {
  const state = getStateDirectory(surroundings);
  const homeFile = state === null ? null : path.join(state, 'config.json');
  const guarded = listGuardedRoots({ workspaceRoots, home: surroundings.home });
  const whyIgnored = homeFile === null ? null : findEnclosingWorkspaceProblem(homeFile, guarded);
  const configFile = whyIgnored === null ? homeFile : null;
  const config = loadConfig({
    homeFile: configFile,
    workspaceFiles: workspaceRoots
      .map((root) => path.join(root, '.hookline', 'config.json'))
      .filter((file) => file !== configFile),
    env: surroundings.env,
    flags,
  });
  if (whyIgnored === null) return { config, configFile };
  const problems = [`${homeFile}: ignored: ${whyIgnored}`, ...config.problems];
  return { config: { ...config, problems }, configFile };
}

function findHooks(
  opened: Omit<OpenedHooks, 'hookSet'>,
  search: HookSearch,
  configFile: string | null,
): HookSet {
  const { settings } = opened.config;
  const machine = createMachine(opened, search);
  const dialects = openDialects(machine, search.dialects);
  return createHookSet({
    dialects: settings['hooks.enabled'] ? dialects : dialects.map(omitHooks),
    settings,
    surroundings: opened.surroundings,
    untrusted: opened.untrusted,
    stateDirectory: opened.stateDirectory,
    configFile,
    trust: search.trust === 'all' ? null : opened.trust.checker,
    sessionId: () => opened.moment().sessionId,
    findCallback: search.findCallback,
    runInSandbox: search.runInSandbox,
  });
}

/**
 * Disabling hooks keeps permission rules, limits of the sandbox and servers, and drops plugins: most have hooks, and which
 * have none is unknown before they are loaded.
 */
function omitHooks(dialect: Discoverer): Discoverer {
  const { createServerUnit, readUserServers } = dialect;
  return {
    ...dropUndefined({ createServerUnit, readUserServers }),
    discover(options) {
      const found = dialect.discover(options);
      const { permissions = [], sandboxLimits = [], mcpServers = [], brokenServers = [] } = found;
      const { variables = {} } = found;
      const ignored = permissions.flatMap(({ settings }) => listRuleProblems(settings));
      const remaining = { permissions, sandboxLimits, variables, mcpServers, brokenServers };
      return { hooks: [], ignored, watched: [], ...remaining };
    },
  };
}
