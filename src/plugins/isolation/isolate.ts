import { setMaxListeners } from 'node:events';
import { getErrorMessage } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { clampTimerDelay } from '../../base/abort.ts';
import type { Environment } from '../../process/environment.ts';
import type { BasicLogger, WorkspaceInfo } from '../contract/plugin.ts';
import type { PluginEntry } from '../entry.ts';
import { LoadedPlugin } from '../loaded-plugin.ts';
import { type OnIssue, createUncaughtIssues } from '../plugin-issue.ts';
import type { Loading } from '../load/loading.ts';
import { ContextSerializer } from './serialize-context.ts';
import { createRemotePlugin } from './remote-plugin.ts';
import { Link } from './link.ts';
import { EventForwarder } from './event-forwarder.ts';
import { Ports } from './ports.ts';
import { type ChildProgram, findChildProgram, PluginProcess } from './plugin-process.ts';
import { SentLists } from './wire/list-delta-cache.ts';
import { serializeValue, deserializeValue } from './wire/serialize.ts';
import type { FromChild, LoadedForm } from './wire/protocol.ts';

export interface IsolationRequest {
  readonly entry: PluginEntry;
  /** The working directory of the session. */
  readonly cwd: string;
  /** The environment of the plugin's process, without the API keys of providers. */
  readonly environment: Readonly<Environment>;
  /** Where transpiled modules are cached; null disables the cache. */
  readonly cacheDirectory: string | null;
  readonly importTimeoutMs: number;
  readonly setupTimeoutMs: number;
  /** The time limit of a hook, a rule, a command or a message builder; tools set their own. */
  readonly hookTimeoutMs: number;
  /** The time limit of the plugin's dispose functions. */
  readonly disposeTimeoutMs: number;
  readonly isStrict: boolean;
  readonly workspaceInfo?: WorkspaceInfo | undefined;
  /** Aborts the import; it has no effect later. */
  readonly signal?: AbortSignal | undefined;
  /** Gets what the plugin prints. */
  readonly logger?: BasicLogger | undefined;
  readonly onIssue: OnIssue;
  /** The program of the plugin's process, when it is not the one of this copy of Hookline. */
  readonly program?: ChildProgram;
}

/** How long a process may take to start, before the time limit of the import begins. */
const START_MS = 30_000;
/** The child process ends a slow import itself, unless an endless loop blocks it. */
const IMPORT_GRACE_MS = 500;
/** How long the process may take to exit after its dispose functions have run. */
const EXIT_MS = 1000;

/**
 * Imports a plugin in its own process. It is used like a plugin of this process, and a crash there breaks
 * no other plugin. Once it is set up, its `ctx.onDispose` ends the process, too.
 */
export async function loadIsolated(request: IsolationRequest): Promise<Loading> {
  try {
    return await new Isolation(request).load();
  } catch (error) {
    return { kind: 'failed', message: getErrorMessage(error) };
  }
}

class Isolation {
  readonly #request: IsolationRequest;
  readonly #lists = new SentLists();
  readonly #serializer = new ContextSerializer(this.#lists);
  readonly #link: Link;
  readonly #forwarder: EventForwarder;
  readonly #ports: Ports;
  readonly #reportUncaught: (error: unknown) => void;
  #name: string;
  /** How the process ended, when that was not expected. */
  #lost: string | null = null;
  #onReady: () => void = () => undefined;
  #ending: Promise<void> | null = null;
  #isLoaded = false;
  #isActive = false;

