import { statSync } from 'node:fs';
import type { BasicLogger } from '../../../plugins/contract/plugin.ts';
import { runCommand } from '../../../plugins/command.ts';
import type { PluginRegistry } from '../../../plugins/registry.ts';
import { resolveAgentPluginPaths } from './find-plugins.ts';
import type { PluginLoading } from './load-plugins.ts';
import { setUpAlone } from './plugin-tools.ts';

export interface PluginCommandServiceOptions {
  cwd: string;
  workspacePath?: string;
  logger?: BasicLogger;
}

export interface PluginSlashCommand {
  /** In small letters, without a slash. */
  name: string;
  description?: string;
}

export interface PluginCommandResult {
  reply?: string;
  submitPrompt?: string;
}

/** Commands of plugins without a session; the plugins are loaded when the first is asked for. */
export interface PluginCommandService {
  listCommands(): Promise<PluginSlashCommand[]>;
  /** Undefined when no plugin has the command. */
  run(name: string, input: string): Promise<PluginCommandResult | undefined>;
  shutdown(): Promise<void>;
}

export function normalizePluginCommandName(name: string): string {
  return name.trim().replace(/^\//u, '').toLowerCase();
}

const COMMAND_TIMEOUT_MS = 60_000;

export type CreatePluginCommandService = (
  options: PluginCommandServiceOptions,
) => PluginCommandService;

export function createPluginCommandFactory(loading: PluginLoading): CreatePluginCommandService {
  return (options) => createService(options, createLoadedPlugins(options, loading));
}

function createService(
  options: PluginCommandServiceOptions,
  loaded: LoadedPlugins,
): PluginCommandService {
  return {
    async listCommands() {
      const { active } = await loaded.get();
      const commands = active.flatMap(({ contributions }) => contributions.commands);
      return commands
        .filter((command) => command.handler !== undefined)
        .map(({ name, description }) => ({
          name: normalizePluginCommandName(name),
          ...(description === undefined ? {} : { description }),
        }));
    },
    async run(name, input) {
      const { active } = await loaded.get();
      const said = await runCommand(
        `/${normalizePluginCommandName(name)} ${input}`,
        {
          plugins: active,
          timeoutMs: COMMAND_TIMEOUT_MS,
          onIssue: ({ plugin, message }) => options.logger?.log(`${plugin}: ${message}`),
        },
        new AbortController().signal,
      );
      if (said === null) return undefined;
      return {
        ...(said.reply === null ? {} : { reply: said.reply }),
        ...(said.prompt === null ? {} : { submitPrompt: said.prompt }),
      };
    },
    shutdown: () => loaded.dispose(),
  };
}

interface LoadedPlugins {
  /** Loads them, and again once their files have changed. */
  get(): Promise<PluginRegistry>;
  dispose(): Promise<void>;
}

function createLoadedPlugins(
  options: PluginCommandServiceOptions,
  { resolveAndLoadAgentPlugins }: PluginLoading,
): LoadedPlugins {
  const { cwd, workspacePath = cwd, logger } = options;
  let now: { readonly print: string; readonly registry: Promise<PluginRegistry> } | null = null;

  async function load(): Promise<PluginRegistry> {
    const { extensions, failures } = await resolveAndLoadAgentPlugins({ cwd, workspacePath });
    for (const { message } of failures) logger?.log(message);
    return (await setUpAlone(extensions, { rootPath: workspacePath })).registry;
  }

  async function dispose(): Promise<void> {
    const last = now;
    now = null;
    await (await last?.registry)?.dispose();
  }

  return {
    async get() {
      const print = computeFingerprint(resolveAgentPluginPaths({ cwd, workspacePath }));
      if (now !== null && now.print !== print) await dispose();
      now ??= { print, registry: load() };
      return now.registry;
    },
    dispose,
  };
}

function computeFingerprint(files: readonly string[]): string {
  const marks = files.map(
    (file) => `${file} ${statSync(file, { throwIfNoEntry: false })?.mtimeMs}`,
  );
  return marks.join('\n');
}
