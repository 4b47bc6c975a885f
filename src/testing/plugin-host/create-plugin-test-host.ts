import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ModelRequest, Model } from '../../agent/models/model.ts';
import { type ScriptTurn, createScriptedModel } from '../../agent/models/scripted.ts';
import { dropUndefined } from '../../base/defined.ts';
import { HooklineError } from '../../base/errors.ts';
import { isInside } from '../../base/paths.ts';
import { readSurroundings } from '../../host/config.ts';
import { createHost, type Host } from '../../host/create-host.ts';
import {
  getTimeLimits,
  type GivenContext,
  type PluginOptions,
} from '../../host/plugins/plugin-options.ts';
import type { Verdict } from '../../hooks/decision.ts';
import type { PluginIssue } from '../../plugins/diagnostic.ts';
import type { AgentRuntimeEvent, HookName } from '../../plugins/contract/runtime-hooks.ts';
import {
  createAgentResult,
  type AgentResult,
  CallLog,
  type ToolCallRecord,
} from '../../compat/cline/session/agent-result.ts';
import { type EventDescription, createEvent } from '../resolve-event.ts';
import { createTempWorkspace, type TempWorkspace } from '../temp-workspace.ts';
import { type PluginContributions, watchPlugin, type WatchedPlugin } from './contributions.ts';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { isRecord } from '../../base/json.ts';
import type { AgentPlugin } from '../../plugins/contract/plugin.ts';
import type { PluginEntry } from '../../plugins/entry.ts';
import { findPluginsAt } from '../../plugins/find/find-plugins.ts';
import { getCacheDirectory } from '../../host/plugins/load-plugins.ts';
import { loadPlugin } from '../../plugins/load/load-plugin.ts';
import { loadProvidedModules } from '../../compat/cline/provided/create-host.ts';

export interface PluginTestOptions {
  /** Files of the workspace, by their paths in it. */
  readonly files?: Readonly<Record<string, string>>;
  /** What `setup` is told, beside or instead of what the session knows. */
  readonly context?: GivenContext;
  /** A plugin that does not keep to its manifest is an error. */
  readonly strict?: boolean;
  /** `throw`: a setup that fails is an error, and a hook that fails refuses. */
  readonly hookErrorMode?: 'ignore' | 'throw';
  readonly hookTimeoutMs?: number;
  readonly importTimeoutMs?: number;
}

/** How a run ended, and what the model was asked in it. */
export interface PluginTestRun extends AgentResult {
  readonly requests: readonly ModelRequest[];
  /** What `onEvent` of plugins heard. */
  readonly events: readonly AgentRuntimeEvent[];
}

/** What a hook is asked about: a tool by any of its names, and whatever else the moment has. */
export type FiredMoment = Omit<EventDescription, 'event' | 'source'>;