  constructor(request: IsolationRequest) {
    this.#request = request;
    this.#name = request.entry.label;
    this.#reportUncaught = createUncaughtIssues(() => this.#name, request.onIssue);
    this.#forwarder = new EventForwarder({
      serializer: this.#serializer,
      send: (message) => this.#link.send(message),
      timeoutMs: request.hookTimeoutMs,
      onStuck: () => {
        if (!this.#link.hasWaitingCalls()) this.#link.check();
      },
      onDropped: (count) =>
        this.#report('warning', `onEvent does not keep up; so far ${count} events are left out`),
    });
    this.#ports = new Ports(
      () => this.#name,
      (message) => this.#link.send(message),
    );
    this.#link = this.#openLink();
  }

  #openLink(): Link {
    const { program = findChildProgram(), cwd, environment } = this.#request;
    return new Link({
      name: () => this.#name,
      start: (on) =>
        new PluginProcess({
          ...on,
          program,
          cwd,
          environment,
          onLine: (stream, line) => this.#print(stream, line),
        }),
      onMessage: (message) => this.#receive(message),
      beforeCall: () => this.#forwarder.flush(),
      onUnsent: () => this.#lists.clear(),
      onEnded: (sentence, isExpected) => {
        this.#forwarder.close(isExpected ? null : sentence);
        if (isExpected) return;
        this.#lost = sentence;
        // Before the setup, the caller of the setup gets this error.
        if (this.#isActive) this.#report('error', sentence);
      },
    });
  }

  async load(): Promise<Loading> {
    const loaded = await this.#import();
    const end = (): Promise<void> => this.#end().catch(() => undefined);
    const { entry, onIssue } = this.#request;
    const process = { end, readExit: () => this.#lost };
    if (loaded.kind !== 'loaded') void end();
    switch (loaded.kind) {
      case 'helper':
      case 'failed':
        return loaded;
      case 'other':
        return new LoadedPlugin(loaded.value, entry, onIssue, process);
      case 'loaded': {
        this.#isLoaded = true;
        const { name } = loaded.fields;
        if (typeof name === 'string' && name.trim() !== '') this.#name = name;
        const plugin = createRemotePlugin(loaded, this.#createServices());
        // A disabled plugin is never set up.
        if (loaded.fields['disabled'] === true) void end();
        return new LoadedPlugin(plugin, entry, onIssue, process);
      }
    }
  }

  #createServices() {
    const { hookTimeoutMs, setupTimeoutMs, isStrict } = this.#request;
    return {
      link: this.#link,
      lists: this.#lists,
      serializer: this.#serializer,
      forwarder: this.#forwarder,
      ports: this.#ports,
      timeoutMs: hookTimeoutMs,
      setupTimeoutMs,
      isStrict,
      onWarning: (message: string) => this.#report('warning', message),
      onActive: () => void (this.#isActive = true),
      end: () => this.#end(),
    };
  }

  async #import(): Promise<LoadedForm> {
    const { entry, cacheDirectory, importTimeoutMs, cwd, workspaceInfo, signal } = this.#request;
    let limit = this.#killAfter(START_MS, `did not start within ${START_MS} ms`);
    this.#onReady = () => {
      clearTimeout(limit);
      const what = `did not end its import within ${importTimeoutMs} ms`;
      limit = this.#killAfter(importTimeoutMs + IMPORT_GRACE_MS, what);
    };
    const abortImport = (): void => this.#link.kill('was given up while it was imported');
    // Many plugins are imported at once, and Node.js would warn of too many listeners.
    if (signal !== undefined) setMaxListeners(0, signal);
    signal?.addEventListener('abort', abortImport);
    if (signal?.aborted === true) abortImport();
    try {
      const { value } = await this.#link.ask({
        type: 'load',
        entry,
        cacheDirectory,
        timeoutMs: importTimeoutMs,
        cwd,
        workspaceInfo: serializeValue(workspaceInfo),
      });
      const loaded = deserializeValue(value);
      return isLoadedForm(loaded)
        ? loaded
        : { kind: 'failed', message: 'it did not say what it is' };
    } finally {
      clearTimeout(limit);
      signal?.removeEventListener('abort', abortImport);
    }
  }

  #killAfter(ms: number, what: string): NodeJS.Timeout {
    return setTimeout(() => this.#link.kill(`${what} and was ended`), clampTimerDelay(ms));
  }

  #end(): Promise<void> {
    this.#ending ??= this.#dispose();
    return this.#ending;
  }

  async #dispose(): Promise<void> {
    const { disposeTimeoutMs: timeoutMs } = this.#request;
    if (this.#link.getEnding() !== null) return;
    try {
      if (this.#isLoaded) await this.#link.ask({ type: 'dispose' }, { timeoutMs });
    } catch (error) {
      // The lost process is reported once.
      if (this.#lost === null) throw error;
    } finally {
      await this.#link.end(EXIT_MS);
    }
  }

  #receive(message: FromChild): void {
    switch (message.kind) {
      case 'ready':
        this.#onReady();
        return;
      case 'delivered':
        this.#forwarder.confirm();
        return;
      case 'event-failed':
        this.#forwarder.fail(deserializeValue(message.error));
        return;
      case 'notify':
        this.#ports.notify(message);
        return;
      case 'request':
        void this.#ports.answer(message, message.id);
        return;
      case 'uncaught':
        this.#reportUncaught(deserializeValue(message.error));
        break;
      default:
    }
  }

  #report(level: 'warning' | 'error', message: string): void {
    const phase = level === 'error' ? 'uncaught' : 'hook';
    this.#request.onIssue({ plugin: this.#name, phase, level, message });
  }

  #print(stream: 'stdout' | 'stderr', line: string): void {
    const { logger } = this.#request;
    const metadata = { pluginName: this.#name };
    const log = async (): Promise<void> => {
      if (stream === 'stderr' && logger?.error !== undefined) logger.error(line, metadata);
      else logger?.log(line, metadata);
    };
    // When the logger itself fails, there is no other place to report it.
    log().catch(() => undefined);
  }
}

/** The child process runs our own code, so only the type is narrowed. */
function isLoadedForm(loaded: unknown): loaded is LoadedForm {
  return isRecord(loaded) && typeof loaded['kind'] === 'string';
}
