import type { CustomProviders } from '../../agent/models/custom-provider.ts';
import type { ModelRequest } from '../../agent/models/model.ts';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { getErrorMessage } from '../../base/errors.ts';
import type { Handler, HandlerSource } from '../../hooks/handler.ts';
import type { CommandReply } from '../../plugins/command.ts';
import type { AgentExtensionCommand } from '../../plugins/contract/plugin.ts';
import { formatIssue, type OnIssue } from '../../plugins/plugin-issue.ts';
import type { PluginStatus } from '../../plugins/registry.ts';
import { computeFingerprint } from './check-plugins.ts';
import type { Generation, PluginSession } from './load-generation.ts';
import type { ModelTarget } from './load-plugins.ts';

export interface SessionPluginsRequest extends Omit<PluginSession, 'onIssue'> {
  /** The model that serves the session now. */
  readonly target: () => ModelTarget;
  readonly notice: (text: string) => void;
  /** Aborts the first loading. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The plugins of one session, from before it is opened until it is closed. While there are none, nothing
 * of their code is loaded, and every list is empty.
 */
export class SessionPlugins implements HandlerSource {
  readonly #request: SessionPluginsRequest & PluginSession;
  #target: ModelTarget;
  #generation: Generation | null = null;
  #generations = 0;
  #fingerprint = '';
  #providers: CustomProviders | null = null;
  #removeProcessPorts: (() => void) | null = null;
  readonly #listeners = new Set<() => void>();

  private constructor(request: SessionPluginsRequest) {
    const { options, notice } = request;
    const report: OnIssue = (issue) => {
      if (issue.isMissingGuard !== true) notice(formatIssue(issue));
    };
    this.#request = { ...request, onIssue: options.onIssue ?? report };
    this.#target = request.target();
  }

  /** Loads and sets up the plugins that there are now. */
  static async open(request: SessionPluginsRequest): Promise<SessionPlugins> {
    const plugins = new SessionPlugins(request);
    if (plugins.#hasAny()) await plugins.#loadFirst(request.signal);
    return plugins;
  }

  /** Whether plugins have been loaded. */
  get isLoaded(): boolean {
    return this.#generation !== null;
  }

  /** All providers of plugins that can serve the session's model; null while there are no plugins. */
  get providers(): CustomProviders | null {
    return this.#providers;
  }

  /** The hooks of all plugins, for the engine of the session. */
  handlers(): readonly Handler[] {
    return this.#generation?.handlers ?? [];
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  tools(): readonly Tool[] {
    return this.#generation?.tools ?? [];
  }

  /** The text of all rules, as they were read when the run began. */
  rules(): string {
    return this.#generation?.rules() ?? '';
  }

  commands(): readonly AgentExtensionCommand[] {
    const active = this.#generation?.registry.active ?? [];
    return active.flatMap(({ contributions }) => contributions.commands);
  }

  async shapeRequest(request: ModelRequest, signal: AbortSignal): Promise<ModelRequest> {
    return this.#generation?.shapeRequest(request, signal) ?? request;
  }

  /** Passes an event of the agent on to `onEvent` of the plugins. */
  notify(event: RuntimeEvent): void {
    this.#generation?.notify(event);
  }

  /** Runs the command that a prompt names; null when no plugin has it. Throws only when the signal aborts. */
  async runCommand(prompt: string, signal: AbortSignal): Promise<CommandReply | null> {
    return this.#generation?.runCommand(prompt, signal) ?? null;
  }

  list(): readonly PluginStatus[] {
    return this.#generation?.registry.list() ?? [];
  }

  /** Directories with skills of plugin packages. */
  skills(): readonly string[] {
    const loaded = this.#generation?.registry.loaded ?? [];
    const directories = loaded.flatMap(({ entry }) => entry?.package?.skills ?? []);
    return [...new Set(directories)];
  }

  /** Reloads changed plugins, and those that are made for the current model; between two runs only. */
  refresh(): Promise<void> {
    return this.#refreshFor(this.#request.target());
  }

  async #refreshFor(target: ModelTarget): Promise<void> {
    const before = this.#generation;
    const { model: lastModel } = this.#target;
    this.#target = target;
    if (before === null) return this.#loadNew();
    const fingerprint = this.#computeFingerprint();
    const isChanged = fingerprint !== this.#fingerprint;
    if (!isChanged && !(await shouldReload(before, target))) return;
    this.#fingerprint = fingerprint;
    const why = isChanged ? 'plugins have changed' : 'another model is used';
    // The first model of a session is not a change.
    await this.#replace(before, { why, isReported: isChanged || lastModel !== null });
  }

  /**
   * Loads the plugins that are made for a model which one of them may serve; between two runs only. The
   * refresh before the next run unloads them when the session stays with another model.
   */
  async loadForModel(provider: string, model: string): Promise<void> {
    const target = { providers: [provider], model };
    const madeForOthers = this.#generation?.registry.madeForOtherModels ?? [];
    const isMissing = this.#providers?.find(provider) === null;
    if (isMissing && (await hasMatch(madeForOthers, target))) await this.#refreshFor(target);
  }

  async close(): Promise<void> {
    const last = this.#generation;
    this.#use(null);
    await last?.close();
    this.#removeProcessPorts?.();
  }

  #hasAny(): boolean {
    const { options, find } = this.#request;
    const { objects = [], extraTools = [], onNews } = options;
    // Events are converted for the embedding program also while there are no plugins.
    const isUsedByProgram = objects.length + extraTools.length > 0 || onNews !== undefined;
    return isUsedByProgram || find().length > 0;
  }

