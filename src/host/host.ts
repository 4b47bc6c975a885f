import path from 'node:path';
import { memoizePerObject } from '../base/memoize.ts';
import { callObserver } from '../base/callbacks.ts';
import { systemClock } from '../base/clock.ts';
import { readTextIfPresent } from '../base/files.ts';
import { formatEnvPrelude } from '../process/env-files.ts';
import type { Ignored } from '../dialects/discovery.ts';
import { HooklineError } from '../base/errors.ts';
import type { HookPorts } from '../dialects/ports.ts';
import { createHookEngine, type HookEngine } from '../hooks/engine.ts';
import type { Moment } from '../hooks/facts.ts';
import type { Handler, HandlerSource } from '../hooks/handler.ts';
import {
  DispatchSubscribers,
  type HandlerProgress,
  type LateOutcome,
} from '../hooks/dispatch-record.ts';
import { type CallEntry, createDispatchEntry, createLateEntry } from '../trace/entry.ts';
import { createExchangeSubscriber } from '../trace/exchange.ts';
import { detectHomeHookChanges } from '../trust/home-hook-changes.ts';
import type { RunResult, RuntimeEvent } from '../agent/runtime-event.ts';
import type { Session } from '../agent/session/session.ts';
import type { AgentOptions } from './agent/agent-options.ts';
import type { ModelSwitch } from '../agent/session/switch-model.ts';
import type { OpenSession, SessionHost } from './agent/session-services.ts';
import type { Sessions, Started, StartRequest } from './agent/sessions.ts';
import type { McpReport } from './mcp/mcp-servers.ts';
import type { SessionPlugins } from './plugins/session-plugins.ts';
import type { Config } from './config.ts';
import type { Surroundings } from '../dialects/machine.ts';
import { findPathsOutsideRoots } from './workspace.ts';
import {
  watchHookFiles,
  watchHookFilesSoon,
  type HookWatchOptions,
  type FileWatch,
} from './watch-hook-files.ts';
import type { ListedUnit } from './hook-set.ts';
import {
  limitNotices,
  listMissingGuards,
  listUncountedGuards,
  reportNewMistakes,
} from './missing-guards.ts';
import { createListedHook, type ListedHook } from './listed-hook.ts';
import { type HookSearch, openHooks, type OpenedHooks } from './open-hooks.ts';
import { createHookSandboxes, type HookSandboxes } from './sandbox/hook-sandboxes.ts';
import { pruneState } from './prune-state.ts';
import { resolveSandboxMode, type SandboxMode } from './sandbox/limits.ts';
import { type HostTrace, openTrace } from './open-trace.ts';
import type { LazyClaim } from '../trust/claims.ts';
import type { Trust } from './open-trust.ts';
import { listTextExits } from './text-exits.ts';

export interface HostOptions extends HookSearch, AgentOptions {
  /** Handlers of the host's own, after those of the dialects. */
  readonly sources?: readonly HandlerSource[];
  /** Rescans when hook files change. With `soon`, the host does not wait for the watcher. */
  readonly watch?: boolean | 'soon';
  readonly onLate?: (late: LateOutcome) => void;
  readonly onProgress?: (progress: HandlerProgress) => void;
  /** Receives messages for the user. */
  readonly onNotice?: (notice: string) => void;
  /** Receives, instead of `onNotice`, which of the user's own hooks changed: each change once. */
  readonly onOwnHookNews?: (news: string) => void;
}

export interface Host extends AgentHost {
  readonly config: Config;
  readonly engine: HookEngine;
  readonly trust: Trust;
  /** Tells trust commands below this process that it runs hooks; released with the host. */
  readonly claim: LazyClaim;
  readonly workspaceRoots: readonly string[];
  /** Where the session was opened, real path. */
  readonly startDirectory: string;
  readonly surroundings: Surroundings;
  readonly stateDirectory: string | null;
  /** Every hook that was found, and whether it would run. */
  hooks(): readonly (ListedUnit & { readonly hook: ListedHook })[];
  /** Every hook with the handlers that it runs as. */
  madeHooks(): readonly { readonly hook: ListedHook; readonly handlers: readonly Handler[] }[];
  ignored(): readonly Ignored[];
  /** Hooks and deny rules that do not count as written: misspelt, malformed, unreadable. */
  missingGuards(): readonly string[];
  /** The mode of the sandbox of commands, and the settings file that requires one. */
  sandboxMode(): SandboxMode;
  /** The moment of an event that is fired now. */
  moment(): Moment;
  /** Shell text to run before a Bash command of the agent: the environment that hooks set. */
  bashPrelude(): string;
  /** Looks for hooks again. */
  rescan(): void;
  /** Ends every session and every hook that runs, and flushes the trace. */
  dispose(): Promise<void>;
}

