import path from 'node:path';
import { systemClock } from '../base/clock.ts';
import { readTextIfPresent } from '../base/files.ts';
import { envPrelude } from '../dialects/claude-config/handlers/env-file.ts';
import type { Ignored } from '../dialects/dialect.ts';
import { createHookEngine, type HookEngine } from '../hooks/engine.ts';
import type { Moment } from '../hooks/facts.ts';
import type { HandlerSource } from '../hooks/handler.ts';
import type { HandlerProgress, LateOutcome } from '../hooks/observers.ts';
import { entryOfDispatch, entryOfLate } from '../trace/entry.ts';
import { createTraceFile, type TraceFile } from '../trace/jsonl.ts';
import { detectHomeHookChanges } from '../trust/home-hook-changes.ts';
import type { RunResult, RuntimeEvent } from '../agent/runtime-event.ts';
import type { Session } from '../agent/session/session.ts';
import type { AgentOptions } from './agent/agent-options.ts';
import { createAgents } from './agent/agents.ts';
import type { NamedModel, Started, StartRequest } from './agent/sessions.ts';
import type { McpReport } from './mcp/mcp-servers.ts';
import type { SessionPlugins } from './plugins/session-plugins.ts';
import type { Config, Surroundings } from './config.ts';
import { findPathsOutsideRoots } from './workspace.ts';
import {
  watchHookFiles,
  watchHookFilesSoon,
  type HookWatchOptions,
  type FileWatch,
} from './watch-hook-files.ts';
import type { HookSet, HookStatus, MadeHook } from './hook-set.ts';
import type { HookSearch } from './hook-search.ts';
import { openHooks, type OpenedHooks } from './open-hooks.ts';
import { pruneState } from './prune-state.ts';
import { redactTexts } from './redact.ts';
import type { Trust } from './trust.ts';

export interface HostOptions extends HookSearch, AgentOptions {
  /** Handlers of the host's own, after those of the dialects. */
  readonly sources?: readonly HandlerSource[];
  /** Looks again when hook files change. `soon` does not make the host wait until it can. */
  readonly watch?: boolean | 'soon';
  readonly onLate?: (late: LateOutcome) => void;
  readonly onProgress?: (progress: HandlerProgress) => void;
  /** Told in words about whatever a person should know that is no answer to anything. */
  readonly onNotice?: (notice: string) => void;
  /** Told instead of `onNotice` which of the person's own hooks changed: each change once. */
  readonly onOwnHookNews?: (news: string) => void;
}

export interface Host extends AgentHost {
  readonly config: Config;
  readonly engine: HookEngine;
  readonly trust: Trust;
  readonly workspaceRoots: readonly string[];
  /** Where the session was opened, real path. */
  readonly startDirectory: string;
  readonly surroundings: Surroundings;
  readonly stateDirectory: string | null;
  /** Every hook that was found, and whether it would run. */
  hooks(): readonly HookStatus[];
  /** Every hook with the handlers that it runs as. */
  madeHooks(): readonly MadeHook[];
  ignored(): readonly Ignored[];
  /** What every event fired now would carry. */
  moment(): Moment;
  /** Shell text to run before a Bash command of the agent: what hooks of the session left for it. */
  bashPrelude(): string;
  /** Looks for hooks again. */
  rescan(): void;
  /** Ends every session and what still runs, and writes what is still to be written. */
  dispose(): Promise<void>;
}

/** Runs agents, each in a session of its own. Nothing of it is loaded before the first one. */
interface AgentHost {
  /** Opens a session, or a stored one again, and runs the prompt. */
  start(request: StartRequest): Promise<Started>;
  /** A further prompt. */
  send(sessionId: string, prompt: string): Promise<RunResult>;
  /** A further prompt, once the run under way has ended. A hook may call it, and must not await it. */
  queue(sessionId: string, prompt: string): Promise<RunResult>;
  /** Says something to an agent while it works; false when it does not. */
  steer(sessionId: string, text: string): boolean;
  /** Ends the run under way; whoever started it learns when it is over. A hook may call it, too. */
  abort(sessionId: string, reason?: string): Promise<void>;
  /** An open session: its messages, its state, and what else it can do. */
  session(sessionId: string): Session;
  /** Asks hooks, then goes on with another model, by name; a sentence says why not. */
  switchModel(
    sessionId: string,
    name: string,
    how?: Partial<Omit<NamedModel, 'name'>>,
  ): Promise<string | null>;
  /** Starts the MCP servers that may start, and tells what became of each. */
  mcpServers(): Promise<McpReport>;
  /** Closes one session, and tells its hooks why. */
  end(sessionId: string, reason?: string): Promise<void>;
  /** The plugins of an open session; null when it has none. */
  plugins(sessionId: string): SessionPlugins | null;
  /** Calls back with everything that happens in any session; returns the way to stop. */
  subscribe(listener: (event: RuntimeEvent) => void): () => void;
}

