import type { RunProgram } from '../process/run.ts';
import type { SandboxProfileName } from '../process/sandbox/profile.ts';
import { createRefusal } from '../process/sandbox/run-in-sandbox.ts';
import path from 'node:path';
import { CALLBACK_VARIABLE } from '../callback/callback-address.ts';
import { memoize, memoizePerObject } from '../base/memoize.ts';
import type { AnnouncedChanges, Discoverer, DiscoverOptions } from '../dialects/dialect.ts';
import type {
  AnnouncedFile,
  Discovered,
  DiscoveredUnit,
  DiscoveredWithUnit,
  Discovery,
  FoundHook,
  FoundPermissions,
  FoundPlugin,
  FoundServer,
  Grant,
  Ignored,
  PluginFolder,
  SandboxLimits,
} from '../dialects/discovery.ts';
import type { FailurePolicy } from '../hooks/decision.ts';
import type { Handler, HandlerSource, Wave } from '../hooks/handler.ts';
import {
  type BrokenServer,
  type ConfiguredServers,
  NO_SERVERS,
  type ServerConfig,
  mergeServers,
} from '../mcp/server-config.ts';
import { buildChildEnvironment, type Environment, PROVIDER_KEYS } from '../process/environment.ts';
import { cleanEnvironment } from '../process/search-path.ts';
import type { TrustChecker } from '../trust/trust-checker.ts';
import type { TrustUnit } from '../trust/collect-unit.ts';
import { createDisabledHooksReader, hasInheritedName, isEntryForHook } from './disabled-hooks.ts';
import type { Surroundings } from '../dialects/machine.ts';
import type { Settings } from './settings.ts';

export type HookState = 'ready' | 'untrusted' | 'modified' | 'disabled' | 'broken';

/** A discovered unit with its state. */
export interface UnitStatus {
  readonly hook: DiscoveredUnit;
  readonly state: HookState;
  /** Why it would not run; empty when it is ready. */
  readonly why: string;
  readonly isEnabled: boolean;
  /** Whether it has the id of a disabled entry, but another content. */
  readonly wasDisabled: boolean;
  /** Why its bytes may run: `record`, `lock`, `home` … ; null when they may not. */
  readonly trustedBy: 'record' | 'lock' | 'place' | 'caller' | null;
}

/** A unit's state with the hook, plugin, server or rules it belongs to. */
export interface ListedUnit extends UnitStatus {
  readonly found: DiscoveredWithUnit;
  readonly timeoutMs: number;
  readonly onFailure: FailurePolicy;
}

/** A hook with its handlers; handlers of a hook that may not run are withheld. */
interface MadeHook {
  readonly hook: FoundHook;
  readonly handlers: readonly Handler[];
}

/** All hooks of all dialects, for the engine and for `hooks list`; a rescan updates them. */
export interface HookSet extends HandlerSource {
  /** Every hook with its handlers. */
  made(): readonly MadeHook[];
  /** Every hook, without checking whether it may run. */
  hooks(): readonly FoundHook[];
  /** Everything that has a unit, without checking whether it may run. */
  units(): readonly DiscoveredWithUnit[];
  /** The same with its state. */
  statuses(): readonly ListedUnit[];
  /** Returns the current state of a unit. */
  status(unit: DiscoveredUnit): UnitStatus;
  /** Permission rules of settings, in declared order; the same list until a rescan. */
  permissions(): readonly FoundPermissions[];
  /** What settings take away from the sandbox of commands. */
  sandboxLimits(): readonly SandboxLimits[];
  /** Variables that settings of the user and the administrator set for commands and servers. */
  variables(): Readonly<Environment>;
  /** MCP servers that are configured with hooks. */
  mcpServers(): readonly FoundServer[];
  brokenServers(): readonly BrokenServer[];
  /** Reads the servers of the user's own that other agents store apart from hooks, at each call. */
  readUserServers(): ConfiguredServers;
  /** Creates the trust unit of a server that the caller names; null when it needs none. */
  createServerUnit(server: ServerConfig): DiscoveredUnit | null;
  plugins(): readonly FoundPlugin[];
  /** Directories of plugins in use that may hold skills and agents beside hooks. */
  pluginFolders(): readonly PluginFolder[];
  ignored(): readonly Ignored[];
  watched(): readonly string[];
  /** Files whose change fires ConfigChange before it takes effect. */
  announced(): readonly AnnouncedFile[];
  /** Applies changes of these files. */
  readonly changes: AnnouncedChanges;
  /** Repeats the discovery and notifies subscribers. A running dispatch is not affected. */
  rescan(options?: DiscoverOptions): void;
}