/** Runs agents, each in its own session. Their code is loaded with the first session. */
interface AgentHost {
  /** Opens a new or stored session, and runs the prompt. */
  start(request: StartRequest): Promise<Started>;
  /** Runs a further prompt. */
  send(sessionId: string, prompt: string): Promise<RunResult>;
  /** Runs a further prompt once the run under way has ended. A hook may call it, and must not await it. */
  queue(sessionId: string, prompt: string): Promise<RunResult>;
  /** Sends a message to an agent while it works; false when it does not. */
  steer(sessionId: string, text: string): boolean;
  /** Ends the current run, whose caller gets its result. A hook may call it, too. */
  abort(sessionId: string, reason?: string): Promise<void>;
  /** An open session: its messages, its state, and what else it can do. */
  session(sessionId: string): Session;
  /** Asks hooks, then switches to another model, by name; returns why not, or null. */
  switchModel(
    sessionId: string,
    name: string,
    how?: Partial<Pick<ModelSwitch, 'source' | 'signal'>>,
  ): Promise<string | null>;
  /** Starts the MCP servers that may start, and reports the state of each. */
  mcpServers(): Promise<McpReport>;
  /** Closes one session; its hooks get the reason. */
  end(sessionId: string, reason?: string): Promise<void>;
  /** The plugins of an open session; null when it has none. */
  plugins(sessionId: string): SessionPlugins | null;
  /** Calls back with every event of every session; returns the unsubscribe function. */
  subscribe(listener: (event: RuntimeEvent) => void): () => void;
}

/** Who threw, for warnings. */
const LISTENER = 'a subscriber to runtime events';

/** Loads the part of a host that opens sessions, which is most of its code. */
export type ImportSessions = (host: () => SessionHost) => Promise<Sessions>;

/** The composition root: configuration, trust, dialects, engines, trace, sessions. */
export async function openHost(options: HostOptions, load: ImportSessions): Promise<Host> {
  const notice = options.onNotice ?? (() => undefined);
  const sessions = new Map<string, OpenSession>();
  const listeners = new Set<(event: RuntimeEvent) => void>();
  let disposing: AbortController | null = null;
  // Loaded with the first session, because most hosts are opened only to list or fire hooks.
  let loading: Promise<Sessions> | null = null;
  const loadSessions = (): Promise<Sessions> =>
    (loading ??= load(() => ({
      opened,
      options,
      clock: options.clock ?? systemClock,
      sessions,
      engine: engines.own(),
      openEngine: engines.open,
      record: (entry) => engines.record(entry),
      emit: (event) => listeners.forEach((listener) => callObserver(LISTENER, listener, event)),
      notice,
      disposed: (disposing ??= new AbortController()).signal,
    })));
  let hookSandboxes: HookSandboxes | null = null;
  const opened = openHooks({
    ...withHookPorts(options, loadSessions, sessions),
    runInSandbox: (profile) => (hookSandboxes ??= createHookSandboxes(() => opened)).run(profile),
  });
  const engines = createEngines(opened, options, notice, (late) => {
    sessions.get(late.event.sessionId)?.session.receiveLate(late);
  });
  const watching = await startWatching(options.watch ?? false, {
    hookSet: opened.hookSet,
    fire(event) {
      const newest = [...sessions.values()].at(-1);
      return newest?.session.reportConfig(event) ?? engines.own().dispatch(event);
    },
    notice,
  });
  reportHooks(opened, options);
  return {
    ...opened,
    get engine() {
      return engines.own();
    },
    ...createHookMethods(opened),
    ...createSessionMethods(sessions),
    start: async (request) => (await loadSessions()).start(request),
    mcpServers: async () => (await loadSessions()).mcpReport(),
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async dispose() {
      (disposing ??= new AbortController()).abort();
      await (await loading?.catch(() => null))?.close('other');
      // A hook of ConfigChange that still runs would otherwise be waited for.
      await Promise.all([watching?.close(), engines.close()]);
      hookSandboxes?.close();
      opened.claim.release();
    },
  };
}

