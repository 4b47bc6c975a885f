import path from 'node:path';
import { dropUndefined } from '../../../base/defined.ts';
import { isInside } from '../../../base/paths.ts';
import { readSurroundings } from '../../../host/surroundings.ts';
import type { AgentPlugin } from '../../../plugins/contract/plugin.ts';
import { listHookNames } from '../../../plugins/contract/runtime-hooks.ts';
import type { ActivePlugin } from '../../../plugins/loaded-plugin.ts';
import type {
  PluginInitializationFailure,
  PluginInitializationWarning,
  ResolveAndLoadPlugins,
} from './load-agent-plugins.ts';

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

export interface ListPluginToolsResult {
  tools: PluginToolSummary[];
  plugins: {
    pluginName: string;
    path: string;
    capabilities: string[];
    tools: string[];
    rules: string[];
    hooks: string[];
    commands: string[];
    mcpServers: string[];
    providers: string[];
  }[];
  failures: PluginInitializationFailure[];
  warnings: PluginInitializationWarning[];
}

/**
 * Creates the functions that list the tools of plugins of a workspace and of the user; each call loads
 * the plugins and sets them up.
 */
export function createPluginListing(resolveAndLoad: ResolveAndLoadPlugins) {
  const listPluginToolsWithDiagnostics = (
    input: ListPluginToolsInput,
  ): Promise<ListPluginToolsResult> => listAll(input, resolveAndLoad);
  return {
    listPluginToolsWithDiagnostics,
    listPluginTools: async (input: ListPluginToolsInput): Promise<PluginToolSummary[]> =>
      (await listPluginToolsWithDiagnostics(input)).tools,
  };
}

async function listAll(
  input: ListPluginToolsInput,
  resolveAndLoad: ResolveAndLoadPlugins,
): Promise<ListPluginToolsResult> {
  const { cwd } = readSurroundings();
  const workspacePath = path.resolve(cwd, input.cwd ?? '', input.workspacePath);
  const loaded = await resolveAndLoad({ ...input, workspacePath });
  const { extensions, pluginPaths, failures, warnings } = loaded;
  const setUp = await setUpAlone(extensions, { rootPath: workspacePath });
  try {
    const { active } = setUp.registry;
    const findPath = (plugin: ActivePlugin): string =>
      pluginPaths[extensions.findIndex(({ name }) => name === plugin.name)] ?? '';
    return {
      tools: active.flatMap((each) => listTools(each, findPath(each), { ...input, workspacePath })),
      plugins: active.map((each) => toSummary(each, findPath(each))),
      failures: [...failures, ...setUp.listFailures(pluginPaths)],
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
    ...dropUndefined({ description }),
  }));
}

function toSummary(
  { name, plugin, contributions }: ActivePlugin,
  file: string,
): ListPluginToolsResult['plugins'][number] {
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

/** Sets plugins up without a session; one whose setup fails is among the failures of their `paths`. */
export async function setUpAlone(
  plugins: readonly AgentPlugin[],
  workspaceInfo: { readonly rootPath: string },
) {
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
    listFailures: (paths: readonly string[]) =>
      plugins.flatMap(({ name }, at): readonly PluginInitializationFailure[] => {
        const message = messages.get(name);
        if (message === undefined) return [];
        return [{ pluginPath: paths[at] ?? '', pluginName: name, phase: 'setup', message }];
      }),
  };
}