export interface HookSetOptions {
  readonly dialects: readonly Discoverer[];
  readonly settings: Settings;
  readonly surroundings: Surroundings;
  /** Directories whose programs hooks of the user do not find on their PATH. */
  readonly untrusted: readonly string[];
  /** The directory for state; null without a home directory. */
  readonly stateDirectory: string | null;
  /** The user's configuration file, or null when none is used. */
  readonly configFile: string | null;
  /** Null when the caller trusts everything. */
  readonly trust: TrustChecker | null;
  /** Passed to every hook in its environment, so that trust commands can refuse to run inside a hook. */
  readonly sessionId: () => string;
  /** The address under which a hook calls back into a session; null when that cannot be called. */
  readonly findCallback?: ((sessionId: string, hook: string) => string | null) | undefined;
  /** Runs programs in a sandbox; absent where there is none to be had. */
  readonly runInSandbox?: ((profile: SandboxProfileName) => RunProgram) | undefined;
}

/** The variable that marks processes inside an agent session. */
export const SESSION_MARKER = 'HOOKLINE_SESSION';

/** Builds the environment of every hook. Withholds the keys of model providers by default. */
export function buildHookEnvironment({
  surroundings,
  variables = {},
  withhold = PROVIDER_KEYS,
  pass,
  sessionId,
}: {
  readonly surroundings: Pick<Surroundings, 'env' | 'platform'>;
  /** Of settings, over those of the surroundings. */
  readonly variables?: Readonly<Environment>;
  readonly withhold?: readonly string[];
  readonly pass: readonly string[];
  readonly sessionId: string;
}): Environment {
  return buildChildEnvironment({
    base: { ...surroundings.env, ...variables },
    // A session inside a hook of another one must not pass on how to call that.
    withhold: [...withhold, CALLBACK_VARIABLE],
    pass: pass.filter((name) => name !== CALLBACK_VARIABLE),
    add: { [SESSION_MARKER]: sessionId },
    platform: surroundings.platform,
  });
}

