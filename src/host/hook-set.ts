import path from 'node:path';
import { memoize } from '../base/memoize.ts';
import type {
  AnnouncedChanges,
  AnnouncedFile,
  Dialect,
  DiscoverOptions,
  Discovery,
  Exchange,
  FoundHook,
  Ignored,
  PluginPlace,
} from '../dialects/dialect.ts';
import type { FailurePolicy } from '../hooks/decision.ts';
import type { Handler, HandlerSource, Wave } from '../hooks/handler.ts';
import { type ConfiguredServers, NO_SERVERS } from '../mcp/server-config.ts';
import type { PermissionSettings } from '../permissions/settings.ts';
import { childEnvironment, type Environment, PROVIDER_KEYS } from '../process/environment.ts';
import type { TrustChecker, TrustState } from '../trust/trust-checker.ts';
import type { TrustUnit } from '../trust/collect-unit.ts';
import { createDisabledHooksReader, hasInheritedName, isEntryForHook } from './disabled-hooks.ts';
import type { Surroundings } from './config.ts';
import type { Settings } from './settings.ts';

export type HookState = 'ready' | 'untrusted' | 'modified' | 'disabled' | 'broken';

/** A found hook and whether it would run. */
export interface HookStatus {
  readonly hook: FoundHook;
  readonly state: HookState;
  /** Why it would not run; empty when it is ready. */
  readonly why: string;
  readonly isEnabled: boolean;
  /** Whether it has the id of an entry that was switched off, and says something else. */
  readonly wasDisabled: boolean;
  /** Why its bytes may run: `record`, `lock`, `home` … ; null when they may not. */
  readonly trustedBy: 'record' | 'lock' | 'place' | 'caller' | null;
  readonly timeoutMs: number;
  readonly onFailure: FailurePolicy;
}

/** A found hook with the handlers that it runs as; one that may not run is among them, withheld. */
export interface MadeHook {
  readonly hook: FoundHook;
  readonly handlers: readonly Handler[];
}

/** All hooks of all dialects, kept up to date: what the engine runs and what `hooks list` shows. */
export interface HookSet extends HandlerSource {
  /** Every hook with its handlers. */
  made(): readonly MadeHook[];
  /** Every hook there is, without asking whether it may run. */
  found(): readonly FoundHook[];
  statuses(): readonly HookStatus[];
  /** Whether one of the found would run, as things are now. */
  status(hook: FoundHook): HookStatus;
  /** What settings say about tool calls themselves, in declared order; the same list until a rescan. */
  permissions(): readonly PermissionSettings[];
  /** MCP servers that are configured with hooks; the same list until a rescan. */
  mcpServers(): ConfiguredServers;
  /** Plugins that are in use. */
  plugins(): readonly PluginPlace[];
  ignored(): readonly Ignored[];
  watched(): readonly string[];
  /** Files whose change is announced before it counts. */
  announced(): readonly AnnouncedFile[];
  /** How changes of these files come to count. */
  readonly changes: AnnouncedChanges;
  /** Looks again; subscribers hear of it. A dispatch under way is not touched. */
  rescan(options?: DiscoverOptions): void;
}

export interface HookSetOptions {
  readonly dialects: readonly Dialect[];
  readonly settings: Settings;
  readonly surroundings: Surroundings;
  /** Where state lives; null without a home directory. */
  readonly stateDirectory: string | null;
  /** The person's own configuration file, or null when there is none to believe. */
  readonly configFile: string | null;
  /** Null when the caller said that everything is trusted. */
  readonly trust: TrustChecker | null;
  /** Told to every hook in its environment, so that trust commands can refuse to run inside one. */
  readonly sessionId: () => string;
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
}

/** The variable that says "you run inside an agent session". */
export const SESSION_MARKER = 'HOOKLINE_SESSION';

export interface HookEnvironmentRequest {
  readonly surroundings: Pick<Surroundings, 'env' | 'platform'>;
  /** The model providers' keys, unless somebody says otherwise. */
  readonly withhold?: readonly string[];
  readonly pass: readonly string[];
  readonly sessionId: string;
}

/** The environment of every hook, however it was found. */
export function hookEnvironment(request: HookEnvironmentRequest): Environment {
  const { surroundings, withhold = PROVIDER_KEYS, pass, sessionId } = request;
  return childEnvironment({
    base: surroundings.env,
    withhold,
    pass,
    add: { [SESSION_MARKER]: sessionId },
    platform: surroundings.platform,
  });
}