/** Joins everything: configuration, trust, dialects, engine, trace. The only place that knows them all. */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  const notice = options.onNotice ?? (() => undefined);
  const agents = createAgents(options, notice);
  const opened = openHooks(agents.search);
  const { hookSet } = opened;
  let running: Running | null = null;
  // Made when it is first asked for: most commands only look at hooks.
  const engine = (): HookEngine => {
    const sources = [...(options.sources ?? []), agents.pluginSource];
    running ??= startEngine(opened, { ...agents.observing, sources }, openTrace(opened, notice));
    return running.engine;
  };
  agents.join(opened, engine);
  const watching = await watchAs(options.watch ?? false, {
    hookSet,
    fire: (event) => agents.fire(event) ?? engine().dispatch(event),
    notice,
  });
  for (const news of noticesOf(opened)) notice(news);
  // What is told to nobody must not be remembered as told.
  const tellNews = options.onOwnHookNews ?? options.onNotice;
  if (tellNews !== undefined) homeNews(opened).forEach((news) => tellNews(news));
  return {
    ...opened,
    get engine() {
      return engine();
    },
    hooks: () => hookSet.statuses(),
    madeHooks: () => hookSet.made(),
    ignored: () => [...hookSet.ignored(), ...beyondRoots(opened)],
    bashPrelude: () => envPrelude(opened.stateDirectory, opened.moment().sessionId),
    rescan: () => hookSet.rescan(),
    ...agents.host,
    async dispose() {
      await agents.close();
      // A hook of ConfigChange that still runs would otherwise be waited for.
      await Promise.all([watching?.close(), running?.engine.close()]);
      await running?.pruning;
      await running?.trace?.flush();
    },
  };
}

async function watchAs(
  wanted: boolean | 'soon',
  request: HookWatchOptions,
): Promise<FileWatch | null> {
  if (wanted === 'soon') return watchHookFilesSoon(request);
  return wanted ? watchHookFiles(request) : null;
}

interface Running {
  readonly engine: HookEngine;
  readonly trace: TraceFile | null;
  readonly pruning: Promise<unknown>;
}

function startEngine(
  { hookSet, moment, stateDirectory }: OpenedHooks,
  options: HostOptions,
  trace: TraceFile | null,
): Running {
  const engine = createHookEngine({
    sources: [hookSet, ...(options.sources ?? [])],
    moment,
    readText: readTextQuietly,
    onDispatch: (record) => trace?.record(() => entryOfDispatch(record)),
    onLate: (late) => {
      trace?.record(() => entryOfLate(late));
      options.onLate?.(late);
    },
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  });
  const now = (options.clock ?? systemClock).now();
  const pruning = stateDirectory === null ? Promise.resolve() : pruneState(stateDirectory, now);
  return { engine, trace, pruning };
}

/** The trace that `hooks stats` reads; null when it is switched off or has no place. */
export function openTrace(
  { config: { settings }, stateDirectory }: Pick<OpenedHooks, 'config' | 'stateDirectory'>,
  onProblem: (message: string) => void,
): TraceFile | null {
  if (!settings['trace.enabled'] || stateDirectory === null) return null;
  return createTraceFile({
    directory: path.join(stateDirectory, 'trace'),
    maxFileBytes: settings['trace.maxFileBytes'],
    maxFiles: settings['trace.maxFiles'],
    redact: redactTexts,
    onProblem,
  });
}

function beyondRoots({ startDirectory, workspaceRoots, surroundings }: OpenedHooks) {
  return findPathsOutsideRoots(startDirectory, { workspaceRoots, home: surroundings.home });
}

/** What a person should know of the state that the hooks are in. */
export function noticesOf({ config, trust, hookSet }: OpenedHooks): readonly string[] {
  return [
    ...switchedOff(config),
    ...config.problems,
    ...trust.notices,
    ...unreadablePlaces(hookSet),
  ];
}

/** Every event passes then, which must not look as if all hooks had agreed. */
function switchedOff({ settings, origins }: Config): readonly string[] {
  if (settings['hooks.enabled']) return [];
  const origin = origins['hooks.enabled'];
  return [`hooks are switched off by ${origin}: none is run, and no plugin on disk is loaded`];
}

function unreadablePlaces(hookSet: HookSet): readonly string[] {
  const places = hookSet.ignored().filter(({ mayHideHook }) => mayHideHook);
  return places.map(({ path: place, why }) => `a hook may be missing: ${place} ${why}`);
}

/** A person's own hooks run because of where they lie, so a change since the last run is said aloud. */
function homeNews({ hookSet, stateDirectory }: OpenedHooks): readonly string[] {
  if (stateDirectory === null) return [];
  const hooks = hookSet.found().filter(({ place }) => place === 'home');
  if (hooks.length === 0) return [];
  const scripts = hooks.flatMap(({ line, path: file, binds }) =>
    line === null ? [file] : binds.files,
  );
  const entries = hooks.flatMap(({ id, path: file, binds }) =>
    binds.text === undefined ? [] : [[`${id} in ${file}`, binds.text] as const],
  );
  const news = detectHomeHookChanges(
    path.join(stateDirectory, 'seen.json'),
    [...new Set(scripts)],
    Object.fromEntries(entries),
  );
  const plugins = new Set(hooks.flatMap((hook) => (hook.plugin === undefined ? [] : hook.path)));
  const changed = news.changes.map(({ path: file, kind }) => {
    const what = plugins.has(file) ? 'plugin' : 'hook';
    return kind === 'new'
      ? `new ${what} of your own since the last run: ${file}`
      : `your own ${what} changed since the last run: ${file}`;
  });
  return [...changed, ...news.notes];
}

function readTextQuietly(file: string): string | null {
  try {
    return readTextIfPresent(file);
  } catch {
    // A face that cannot have the file's text uses what the call itself shows.
    return null;
  }
}