export function createHookSet(options: HookSetOptions): HookSet {
  const listeners = new Set<() => void>();
  let found = discoverAll(options.dialects);
  const grants = new Grants(options, () => found.variables);
  let madeHooks: readonly MadeHook[] | null = null;

  // Created on first use: callers that only list hooks need no handlers.
  function makeHandlers(): readonly MadeHook[] {
    madeHooks ??= found.hooks.map((hook) => ({
      hook,
      handlers: hook.toHandlers(grants.grant(hook)),
    }));
    return madeHooks;
  }

  return {
    handlers: () => makeHandlers().flatMap(({ handlers }) => handlers),
    made: makeHandlers,
    hooks: () => found.hooks,
    units: () => listUnits(found),
    statuses: () => listUnits(found).map((each) => grants.readListedUnit(each)),
    status: (unit) => grants.readStatus(unit),
    permissions: () => found.permissions,
    sandboxLimits: () => found.sandboxLimits,
    variables: () => found.variables,
    mcpServers: () => found.mcpServers,
    brokenServers: () => found.brokenServers,
    readUserServers: () =>
      mergeServers(options.dialects.map((each) => each.readUserServers?.() ?? NO_SERVERS)),
    createServerUnit(server) {
      const units = options.dialects.map((each) => each.createServerUnit?.(server) ?? null);
      return units.find((unit) => unit !== null) ?? null;
    },
    plugins: () => found.plugins,
    pluginFolders: () => found.pluginFolders,
    ignored: () => found.ignored,
    watched: () => found.watched,
    announced: () => found.announced,
    changes: {
      isPending: (file) =>
        options.dialects.some(({ changes }) => changes?.isPending(file) === true),
      readPending: (file) => options.dialects.forEach(({ changes }) => changes?.readPending(file)),
      resolvePending: (file, isTaken) =>
        options.dialects.forEach(({ changes }) => changes?.resolvePending(file, isTaken)),
    },
    rescan(discoverOptions) {
      found = discoverAll(options.dialects, discoverOptions);
      madeHooks = null;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function discoverAll(
  dialects: readonly Discoverer[],
  options?: DiscoverOptions,
): Required<Discovery> {
  const all = dialects.map((dialect) => dialect.discover(options));
  return {
    hooks: all.flatMap((each) => each.hooks),
    ignored: all.flatMap((each) => each.ignored),
    permissions: all.flatMap((each) => each.permissions ?? []),
    sandboxLimits: all.flatMap((each) => each.sandboxLimits ?? []),
    variables: Object.fromEntries(all.flatMap((each) => Object.entries(each.variables ?? {}))),
    mcpServers: all.flatMap((each) => each.mcpServers ?? []),
    brokenServers: all.flatMap((each) => each.brokenServers ?? []),
    plugins: all.flatMap((each) => each.plugins ?? []),
    pluginFolders: all.flatMap((each) => each.pluginFolders ?? []),
    get watched() {
      return all.flatMap((each) => each.watched);
    },
    get announced() {
      return all.flatMap((each) => each.announced ?? []);
    },
  };
}

/** Everything that has a unit, in the order in which it is listed. */
function listUnits(found: Required<Discovery>): readonly DiscoveredWithUnit[] {
  const all: readonly Discovered[] = [
    ...found.hooks,
    ...found.permissions,
    ...found.mcpServers,
    ...found.plugins,
  ];
  return all.filter(hasUnit);
}

function hasUnit(found: Discovered): found is DiscoveredWithUnit {
  return found.unit !== null;
}

/** Decides how a hook may run, and whether it may. */
class Grants {
  readonly #options: HookSetOptions;
  readonly #readDisabled: (wave?: Wave) => Settings['hooks.disabled'];
  readonly #getVariables: () => Readonly<Environment>;
  /** Built once for the variables of each discovery. */
  readonly #environments = new WeakMap<Readonly<Environment>, HookEnvironments>();

  constructor(options: HookSetOptions, getVariables: () => Readonly<Environment>) {
    this.#options = options;
    this.#getVariables = getVariables;
    this.#readDisabled = createDisabledHooksReader(options.settings, options.configFile);
  }

  grant(hook: FoundHook): Grant {
    const { unit } = hook;
    return {
      ...readLimits(hook, this.#options.settings),
      environment: this.#getEnvironment(unit.place === 'workspace' ? 'workspace' : 'own'),
      ...this.#grantPlace(unit),
      withheld: this.findReasonToWithhold.bind(this, unit),
    };
  }

  /** In a sandbox, the socket of the session is hidden with the rest of the state. */
  #grantPlace(unit: DiscoveredUnit): Pick<Grant, 'sandbox' | 'callback'> {
    const { findCallback } = this.#options;
    const sandbox = this.#findSandbox(unit);
    if (sandbox !== undefined) return { sandbox };
    if (findCallback === undefined) return {};
    return {
      callback({ sessionId }) {
        const address = findCallback(sessionId, unit.id);
        return address === null ? {} : { [CALLBACK_VARIABLE]: address };
      },
    };
  }

  /** A hook that must run in a sandbox never runs without one. */
  #findSandbox(unit: DiscoveredUnit): Grant['sandbox'] {
    const { settings, runInSandbox } = this.#options;
    const profile = findOverride(unit, settings)?.sandbox ?? settings['hooks.sandbox'];
    if (profile === 'off') return undefined;
    const run = runInSandbox?.(profile) ?? (async () => createRefusal(NO_SANDBOX));
    return { profile, run };
  }

  /** Why a unit may not run now, or null; called right before each run. */
  findReasonToWithhold(unit: DiscoveredUnit, wave?: Wave): string | null {
    const { trust } = this.#options;
    if (this.#isDisabled(unit, wave)) return 'disabled';
    if (trust === null || findExemption(unit) !== null) return null;
    const { state, why } = trust.check(toTrustUnit(unit), wave);
    return state === 'trusted' ? null : `${state}: ${why}`;
  }

  readStatus(unit: DiscoveredUnit): UnitStatus {
    const trusted = this.#checkTrust(unit);
    const isEnabled = !this.#isDisabled(unit);
    const wasDisabled =
      isEnabled && this.#readDisabled().some((entry) => hasInheritedName(entry, unit));
    const standing = describeState(unit, isEnabled, trusted);
    return { hook: unit, isEnabled, wasDisabled, ...standing, trustedBy: trusted.by };
  }

  readListedUnit(found: DiscoveredWithUnit): ListedUnit {
    const limits = readLimits(found, this.#options.settings);
    return { ...this.readStatus(found.unit), found, ...limits };
  }

  #checkTrust(unit: DiscoveredUnit): HookTrust {
    const { trust } = this.#options;
    const exemption = findExemption(unit);
    if (trust === null || exemption !== null) return { by: exemption ?? 'caller' };
    const { state, why, by } = trust.check(toTrustUnit(unit));
    if (state === 'trusted' && by !== null) return { by };
    return { by: null, state: state === 'modified' ? 'modified' : 'untrusted', why };
  }

  #isDisabled(unit: DiscoveredUnit, wave?: Wave): boolean {
    if (unit.whyOff !== undefined) return true;
    if (unit.isFixed === true) return false;
    return this.#readDisabled(wave).some((entry) => isEntryForHook(entry, unit));
  }

  #getEnvironment(owner: keyof HookEnvironments): Environment {
    const variables = this.#getVariables();
    const environments = this.#environments.get(variables) ?? this.#createEnvironments(variables);
    this.#environments.set(variables, environments);
    return environments[owner]();
  }

  #createEnvironments(variables: Readonly<Environment>): HookEnvironments {
    const { surroundings, settings, sessionId, untrusted, stateDirectory } = this.#options;
    const pass = settings['env.pass'];
    const build = (withhold: readonly string[]): Environment =>
      buildHookEnvironment({ surroundings, variables, withhold, pass, sessionId: sessionId() });
    return {
      own: memoize(() => cleanEnvironment(build([]), untrusted, surroundings.platform)),
      workspace: memoize(() => ({
        ...redirectCompiledPython(stateDirectory),
        ...build(PROVIDER_KEYS),
      })),
    };
  }
}

