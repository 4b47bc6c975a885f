import { toKeptMessages } from '../../plugins/messages/provider-messages.ts';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ModelRequest, Model } from '../../agent/models/model.ts';
import { type ScriptTurn, createScriptedModel } from '../../agent/models/scripted.ts';
import { dropUndefined } from '../../base/defined.ts';
import { HooklineError } from '../../base/errors.ts';
import { isInside } from '../../base/paths.ts';
import { getStateDirectory, readSurroundings } from '../../host/surroundings.ts';
import { acquireProcessClaim } from '../../trust/claims.ts';
import { createHost, type Host } from '../../host/create-host.ts';
import {
  getTimeLimits,
  type GivenContext,
  type PluginOptions,
} from '../../host/plugins/plugin-options.ts';
import type { Verdict } from '../../hooks/decision.ts';
import type { PluginIssue } from '../../plugins/plugin-issue.ts';
import type { AgentRuntimeEvent, HookName } from '../../plugins/contract/runtime-hooks.ts';
import {
  createAgentResult,
  type AgentResult,
  CallLog,
  type ToolCallRecord,
} from '../../compat/cline/session/agent-result.ts';
import { type EventDescription, resolveEvent } from '../resolve-event.ts';
import { createTempWorkspace, type TempWorkspace } from '../temp-workspace.ts';
import { type PluginContributions, watchPlugin, type WatchedPlugin } from './contributions.ts';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { isRecord } from '../../base/json.ts';
import type { AgentPlugin } from '../../plugins/contract/plugin.ts';
import type { PluginEntry } from '../../plugins/entry.ts';
import { findPluginModulesAt } from '../../plugins/find/find-modules.ts';
import { getCacheDirectory } from '../../host/plugins/load-plugins.ts';
import { loadPlugin } from '../../plugins/load/load-plugin.ts';
import { loadProvidedModules } from '../../compat/cline/provided/create-host-with-cline.ts';

export interface PluginTestOptions {
  /** Files of the workspace, by relative path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Fields of the setup context that are added or replaced. */
  readonly context?: GivenContext;
  /** Whether a plugin that breaks rules of its manifest is refused; true by default. False warns, as sessions do. */
  readonly strict?: boolean;
  /** `throw`: a failing setup is an error, and a failing hook refuses. */
  readonly hookErrorMode?: 'ignore' | 'throw';
  readonly hookTimeoutMs?: number;
  readonly importTimeoutMs?: number;
}

/** The result of a run, and the model requests in it. */
export interface PluginTestRun extends AgentResult {
  readonly requests: readonly ModelRequest[];
  /** The events that `onEvent` of plugins got. */
  readonly events: readonly AgentRuntimeEvent[];
}

/** The facts of an event: a tool by any of its names, and other fields of the event. */
export type FiredMoment = Omit<EventDescription, 'event' | 'source'>;

/** A session with plugins, its own home and workspace, and a scripted model. */
export interface PluginTestHost {
  readonly sessionId: string;
  readonly workspace: string;
  readonly home: string;
  /** Runs a prompt; the model answers with the script, and by default with a final text. */
  run(prompt: string, script?: readonly ScriptTurn[]): Promise<PluginTestRun>;
  /** Has the model call one tool, with hooks and schemas as in any run. */
  callTool(name: string, input?: unknown): Promise<ToolCallRecord>;
  /** Fires an event at the plugins' hooks, and merges their answers. */
  fire(hook: Exclude<HookName, 'onEvent'>, moment?: FiredMoment): Promise<Verdict>;
  /** The contributions of each plugin, as plain data. */
  contributions(): readonly PluginContributions[];
  /** The reported problems of plugins, oldest first. */
  issues(): readonly PluginIssue[];
  /** Ends the session and removes its directories. */
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Creates a real session for tests of plugins, without this machine's hooks, settings or models. */
export async function createPluginTestHost(
  pluginsOrPath: GivenPlugins,
  options: PluginTestOptions = {},
): Promise<PluginTestHost> {
  const surroundings = readSurroundings();
  const tempWorkspace = await createTempWorkspace({ home: null, roots: [] }, surroundings);
  try {
    const { importTimeoutMs: timeoutMs } = getTimeLimits(options, surroundings.env);
    const plugins = await loadGivenPlugins(pluginsOrPath, surroundings.cwd, (entry) =>
      importPlugin(entry, tempWorkspace.directory, timeoutMs),
    );
    return await openTestHost(plugins.map(watchPlugin), tempWorkspace, options);
  } catch (error) {
    await tempWorkspace.remove();
    throw error;
  }
}

async function openTestHost(
  watched: readonly WatchedPlugin[],
  tempWorkspace: TempWorkspace,
  options: PluginTestOptions,
): Promise<PluginTestHost> {
  const { surroundings } = tempWorkspace;
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
    await tempWorkspace.remove();
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
        host.session(sessionId).engine.dispatch(resolveEvent({ ...moment, event: EVENTS[hook] })),
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
  { context, strict = true, hookErrorMode, hookTimeoutMs }: PluginTestOptions,
): PluginOptions {
  return {
    objects: watched.map(({ plugin }) => plugin),
    discovers: false,
    isStrict: strict,
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
    messages: toKeptMessages(session.messages()),
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
    hint: 'A hook of beforeRun or beforeModel may have ended the run; check run().',
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

/** A model that follows the script of the current run, and records its requests. */
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

  /** Starts another script; the rest of the previous one is dropped. */
  play(script: readonly ScriptTurn[]): void {
    this.#playing = createScriptedModel(script);
    this.#requests = [];
  }

  /** The requests since the script began, oldest first. */
  get requests(): readonly ModelRequest[] {
    return [...this.#requests];
  }
}

/** A plugin, several plugins, or a path to them: a file, a package, a directory with plugins. */
export type GivenPlugins = AgentPlugin | readonly AgentPlugin[] | string | URL;

/** Loads the plugins. Throws PLUGIN_INVALID with all problems. */
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

/** Returns the plugin, or a sentence about its problem; null for a helper module. */
type LoadEntry = (entry: PluginEntry) => Promise<unknown>;

async function loadFrom(file: string, load: LoadEntry): Promise<readonly AgentPlugin[]> {
  const { entries, problems } = findPluginModulesAt(file);
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
  acquireProcessClaim(getStateDirectory(readSurroundings()));
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

/** The session validates the manifest. */
function isPlugin(plugin: unknown): plugin is AgentPlugin {
  return isRecord(plugin);
}
