import path from 'node:path';
import { vi } from 'vitest';
import {
  type CustomProviders,
  registeredProviders,
} from '../../../../src/agent/models/custom-provider.ts';
import type { Model } from '../../../../src/agent/models/model.ts';
import type { RunResult } from '../../../../src/agent/runtime-event.ts';
import { Models } from '../../../../src/host/agent/choose-model.ts';
import type { ModelWish } from '../../../../src/host/agent/agent-options.ts';
import { loadConfig } from '../../../../src/host/config.ts';
import {
  createProviders,
  listProviders,
} from '../../../../src/host/plugins/contributions/providers.ts';
import type { Settings } from '../../../../src/host/settings.ts';
import type { AgentPlugin } from '../../../../src/plugins/contract/plugin.ts';
import type { PluginIssue } from '../../../../src/plugins/plugin-issue.ts';
import { LoadedPlugin } from '../../../../src/plugins/loaded-plugin.ts';
import { createPluginRegistry } from '../../../../src/plugins/registry.ts';
import type { ServiceTurn } from '../../../e2e/service.ts';
import { createTempWorkspace, hostIn } from '../../../host/temp-workspace.ts';

/** Forgets what a test registered, because test files share the process and its registry. */
export function clearRegisteredProviders(): void {
  for (const id of registeredProviders.ids()) {
    registeredProviders.remove('handler', id);
    registeredProviders.remove('service', id);
  }
}

export interface ProvidersOfPlugins {
  readonly providers: CustomProviders;
  readonly issues: readonly PluginIssue[];
}

/** Sets up the plugins as a session does, and joins the providers that they bring. */
export async function setUp(...plugins: readonly AgentPlugin[]): Promise<ProvidersOfPlugins> {
  const issues: PluginIssue[] = [];
  const onIssue = (issue: PluginIssue): void => void issues.push(issue);
  const loaded = plugins.map((plugin, index) => new LoadedPlugin(plugin, index));
  const registry = await createPluginRegistry(
    { loaded },
    {
      context: {},
      isStrict: false,
      failsClosed: false,
      setupTimeoutMs: 5000,
      disposeTimeoutMs: 1000,
      onIssue,
    },
  );
  const own = listProviders(registry.active, onIssue);
  return { providers: createProviders(() => own), issues };
}

export function providerPlugin(
  name: string,
  metadata?: Record<string, unknown>,
  plugin = 'bringer',
): AgentPlugin {
  return {
    name: plugin,
    manifest: { capabilities: ['providers'] },
    setup: (api) => api.registerProvider({ name, ...(metadata === undefined ? {} : { metadata }) }),
  };
}

export interface ModelsRequest {
  readonly providers: CustomProviders;
  readonly selection: ModelWish;
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: Partial<Settings>;
}

export function modelsWith({
  providers,
  selection,
  env = {},
  settings = {},
}: ModelsRequest): Models {
  const config = loadConfig({ homeFile: null, workspaceFiles: [], env: {}, flags: settings });
  return new Models({ selection, settings: config.settings, env, providers });
}

/** Two turns: the model reads a file, and then answers. */
export const READ_AND_ANSWER: readonly ServiceTurn[] = [
  { text: 'I look.', tools: [{ name: 'Read', input: { file_path: 'notes.txt' } }] },
  { text: 'It says hello.' },
];

/** A whole run with this model in a workspace that has one file. */
export async function runWith(model: Model, signal?: AbortSignal): Promise<RunResult> {
  const workspace = createTempWorkspace({
    [path.join('ws', 'notes.txt')]: 'hello from the notes\n',
  });
  vi.stubEnv('HOME', workspace.home);
  const host = await hostIn(workspace, { model });
  const { result } = await host.start({
    prompt: 'What do my notes say?',
    ...(signal === undefined ? {} : { signal }),
  });
  if (result === null) throw new Error('there was no run');
  return result;
}
