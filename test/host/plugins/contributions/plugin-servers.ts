import type {
  AgentExtensionMcpServer,
  AgentPlugin,
} from '../../../../src/plugins/contract/plugin.ts';
import type { PluginIssue } from '../../../../src/plugins/plugin-issue.ts';
import { type ActivePlugin, LoadedPlugin } from '../../../../src/plugins/loaded-plugin.ts';
import { createPluginRegistry } from '../../../../src/plugins/registry.ts';

/** Sets up a plugin that registers these servers, as they are. */
export async function pluginWith(
  name: string,
  ...servers: readonly object[]
): Promise<ActivePlugin> {
  const plugin: AgentPlugin = {
    name,
    manifest: { capabilities: ['mcp'] },
    setup(api) {
      for (const server of servers) api.registerMcpServer(server as AgentExtensionMcpServer);
    },
  };
  const { active } = await createPluginRegistry(
    { loaded: [new LoadedPlugin(plugin, 0)] },
    {
      context: {},
      isStrict: true,
      failsClosed: true,
      setupTimeoutMs: 10_000,
      disposeTimeoutMs: 10_000,
      onIssue: () => undefined,
    },
  );
  const [only] = active;
  if (only === undefined) throw new TypeError('the plugin was not set up');
  return only;
}

export function issues() {
  const reports: PluginIssue[] = [];
  return { reports, onIssue: (issue: PluginIssue) => void reports.push(issue) };
}