/** Methods that list hooks in the form that programs read; a unit has one such view until a rescan. */
function createHookMethods(opened: OpenedHooks) {
  const { hookSet } = opened;
  const toListedHook = memoizePerObject(createListedHook);
  return {
    hooks: () =>
      [...hookSet.statuses(), ...listTextExits(opened)]
        .filter(({ found }) => found.unit.isWholeFile !== true)
        .map((status) => ({ ...status, hook: toListedHook(status.found) })),
    madeHooks: () =>
      hookSet.made().map(({ hook, handlers }) => ({ hook: toListedHook(hook), handlers })),
    missingGuards: () => listMissingGuards(opened),
    sandboxMode: () => resolveSandboxMode(opened, undefined),
    ignored: () => [
      ...hookSet.ignored(),
      ...listBrokenFiles(hookSet),
      ...listPlacesBeyondRoots(opened),
    ],
    bashPrelude: () => formatEnvPrelude(opened.stateDirectory, opened.moment().sessionId),
    rescan: () => hookSet.rescan(),
  } satisfies Partial<Host>;
}

/** A file that cannot be parsed has no hooks that could be listed. */
function listBrokenFiles(hookSet: OpenedHooks['hookSet']): readonly Ignored[] {
  return hookSet
    .hooks()
    .flatMap(({ unit: { isWholeFile, path: file, line, problem } }) =>
      isWholeFile === true
        ? [{ path: file, why: `line ${line}: ${problem}`, mayHideHook: true as const }]
        : [],
    );
}

function reportHooks(opened: OpenedHooks, { onNotice, onOwnHookNews = onNotice }: HostOptions) {
  if (onNotice !== undefined) {
    listHookNotices(opened).forEach((text) => onNotice(text));
    reportNewMistakes(opened, onNotice);
  }
  // A change that is not reported must not be recorded as reported.
  if (onOwnHookNews !== undefined) {
    listHomeHookChanges(opened).forEach((text) => onOwnHookNews(text));
  }
}

/** Methods that find a session by its id and call it. */
function createSessionMethods(sessions: Map<string, OpenSession>) {
  const find = (id: string): OpenSession => sessions.get(id) ?? throwUnknownSession(id);
  return {
    send: async (id, prompt) => find(id).session.send(prompt),
    queue: async (id, prompt) => find(id).session.queue(prompt),
    steer: (id, text) => find(id).session.steer(text),
    abort: async (id, reason = 'the run was aborted') => find(id).session.abort(reason),
    session: (id) => find(id).session,
    switchModel: async (id, name, how = {}) =>
      find(id).session.switchModel({ model: name, source: 'sdk', ...how }),
    async end(id, reason = 'other') {
      await find(id).session.close(reason);
      sessions.delete(id);
    },
    plugins: (id) => find(id).plugins(),
  } satisfies Partial<AgentHost>;
}

function throwUnknownSession(id: string): never {
  throw new HooklineError('SESSION_UNKNOWN', {
    message: `session ${JSON.stringify(id)} is not open here`,
    hint: 'Start it, or resume it by its id.',
  });
}

/** Hooks may ask the agent's model, where there is one, and its MCP servers, and call their session. */
function withHookPorts(
  options: HostOptions,
  loadSessions: () => Promise<Sessions>,
  sessions: ReadonlyMap<string, OpenSession>,
): HookSearch {
  const askModel: HookPorts['askModel'] = async (question, signal) =>
    (await loadSessions()).askModel(question, signal);
  return {
    ...options,
    findCallback: (id, hook) => sessions.get(id)?.callbacks.formatAddress(hook) ?? null,
    isAttended: options.isAttended ?? options.person !== undefined,
    ports: {
      ...(options.model === undefined ? {} : { askModel }),
      callMcp: async (call, signal) => (await loadSessions()).callMcp(call, signal),
      ...options.ports,
    },
  };
}

async function startWatching(
  watchOption: boolean | 'soon',
  request: HookWatchOptions,
): Promise<FileWatch | null> {
  if (watchOption === 'soon') return watchHookFilesSoon(request);
  return watchOption ? watchHookFiles(request) : null;
}

/** The engines of a host: its own, and one for each session. They run the same hooks and write one trace. */
interface Engines {
  /** The host's own, opened on first use: most commands only list hooks. */
  readonly own: () => HookEngine;
  /** Opens one that runs further handlers after the hooks that were found; its session closes it. */
  readonly open: (further: HandlerSource) => HookEngine;
  /** Writes what is no dispatch into their trace. */
  readonly record: (entry: () => CallEntry) => void;
  /** Closes the host's own, and settles when the trace of all is written. */
  close(): Promise<void>;
}

