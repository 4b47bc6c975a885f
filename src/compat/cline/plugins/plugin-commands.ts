import { statSync } from 'node:fs';
import { dropUndefined } from '../../../base/defined.ts';
import type { BasicLogger } from '../../../plugins/contract/plugin.ts';
import { runCommand } from '../../../plugins/command.ts';
import type { PluginRegistry } from '../../../plugins/registry.ts';
import { resolveAgentPluginPaths } from './plugin-paths.ts';
import type { ResolveAndLoadPlugins } from './load-agent-plugins.ts';
import { setUpAlone } from './plugin-tools.ts';

export interface PluginCommandServiceOptions {
  cwd: string;
  workspacePath?: string;
  logger?: BasicLogger;
}

/** Commands of plugins without a session; the plugins are loaded with the first call. */
export interface PluginCommandService {
  /** Names are in lower case, without a slash. */
  listCommands(): Promise<{ name: string; description?: string }[]>;
  /** Undefined when no plugin has the command. */
  run(name: string, input: string): Promise<{ reply?: string; submitPrompt?: string } | undefined>;
  shutdown(): Promise<void>;
}

export function normalizePluginCommandName(name: string): string {
  return name.trim().replace(/^\//u, '').toLowerCase();
}

const COMMAND_TIMEOUT_MS = 60_000;

export function createPluginCommandFactory(
  resolveAndLoad: ResolveAndLoadPlugins,
): (options: PluginCommandServiceOptions) => PluginCommandService {
  return (options) => createService(options, new WorkspacePlugins(options, resolveAndLoad));
}

function createService(
  options: PluginCommandServiceOptions,
  loaded: WorkspacePlugins,
): PluginCommandService {
  return {
    async listCommands() {
      const { active } = await loaded.get();
      const commands = active.flatMap(({ contributions }) => contributions.commands);
      return commands
        .filter((command) => command.handler !== undefined)
        .map(({ name, description }) => ({
          name: normalizePluginCommandName(name),
          ...dropUndefined({ description }),
        }));
    },
    async run(name, input) {
      const { active } = await loaded.get();
      const result = await runCommand(
        `/${normalizePluginCommandName(name)} ${input}`,
        {
          plugins: active,
          timeoutMs: COMMAND_TIMEOUT_MS,
          onIssue: ({ plugin, message }) => options.logger?.log(`${plugin}: ${message}`),
        },
        new AbortController().signal,
      );
      if (result === null) return undefined;
      return {
        ...(result.reply === null ? {} : { reply: result.reply }),
        ...(result.prompt === null ? {} : { submitPrompt: result.prompt }),
      };
    },
    shutdown: () => loaded.dispose(),
  };
}

/** The plugins of a workspace, set up without a session. */
class WorkspacePlugins {
  readonly #options: PluginCommandServiceOptions;
  readonly #resolveAndLoad: ResolveAndLoadPlugins;
  #current: { readonly fingerprint: string; readonly registry: Promise<PluginRegistry> } | null =
    null;

  constructor(options: PluginCommandServiceOptions, resolveAndLoad: ResolveAndLoadPlugins) {
    this.#options = options;
    this.#resolveAndLoad = resolveAndLoad;
  }

  /** Loads them, and again once their files have changed. */
  async get(): Promise<PluginRegistry> {
    const { cwd, workspacePath = cwd } = this.#options;
    const fingerprint = computeFingerprint(resolveAgentPluginPaths({ cwd, workspacePath }));
    if (this.#current !== null && this.#current.fingerprint !== fingerprint) await this.dispose();
    this.#current ??= { fingerprint, registry: this.#load() };
    return this.#current.registry;
  }

  async dispose(): Promise<void> {
    const last = this.#current;
    this.#current = null;
    await (await last?.registry)?.dispose();
  }

  async #load(): Promise<PluginRegistry> {
    const { cwd, workspacePath = cwd, logger } = this.#options;
    const { extensions, failures } = await this.#resolveAndLoad({ cwd, workspacePath });
    for (const { message } of failures) logger?.log(message);
    return (await setUpAlone(extensions, { rootPath: workspacePath })).registry;
  }
}

function computeFingerprint(files: readonly string[]): string {
  const marks = files.map(
    (file) => `${file} ${statSync(file, { throwIfNoEntry: false })?.mtimeMs}`,
  );
  return marks.join('\n');
}