  #computeFingerprint(): string {
    return computeFingerprint(this.#request.find());
  }

  async #loadFirst(signal?: AbortSignal): Promise<void> {
    const { createProviders, installProcessPorts } = await import('./load-generation.ts');
    const remove = installProcessPorts(this.#request);
    try {
      this.#fingerprint = this.#computeFingerprint();
      this.#use(await this.#load(signal));
      this.#providers = createProviders(() => this.#generation?.providers ?? []);
      this.#removeProcessPorts = remove;
    } catch (error) {
      remove();
      throw error;
    }
  }

  async #loadNew(): Promise<void> {
    if (!this.#hasAny()) return;
    await this.#loadFirst().catch((error: unknown) =>
      this.#request.notice(
        `new plugins were found, but cannot be loaded: ${getErrorMessage(error)}`,
      ),
    );
  }

  async #load(signal?: AbortSignal): Promise<Generation> {
    const { loadGeneration } = await import('./load-generation.ts');
    this.#generations += 1;
    return loadGeneration(this.#request, this.#generations, this.#target, signal);
  }

  #use(generation: Generation | null): void {
    this.#generation = generation;
    for (const listener of this.#listeners) listener();
  }

  /** Plugins that worked stay in use when their new version does not load. */
  async #replace(
    before: Generation,
    { why, isReported }: { readonly why: string; readonly isReported: boolean },
  ): Promise<void> {
    const { notice } = this.#request;
    try {
      const next = await this.#load();
      const lost = describeLost(before, next);
      if (lost.length > 0) {
        await next.close();
        notice(`${why} and ${lost.join('; ')}; the session goes on with those it had`);
        return;
      }
      this.#use(next);
      await before.close();
      if (isReported) notice(`${why}, so plugins were loaded again`);
    } catch (error) {
      notice(`${why}, but plugins cannot be loaded again: ${getErrorMessage(error)}`);
    }
  }
}

/** Whether the plugins for this model differ from those in use. */
async function shouldReload({ registry }: Generation, target: ModelTarget): Promise<boolean> {
  const { explainMismatch } = await import('./load-plugins.ts');
  if (await hasMatch(registry.madeForOtherModels, target)) return true;
  return registry.loaded.some(
    ({ entry, plugin }) => entry !== null && explainMismatch(plugin, target) !== null,
  );
}

async function hasMatch(plugins: readonly unknown[], target: ModelTarget): Promise<boolean> {
  if (plugins.length === 0) return false;
  const { explainMismatch } = await import('./load-plugins.ts');
  return plugins.some((plugin) => explainMismatch(plugin, target) === null);
}

/** Plugins that worked and fail now, each with the reason; a deleted file is no failure. */
function describeLost(before: Generation, next: Generation): readonly string[] {
  const worked = new Set(before.registry.loaded.map(({ entry }) => entry?.file));
  const failed = next.registry
    .list()
    .filter(
      ({ state, entry }) => state === 'failed' && entry !== undefined && worked.has(entry.file),
    );
  return failed.map(({ name, lastError }) => `${name} does not load: ${lastError ?? 'it failed'}`);
}