export function createHookSet(options: HookSetOptions): HookSet {
  const listeners = new Set<() => void>();
  let found = discoverAll(options.dialects);
  const grants = createGrants(
    options,
    createDisabledHooksReader(options.settings, options.configFile),
  );
  let made: readonly MadeHook[] | null = null;

  // Who only looks at the hooks needs no handlers.
  function makeHandlers(): readonly MadeHook[] {
    made ??= found.hooks.map((hook) => ({ hook, handlers: hook.toHandlers(grants.grant(hook)) }));
    return made;
  }

  return {
    handlers: () => makeHandlers().flatMap(({ handlers }) => handlers),
    made: makeHandlers,
    found: () => found.hooks,
    statuses: () => found.hooks.map((hook) => grants.status(hook)),
    status: (hook) => grants.status(hook),
    permissions: () => found.permissions ?? NO_PERMISSIONS,
    mcpServers: () => found.mcpServers ?? NO_SERVERS,
    plugins: () => found.plugins ?? [],
    ignored: () => found.ignored,
    watched: () => found.watched,
    announced: () => found.announced,
    changes: {
      isPending: (file) =>
        options.dialects.some(({ changes }) => changes?.isPending(file) === true),
      look: (file) => options.dialects.forEach(({ changes }) => changes?.look(file)),
      settle: (file, isTaken) =>
        options.dialects.forEach(({ changes }) => changes?.settle(file, isTaken)),
    },
    rescan(wanted) {
      found = discoverAll(options.dialects, wanted);
      made = null;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const NO_PERMISSIONS: readonly PermissionSettings[] = [];

function discoverAll(dialects: readonly Dialect[], options?: DiscoverOptions): Discovery {
  const all = dialects.map((dialect) => dialect.discover(options));
  return {
    hooks: all.flatMap((each) => each.hooks),
    ignored: all.flatMap((each) => each.ignored),
    permissions: all.flatMap((each) => each.permissions ?? []),
    mcpServers: {
      servers: all.flatMap((each) => each.mcpServers?.servers ?? []),
      broken: all.flatMap((each) => each.mcpServers?.broken ?? []),
    },
    plugins: all.flatMap((each) => each.plugins ?? []),
    get watched() {
      return all.flatMap((each) => each.watched);
    },
    get announced() {
      return all.flatMap((each) => each.announced);
    },
  };
}

interface Grants {
  grant(hook: FoundHook): Parameters<FoundHook['toHandlers']>[0];
  status(hook: FoundHook): HookStatus;
}

function createGrants(
  { settings, surroundings, stateDirectory, trust, sessionId, onExchange }: HookSetOptions,
  disabled: (wave?: Wave) => Settings['hooks.disabled'],
): Grants {
  const environmentFor = (withhold: readonly string[]): Environment =>
    hookEnvironment({
      surroundings,
      withhold,
      pass: settings['env.pass'],
      sessionId: sessionId(),
    });
  const ownEnvironment = memoize(() => environmentFor([]));
  const workspaceEnvironment = memoize(() => ({
    ...compiledElsewhere(stateDirectory),
    ...environmentFor(PROVIDER_KEYS),
  }));
  const units = new WeakMap<FoundHook, TrustUnit>();

  const isDisabled = (hook: FoundHook, wave?: Wave): boolean =>
    hook.whyOff !== undefined ||
    (hook.isFixed !== true && disabled(wave).some((entry) => isEntryForHook(entry, hook)));

  function trustOf(hook: FoundHook, wave?: Wave): HookTrust {
    if (hook.place === 'home' || hook.runsNothing === true) return { by: 'place' };
    if (hook.place === 'given' || trust === null) return { by: 'caller' };
    // The checker knows a unit again by the object it is.
    const unit = units.get(hook) ?? trustUnit(hook);
    units.set(hook, unit);
    return trustFrom(trust.check(unit, wave));
  }

  function withheld(hook: FoundHook, wave?: Wave): string | null {
    if (isDisabled(hook, wave)) return 'disabled';
    const trusted = trustOf(hook, wave);
    return trusted.by === null ? `${trusted.state}: ${trusted.why}` : null;
  }

  return {
    grant: (hook) => ({
      ...limitsOf(hook, settings),
      environment: hook.place === 'workspace' ? workspaceEnvironment() : ownEnvironment(),
      withheld: (wave) => withheld(hook, wave),
      ...(onExchange === undefined ? {} : { onExchange }),
    }),
    status(hook) {
      const trusted = trustOf(hook);
      const isEnabled = !isDisabled(hook);
      const wasDisabled = isEnabled && disabled().some((entry) => hasInheritedName(entry, hook));
      const standing = standingOf(hook, isEnabled, trusted);
      return {
        hook,
        isEnabled,
        wasDisabled,
        ...standing,
        trustedBy: trusted.by,
        ...limitsOf(hook, settings),
      };
    },
  };
}

/**
 * Python writes what it compiled beside the script, and runs what it finds there: in a workspace that
 * would change, or be, what nobody trusted.
 */
function compiledElsewhere(stateDirectory: string | null): Environment {
  if (stateDirectory === null) return { PYTHONDONTWRITEBYTECODE: '1' };
  return { PYTHONPYCACHEPREFIX: path.join(stateDirectory, 'pycache') };
}

function standingOf(
  hook: FoundHook,
  isEnabled: boolean,
  trusted: HookTrust,
): { state: HookState; why: string } {
  if (!isEnabled) {
    return { state: 'disabled', why: hook.whyOff ?? 'switched off in the configuration' };
  }
  if (trusted.by === null) return { state: trusted.state, why: trusted.why };
  if (hook.problem !== null) return { state: 'broken', why: hook.problem };
  return { state: 'ready', why: '' };
}

function limitsOf(
  hook: FoundHook,
  settings: Settings,
): { timeoutMs: number; onFailure: FailurePolicy } {
  const override = settings['hooks.overrides'][hook.id] ?? settings['hooks.overrides'][hook.ownId];
  return {
    timeoutMs: override?.timeoutMs ?? hook.timeoutMs,
    onFailure: failurePolicy(override?.onFailure ?? null, settings, hook),
  };
}

function failurePolicy(
  chosen: 'open' | 'block' | null,
  settings: Settings,
  hook: FoundHook,
): FailurePolicy {
  if (chosen !== null) return chosen === 'block' ? 'closed' : 'open';
  return settings['hooks.onFailure'] === 'block' ? 'closed' : hook.onFailure;
}

type HookTrust =
  | { readonly by: 'record' | 'lock' | 'place' | 'caller' }
  | { readonly by: null; readonly state: 'untrusted' | 'modified'; readonly why: string };

function trustFrom({ state, why, by }: TrustState): HookTrust {
  if (state === 'trusted' && by !== null) return { by };
  return { by: null, state: state === 'modified' ? 'modified' : 'untrusted', why };
}

/** What a trust decision about this hook binds. */
export function trustUnit(hook: FoundHook): TrustUnit {
  return { id: hook.ownId, root: hook.root ?? '', ...hook.binds };
}
