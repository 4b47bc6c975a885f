import type { CustomProviders } from '../../agent/models/custom-provider.ts';
import type { ModelRequest } from '../../agent/models/model.ts';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { getErrorMessage } from '../../base/errors.ts';
import type { CommandReply } from '../../plugins/command.ts';
import type { AgentExtensionCommand } from '../../plugins/contract/plugin.ts';
import type { PluginStatus } from '../../plugins/registry.ts';
import { fingerprintOf } from './fingerprint.ts';
import { calledName, type LoadedPlugins, type ModelTarget, whyNotMeant } from './load-plugins.ts';
import { offerPluginHost } from './process/plugin-host-global.ts';
import type { PluginSource } from './plugin-source.ts';
import { createProviders } from './contributions/providers.ts';
import { redirectConsole } from './process/redirect-console.ts';
import { openRound, type Round, type RoundRequest } from './round.ts';

export interface SessionPluginsRequest extends Omit<RoundRequest, 'onIssue'> {
  readonly target: ModelTarget;
  readonly source: PluginSource;
  readonly notice: (text: string) => void;
}

/** The plugins of one session, from before it is opened until it is closed. */
export interface SessionPlugins {
  /** All that can serve its model beside Hookline's own. */
  readonly providers: CustomProviders;
  tools(): readonly Tool[];
  /** What rules say, as they were read when the run began. */
  rules(): string;
  commands(): readonly AgentExtensionCommand[];
  shapeRequest(request: ModelRequest, signal: AbortSignal): Promise<ModelRequest>;
  hear(event: RuntimeEvent): void;
  /** Throws only when the signal aborts. */
  command(prompt: string, signal: AbortSignal): Promise<CommandReply | null>;
  list(): readonly PluginStatus[];
  /** Directories with skills that packages bring. */
  skills(): readonly string[];
  /** Loads again what has changed since, and what is made for another model; between two runs only. */
  refresh(target: ModelTarget): Promise<void>;
  /**
   * Loads those that are made for a model which one of them may serve; between two runs only. What
   * becomes of it is looked at before the next run: who stays with another model gets back what was.
   */
  bring(provider: string, model: string): Promise<void>;
  close(): Promise<void>;
}

/** Loads and sets up the plugins of a session, and has the engine ask their hooks. */
export async function openSessionPlugins(request: SessionPluginsRequest): Promise<SessionPlugins> {
  const plugins = new PluginsInSession(request);
  await plugins.open();
  return plugins;
}

class PluginsInSession implements SessionPlugins {
  readonly providers: CustomProviders;
  readonly #request: SessionPluginsRequest & RoundRequest;
  readonly #withdrawals: readonly (() => void)[];
  #target: ModelTarget;
  #rounds = 0;
  #now: Round | null = null;
  #fingerprint = '';

  constructor(given: SessionPluginsRequest) {
    const { sessionId, options, notice } = given;
    const { onIssue = ({ plugin, message }) => notice(`plugin ${plugin}: ${message}`) } = options;
    this.#request = { ...given, onIssue };
    this.#target = given.target;
    this.providers = createProviders(() => this.#now?.providers ?? []);
    const emitEvent = options.context?.(sessionId).emitEvent ?? given.emitEvent;
    this.#withdrawals = [
      offerPluginHost({ sessionId, emitEvent }),
      ...(options.onConsole === undefined ? [] : [redirectConsole(options.onConsole)]),
    ];
  }

  async open(): Promise<void> {
    try {
      this.#fingerprint = this.#look();
      this.#use(await this.#load());
    } catch (error) {
      this.#withdraw();
      throw error;
    }
  }

  #withdraw(): void {
    for (const withdraw of this.#withdrawals) withdraw();
  }

  #look(): string {
    return fingerprintOf(this.#request.opened, this.#request.options);
  }

  #load(): Promise<Round> {
    this.#rounds += 1;
    return openRound(this.#request, { round: this.#rounds, target: this.#target });
  }