function createEngines(
  opened: OpenedHooks,
  options: HostOptions,
  notice: (text: string) => void,
  onLate: (late: LateOutcome) => void,
): Engines {
  const { hookSet, moment, stateDirectory } = opened;
  let own: HookEngine | null = null;
  let started: ReturnType<typeof start> | null = null;
  // Nothing of this is needed, or written, before the first event can be fired.
  function start() {
    const problem = opened.claim.hold();
    if (problem !== null) notice(problem);
    const trace = openTrace(opened, notice);
    const now = (options.clock ?? systemClock).now();
    const pruning = stateDirectory === null ? null : pruneState(stateDirectory, now);
    return { trace, pruning, subscribers: subscribeAll(trace, options, onLate) };
  }
  const openEngine = (further: readonly HandlerSource[]): HookEngine =>
    createHookEngine({
      sources: [hookSet, ...(options.sources ?? []), ...further],
      moment,
      readText: readTextIfReadable,
      subscribers: (started ??= start()).subscribers,
    });
  return {
    own: () => (own ??= openEngine([])),
    open: (further) => openEngine([further]),
    record: (entry) => started?.trace?.record(entry),
    async close() {
      await own?.close();
      await started?.pruning;
      await started?.trace?.close();
    },
  };
}

/** The trace comes first: it must record an answer before another subscriber acts on it. */
function subscribeAll(
  trace: HostTrace | null,
  { onLate, onProgress, onExchange }: HostOptions,
  receiveLate: (late: LateOutcome) => void,
): DispatchSubscribers {
  const subscribers = new DispatchSubscribers();
  if (trace !== null) {
    subscribers.subscribe({
      wantsExchanges: true,
      onDispatch: (record) => trace.record(() => createDispatchEntry(record)),
      onLate: (late) => trace.record(() => createLateEntry(late)),
    });
  }
  subscribers.subscribe({ onLate: receiveLate });
  subscribers.subscribe({ onLate, onProgress });
  if (onExchange !== undefined) subscribers.subscribe(createExchangeSubscriber(onExchange));
  return subscribers;
}

function listPlacesBeyondRoots({ startDirectory, workspaceRoots, surroundings }: OpenedHooks) {
  return findPathsOutsideRoots(startDirectory, { workspaceRoots, home: surroundings.home });
}

/** What the user should know about the state of the hooks. */
export function listHookNotices({ config, trust, hookSet }: OpenedHooks): readonly string[] {
  return [
    ...listDisabledNotice(config),
    ...config.problems,
    ...trust.notices,
    ...limitNotices(listUncountedGuards(hookSet)),
  ];
}

/** Reported, because an event without hooks passes as if all hooks had agreed. */
function listDisabledNotice({ settings, origins }: Config): readonly string[] {
  if (settings['hooks.enabled']) return [];
  const origin = origins['hooks.enabled'];
  return [`hooks are disabled by ${origin}: no hook runs, and no plugin on disk is loaded`];
}

/** Hooks in the user's home run without a trust decision, so changes since the last run are reported. */
function listHomeHookChanges({ hookSet, stateDirectory }: OpenedHooks): readonly string[] {
  if (stateDirectory === null) return [];
  const hooks = hookSet.units().flatMap(({ unit }) => (unit.place === 'home' ? [unit] : []));
  if (hooks.length === 0) return [];
  const scripts = hooks.flatMap(({ line, path: file, binds }) =>
    line === null ? [file] : binds.files,
  );
  const entries = hooks.flatMap(({ id, path: file, binds }) =>
    binds.text === undefined ? [] : [[`${id} in ${file}`, binds.text] as const],
  );
  const detected = detectHomeHookChanges(
    path.join(stateDirectory, 'seen.json'),
    [...new Set(scripts)],
    Object.fromEntries(entries),
  );
  const plugins = new Set(hookSet.plugins().map(({ unit }) => unit.path));
  const changed = detected.changes.map(({ path: file, kind }) => {
    const what = plugins.has(file) ? 'plugin' : 'hook';
    return kind === 'new'
      ? `new ${what} of your own since the last run: ${file}`
      : `your own ${what} changed since the last run: ${file}`;
  });
  return [...changed, ...detected.notes];
}

function readTextIfReadable(file: string): string | null {
  try {
    return readTextIfPresent(file);
  } catch {
    // A tool view without the file's text uses what the call itself contains.
    return null;
  }
}