/** The environments of hooks: the user's own, and those of workspaces, which get no provider keys. */
interface HookEnvironments {
  readonly own: () => Environment;
  readonly workspace: () => Environment;
}

/**
 * Python writes compiled files beside the script and runs those that it finds there. In a workspace
 * they would change the trusted files, or be untrusted code.
 */
function redirectCompiledPython(stateDirectory: string | null): Environment {
  if (stateDirectory === null) return { PYTHONDONTWRITEBYTECODE: '1' };
  return { PYTHONPYCACHEPREFIX: path.join(stateDirectory, 'pycache') };
}

function describeState(
  unit: DiscoveredUnit,
  isEnabled: boolean,
  trusted: HookTrust,
): { state: HookState; why: string } {
  if (!isEnabled) {
    return { state: 'disabled', why: unit.whyOff ?? 'disabled in the configuration' };
  }
  if (trusted.by === null) return { state: trusted.state, why: trusted.why };
  if (unit.problem !== null) return { state: 'broken', why: unit.problem };
  return { state: 'ready', why: '' };
}

/** Units that are not hooks have no limits and are listed with default values. */
function readLimits(
  found: DiscoveredWithUnit,
  settings: Settings,
): { timeoutMs: number; onFailure: FailurePolicy } {
  const { unit } = found;
  const { timeoutMs, onFailure } =
    found.kind === 'hook' ? found : { timeoutMs: 0, onFailure: 'open' as const };
  const override = findOverride(unit, settings);
  return {
    timeoutMs: override?.timeoutMs ?? timeoutMs,
    onFailure: resolveFailurePolicy(override?.onFailure ?? null, settings, onFailure),
  };
}

const NO_SANDBOX =
  'It was not started: the settings put it into a sandbox, and this host cannot make one.';

function findOverride({ id, ownId }: DiscoveredUnit, settings: Settings) {
  return settings['hooks.overrides'][id] ?? settings['hooks.overrides'][ownId];
}

function resolveFailurePolicy(
  chosen: 'open' | 'block' | null,
  settings: Settings,
  usual: FailurePolicy,
): FailurePolicy {
  if (chosen !== null) return chosen === 'block' ? 'closed' : 'open';
  return settings['hooks.onFailure'] === 'block' ? 'closed' : usual;
}

type HookTrust =
  | { readonly by: 'record' | 'lock' | 'place' | 'caller' }
  | { readonly by: null; readonly state: 'untrusted' | 'modified'; readonly why: string };

/** What makes a unit run without a trust decision, or null. */
function findExemption({ place, runsNothing }: DiscoveredUnit): 'place' | 'caller' | null {
  if (place === 'home' || runsNothing === true) return 'place';
  return place === 'given' ? 'caller' : null;
}

/** Returns what a trust decision about this unit covers: the same object each time, by which trust caches its state. */
export const toTrustUnit = memoizePerObject((unit: DiscoveredUnit): TrustUnit => ({
  id: unit.ownId,
  root: unit.root ?? '',
  ...unit.binds,
}));