  #use(round: Round): void {
    const { source, sessionId } = this.#request;
    this.#now = round;
    source.put(sessionId, round.plugins.source.handlers());
  }

  tools(): readonly Tool[] {
    return this.#now?.plugins.tools ?? [];
  }

  rules(): string {
    return this.#now?.plugins.rules() ?? '';
  }

  commands(): readonly AgentExtensionCommand[] {
    const active = this.#now?.plugins.registry.active ?? [];
    return active.flatMap(({ contributions }) => contributions.commands);
  }

  async shapeRequest(request: ModelRequest, signal: AbortSignal): Promise<ModelRequest> {
    return this.#now?.plugins.shapeRequest(request, signal) ?? request;
  }

  hear(event: RuntimeEvent): void {
    this.#now?.plugins.hear(event);
  }

  async command(prompt: string, signal: AbortSignal): Promise<CommandReply | null> {
    return this.#now?.plugins.command(prompt, signal) ?? null;
  }

  list(): readonly PluginStatus[] {
    return this.#now === null ? [] : statusesIn(this.#now);
  }

  skills(): readonly string[] {
    const loaded = this.#now?.found.loaded ?? [];
    const directories = loaded.flatMap(({ entry }) => entry.package?.skills ?? []);
    return [...new Set(directories)];
  }

  async refresh(target: ModelTarget): Promise<void> {
    const before = this.#now;
    const { model: last } = this.#target;
    this.#target = target;
    if (before === null) return;
    const looked = this.#look();
    const isChanged = looked !== this.#fingerprint;
    if (!isChanged && !meansOthers(before, target)) return;
    this.#fingerprint = looked;
    const why = isChanged ? 'plugins have changed' : 'another model is used';
    // Of the first one nobody knew before.
    await this.#replace(before, { why, isTold: isChanged || last !== null });
  }

  async bring(provider: string, model: string): Promise<void> {
    const target = { providers: [provider], model };
    const skipped = this.#now?.found.skipped ?? [];
    const isMeant = skipped.some((plugin) => whyNotMeant(plugin, target) === null);
    if (isMeant && this.providers.find(provider) === null) await this.refresh(target);
  }

  /** What does not load any more does not take away what worked. */
  async #replace(before: Round, { why, isTold }: Replacing): Promise<void> {
    const { notice } = this.#request;
    try {
      const next = await this.#load();
      const lost = lostSince(before, next);
      if (lost.length > 0) {
        await next.close();
        notice(`${why} and ${lost.join('; ')}; the session goes on with those it had`);
        return;
      }
      this.#use(next);
      await before.close();
      if (isTold) notice(`${why}, so plugins were loaded again`);
    } catch (error) {
      notice(`${why}, but plugins cannot be loaded again: ${getErrorMessage(error)}`);
    }
  }

  async close(): Promise<void> {
    const { source, sessionId } = this.#request;
    const last = this.#now;
    this.#now = null;
    source.put(sessionId, []);
    await last?.close();
    this.#withdraw();
  }
}

interface Replacing {
  readonly why: string;
  readonly isTold: boolean;
}

function statusesIn({ plugins, found }: Round): readonly PluginStatus[] {
  return [...plugins.registry.list().map((status) => withEntry(status, found)), ...found.left];
}

function withEntry(status: PluginStatus, { loaded }: LoadedPlugins): PluginStatus {
  const from = loaded.find((each) => calledName(each) === status.name);
  return from === undefined ? status : { ...status, entry: from.entry };
}

/** Whether with this model other plugins are meant than those that are used. */
function meansOthers({ found: { loaded, skipped } }: Round, target: ModelTarget): boolean {
  const isMeant = (plugin: unknown): boolean => whyNotMeant(plugin, target) === null;
  return skipped.some(isMeant) || loaded.some(({ plugin }) => !isMeant(plugin));
}

/** Those that worked and do not now, each with what is wrong; a file that is gone is meant to be. */
function lostSince(before: Round, next: Round): readonly string[] {
  const worked = new Set(before.found.loaded.map(({ entry }) => entry.file));
  const failed = statusesIn(next).filter(
    ({ state, entry }) => state === 'failed' && entry !== undefined && worked.has(entry.file),
  );
  return failed.map(({ name, lastError }) => `${name} does not load: ${lastError ?? 'it failed'}`);
}
