import path from 'node:path';
import { isInside } from '../../../base/paths.ts';
import { readSurroundings } from '../../../host/config.ts';
import type { AgentPlugin } from '../../../plugins/contract/plugin.ts';
import { listHookNames } from '../../../plugins/contract/runtime-hooks.ts';
import type { ActivePlugin } from '../../../plugins/loaded-plugin.ts';
import type { PluginRegistry } from '../../../plugins/registry.ts';
import type {
  PluginInitializationFailure,
  PluginInitializationWarning,
  PluginLoading,
} from './load-plugins.ts';

export interface ListPluginToolsInput {
  workspacePath: string;
  cwd?: string;
  disabledToolNames?: readonly string[];
  providerId?: string;
  modelId?: string;
}

export interface PluginToolSummary {
  name: string;
  pluginName: string;
  path: string;
  source: 'workspace-plugin' | 'global-plugin';
  enabled: boolean;
  description?: string;
}

export interface PluginContributionSummary {
  pluginName: string;
  path: string;
  capabilities: string[];
  tools: string[];
  rules: string[];
  hooks: string[];
  commands: string[];
  mcpServers: string[];
  providers: string[];
}

export interface ListPluginToolsResult {
  tools: PluginToolSummary[];
  plugins: PluginContributionSummary[];
  failures: PluginInitializationFailure[];
  warnings: PluginInitializationWarning[];
}

/** The tools that plugins of a workspace and of the person bring; each is loaded and set up for it. */
export interface PluginListing {
  readonly listPluginTools: (input: ListPluginToolsInput) => Promise<PluginToolSummary[]>;
  readonly listPluginToolsWithDiagnostics: (
    input: ListPluginToolsInput,
  ) => Promise<ListPluginToolsResult>;
}

export function createPluginListing(loading: PluginLoading): PluginListing {
  return {
    listPluginTools: async (input) => (await listAll(input, loading)).tools,
    listPluginToolsWithDiagnostics: (input) => listAll(input, loading),
  };
}

async function listAll(
  input: ListPluginToolsInput,
  { resolveAndLoadAgentPlugins }: PluginLoading,
): Promise<ListPluginToolsResult> {
  const { cwd } = readSurroundings();
  const workspacePath = path.resolve(cwd, input.cwd ?? '', input.workspacePath);
  const loaded = await resolveAndLoadAgentPlugins({ ...input, workspacePath });
  const { extensions, pluginPaths, failures, warnings } = loaded;
  const setUp = await setUpAlone(extensions, { rootPath: workspacePath });
  try {
    const { active } = setUp.registry;
    const findPath = (plugin: ActivePlugin): string =>
      pluginPaths[extensions.findIndex(({ name }) => name === plugin.name)] ?? '';
    return {
      tools: active.flatMap((each) => listTools(each, findPath(each), { ...input, workspacePath })),
      plugins: active.map((each) => toSummary(each, findPath(each))),
      failures: [...failures, ...setUp.failures(extensions, pluginPaths)],
      warnings,
    };
  } finally {
    await setUp.registry.dispose();
  }
}

function listTools(
  { name: pluginName, contributions }: ActivePlugin,
  file: string,
  { workspacePath, disabledToolNames = [] }: ListPluginToolsInput,
): readonly PluginToolSummary[] {
  return contributions.tools.map(({ name, description }) => ({
    name,
    pluginName,
    path: file,
    source: isInside(workspacePath, file) ? 'workspace-plugin' : 'global-plugin',
    enabled: !disabledToolNames.includes(name),
    ...(description === undefined ? {} : { description }),
  }));
}

function toSummary(
  { name, plugin, contributions }: ActivePlugin,
  file: string,
): PluginContributionSummary {
  return {
    pluginName: name,
    path: file,
    capabilities: [...plugin.manifest.capabilities],
    tools: contributions.tools.map((each) => each.name),
    rules: contributions.rules.map((each) => each.id),
    hooks: [...listHookNames(plugin.hooks ?? {})],
    commands: contributions.commands.map((each) => each.name),
    mcpServers: contributions.mcpServers.map((each) => each.name),
    providers: contributions.providers.map((each) => each.name),
  };
}

interface SetUpAlone {
  readonly registry: PluginRegistry;
  failures(
    plugins: readonly AgentPlugin[],
    paths: readonly string[],
  ): readonly PluginInitializationFailure[];
}

/** Plugins that are set up without a session; one whose setup fails costs itself only. */
export async function setUpAlone(
  plugins: readonly AgentPlugin[],
  workspaceInfo: { readonly rootPath: string },
): Promise<SetUpAlone> {
  const messages = new Map<string, string>();
  const { setUpPlugins } = await import('../../../host/plugins/set-up-plugins.ts');
  const registry = await setUpPlugins({
    objects: plugins,
    options: {},
    context: { workspaceInfo, cwd: workspaceInfo.rootPath },
    onIssue({ plugin, level, message }) {
      if (level === 'error') messages.set(plugin, message);
    },
  });
  return {
    registry,
    failures: (given, paths) =>
      given.flatMap(({ name }, place): readonly PluginInitializationFailure[] => {
        const message = messages.get(name);
        if (message === undefined) return [];
        return [{ pluginPath: paths[place] ?? '', pluginName: name, phase: 'setup', message }];
      }),
  };
}