/** A session with plugins in it, a home and a workspace of its own, and a model that follows a script. */
export interface PluginTestHost {
  readonly sessionId: string;
  readonly workspace: string;
  readonly home: string;
  /** Runs a prompt; the model says what the script says, and nothing but a text at its end by default. */
  run(prompt: string, script?: readonly ScriptTurn[]): Promise<PluginTestRun>;
  /** Has the model call one tool, past hooks and schemas as in any run. */
  callTool(name: string, input?: unknown): Promise<ToolCallRecord>;
  /** Asks the plugins' hooks about a moment, and merges what they answer. */
  fire(hook: Exclude<HookName, 'onEvent'>, moment?: FiredMoment): Promise<Verdict>;
  /** What each plugin brings, as plain data. */
  contributions(): readonly PluginContributions[];
  /** Whatever a person would be told of the plugins, oldest first. */
  issues(): readonly PluginIssue[];
  /** Ends the session and removes its directories. */
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A real session for tests of plugins; nothing of this machine's hooks, settings or models is seen in it. */
export async function createPluginTestHost(
  given: GivenPlugins,
  options: PluginTestOptions = {},
): Promise<PluginTestHost> {
  const surroundings = readSurroundings();
  const sandbox = await createTempWorkspace({ home: null, roots: [] }, surroundings);
  try {
    const { importTimeoutMs: timeoutMs = getTimeLimits({}).importTimeoutMs } = options;
    const plugins = await loadGivenPlugins(given, surroundings.cwd, (entry) =>
      importPlugin(entry, sandbox.directory, timeoutMs),
    );
    return await openTestHost(plugins.map(watchPlugin), sandbox, options);
  } catch (error) {
    await sandbox.remove();
    throw error;
  }
}

async function openTestHost(
  watched: readonly WatchedPlugin[],
  sandbox: TempWorkspace,
  options: PluginTestOptions,
): Promise<PluginTestHost> {
  const { surroundings } = sandbox;
  const workspace = surroundings.cwd;
  writeFiles(workspace, options.files ?? {});
  const issues: PluginIssue[] = [];
  const events: AgentRuntimeEvent[] = [];
  const model = new TestModel();
  const host = await createHost({
    surroundings,
    cwd: workspace,
    roots: [workspace],
    flags: { 'trace.enabled': false },
    model: model.model,
    toolset: 'cline-sdk',
    permissionMode: 'bypassPermissions',
    systemPrompt: { build: () => '' },
    plugins: {
      ...buildPluginOptions(watched, options),
      onIssue: (issue) => issues.push(issue),
      onNews: (event) => events.push(event),
    },
  });
  const dispose = async (): Promise<void> => {
    await host.dispose();
    await sandbox.remove();
  };
  try {
    const { sessionId } = await host.start({ idle: true });
    const session: TestSession = { host, sessionId, model, events, calls: new CallLog() };
    host.subscribe((event) => session.calls.record(event));
    return {
      sessionId,
      workspace,
      home: surroundings.home ?? workspace,
      run: (prompt, script) => run(session, prompt, script),
      callTool: (name, input) => callTool(session, name, input),
      fire: async (hook, moment = {}) =>
        host.session(sessionId).engine.dispatch(createEvent({ ...moment, event: EVENTS[hook] })),
      contributions: () => listContributions(session, watched),
      issues: () => [...issues],
      dispose,
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await host.dispose();
    throw error;
  }
}

function buildPluginOptions(
  watched: readonly WatchedPlugin[],
  { context, strict, hookErrorMode, hookTimeoutMs }: PluginTestOptions,
): PluginOptions {
  return {
    objects: watched.map(({ plugin }) => plugin),
    discovers: false,
    isStrict: strict === true,
    failsClosed: hookErrorMode === 'throw',
    ...dropUndefined({ hookTimeoutMs }),
    ...(context === undefined ? {} : { context: () => context }),
  };
}

function writeFiles(workspace: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.resolve(workspace, name);
    if (!isInside(workspace, file)) {
      throw new HooklineError('USAGE_INVALID', {
        message: `files should lie in the workspace, found ${JSON.stringify(name)}`,
        hint: 'Name them by their paths below it, such as "src/a.ts".',
      });
    }
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

interface TestSession {
  readonly host: Host;
  readonly sessionId: string;
  readonly model: TestModel;
  readonly events: AgentRuntimeEvent[];
  readonly calls: CallLog;
}

const END: ScriptTurn = { text: 'Done.' };

async function run(
  { host, sessionId, model, events, calls }: TestSession,
  prompt: string,
  script: readonly ScriptTurn[] = [END],
): Promise<PluginTestRun> {
  model.play(script);
  events.length = 0;
  const ended = await host.send(sessionId, prompt);
  const session = host.session(sessionId);
  const result = createAgentResult({
    run: ended,
    calls: calls.list(),
    messages: session.messages(),
    model: session.state().model,
  });
  return { ...result, requests: model.requests, events: [...events] };
}

async function callTool(
  session: TestSession,
  name: string,
  input: unknown = {},
): Promise<ToolCallRecord> {
  const { toolCalls, text } = await run(session, `Call ${name}.`, [
    { tools: [{ name, input }] },
    END,
  ]);
  const [call] = toolCalls;
  if (call !== undefined) return call;
  throw new HooklineError('USAGE_INVALID', {
    message: `the call of ${name} was never made: ${text === '' ? 'the run ended before it' : text}`,
    hint: 'A hook of beforeRun or beforeModel may have ended the run; look at run().',
  });
}

const EVENTS = {
  beforeRun: 'RunStart',
  afterRun: 'RunEnd',
  beforeModel: 'ModelRequest',
  afterModel: 'ModelResponse',
  beforeTool: 'PreToolUse',
  afterTool: 'PostToolUse',
} as const satisfies Record<Exclude<HookName, 'onEvent'>, string>;

function listContributions(
  { host, sessionId }: TestSession,
  watched: readonly WatchedPlugin[],
): readonly PluginContributions[] {
  const statuses = host.plugins(sessionId)?.list() ?? [];
  return watched.map((each) =>
    each.contributions(statuses.find(({ name }) => name === each.plugin.name)),
  );
}

/** A model that follows the script of the run under way, and keeps its requests. */
class TestModel {
  readonly model: Model;
  #playing = createScriptedModel([]);
  #requests: ModelRequest[] = [];

  constructor() {
    this.model = {
      ...this.#playing,
      stream: (request, signal) => {
        this.#requests.push(request);
        return this.#playing.stream(request, signal);
      },
    };
  }

  /** Starts another script; the rest of the one before is dropped. */
  play(script: readonly ScriptTurn[]): void {
    this.#playing = createScriptedModel(script);
    this.#requests = [];
  }

  /** The requests since the script began, oldest first. */
  get requests(): readonly ModelRequest[] {
    return [...this.#requests];
  }
}

/** A plugin, several of them, or where they lie: a file, a package, a directory with plugins. */
export type GivenPlugins = AgentPlugin | readonly AgentPlugin[] | string | URL;

/** The plugins themselves. Throws PLUGIN_INVALID with everything that keeps one from being loaded. */
async function loadGivenPlugins(
  plugins: GivenPlugins,
  cwd: string,
  load: LoadEntry,
): Promise<readonly AgentPlugin[]> {
  if (typeof plugins === 'string') return loadFrom(path.resolve(cwd, plugins), load);
  if (plugins instanceof URL) return loadFrom(fileURLToPath(plugins), load);
  return isList(plugins) ? plugins : [plugins];
}

function isList(plugins: AgentPlugin | readonly AgentPlugin[]): plugins is readonly AgentPlugin[] {
  return Array.isArray(plugins);
}

/** Returns the plugin, or a sentence on what is wrong with it; null for a module that only others import. */
type LoadEntry = (entry: PluginEntry) => Promise<unknown>;

async function loadFrom(file: string, load: LoadEntry): Promise<readonly AgentPlugin[]> {
  const { entries, problems } = findPluginsAt(file);
  const outcomes = await Promise.all(entries.map(load));
  const wrong = [
    ...problems.map(({ message }) => message),
    ...outcomes.filter((each) => typeof each === 'string'),
  ];
  const plugins = outcomes.filter(isPlugin);
  if (wrong.length === 0 && plugins.length > 0) return plugins;
  throw new HooklineError('PLUGIN_INVALID', {
    message: wrong.length === 0 ? `expected a plugin at ${file}, found none` : wrong.join('; '),
    hint: 'A plugin is the default export of its module, or the one named "plugin".',
  });
}

async function importPlugin(
  entry: PluginEntry,
  stateDirectory: string,
  timeoutMs: number,
): Promise<unknown> {
  const provided = await loadProvidedModules();
  const loading = await loadPlugin({
    entry,
    provided,
    cacheDirectory: getCacheDirectory(stateDirectory),
    copy: randomUUID(),
    timeoutMs,
  });
  if (loading.kind === 'helper') return null;
  return loading.kind === 'failed' ? loading.message : loading.plugin;
}

/** Whether it is a good one, the session says. */
function isPlugin(plugin: unknown): plugin is AgentPlugin {
  return isRecord(plugin);
}
