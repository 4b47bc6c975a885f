import { createScriptedModel } from '../../agent/models/scripted.ts';
import { HooklineError, isHooklineError } from '../../base/errors.ts';
import { stripByteOrderMark } from '../../base/json.ts';
import { VERSION } from '../../base/version.ts';
import type { HostOptions } from '../../host/create-host.ts';
import { isRefusal } from '../../hooks/decision.ts';
import { EVENT_NAMES, EVENTS } from '../../hooks/events.ts';
import { defineHook, definePlugin, defineTool } from '../../plugins/author/define-plugin.ts';
import { estimateTokens } from '../../plugins/contract/message.ts';
import { noopBasicLogger } from '../../plugins/contract/plugin.ts';
import { createTool } from '../../plugins/contract/tool.ts';
import type { ProvidedModules } from '../../plugins/load/loading.ts';
import { isSessionNotFoundError, isUnusableSessionError, SessionNotFoundError } from './errors.ts';
import * as Llms from './llms/llms.ts';
import { AgentRuntime, createAgent, createAgentRuntime } from './agent/agent.ts';
import {
  ContributionRegistry,
  createContributionRegistry,
  normalizePluginManifest,
} from './provided/contribution-registry.ts';
import {
  ALL_DEFAULT_TOOL_NAMES,
  createBuiltinTools,
  DefaultToolNames,
  ToolPresets,
} from './provided/default-tools.ts';
import { createHookConfigFileHooks, mergeAgentHooks } from './provided/agent-hooks.ts';
import * as places from './provided/load-overrides.ts';
import { createDefaultTools, createSpawnAgentTool } from './provided/program-tools.ts';
import { ProviderSettingsManager } from './provided/provider-settings.ts';
import * as storagePaths from './provided/storage-paths.ts';
import { getClineDefaultSystemPrompt } from './provided/system-prompt.ts';
import { lazyClineCore } from './provided/lazy-cline-core.ts';
import {
  discoverPluginModulePaths,
  resolveAgentPluginPaths,
  resolvePluginConfigSearchPaths,
  resolvePluginSkillDirectoriesFromPaths,
} from './plugins/plugin-paths.ts';
import type * as Installing from './plugins/install-plugins.ts';
import { loadOverrides } from './provided/load-overrides.ts';
import { createPluginLoading } from './plugins/load-agent-plugins.ts';
import {
  normalizePluginCommandName,
  createPluginCommandFactory,
} from './plugins/plugin-commands.ts';
import { isOfficialPluginSlug, parsePluginSource } from './plugins/plugin-sources.ts';
import { createPluginListing } from './plugins/plugin-tools.ts';
import {
  safeJsonParse,
  safeJsonStringify,
  validateWithZod,
  zodToJsonSchema,
} from './provided/schemas.ts';

type Exports = Readonly<Record<string, unknown>>;

const loading = createPluginLoading((specifier) => findProvidedModule(specifier));

export const {
  loadAgentPluginFromPath,
  loadAgentPluginsFromPaths,
  loadAgentPluginsFromPathsWithDiagnostics,
  resolveAndLoadAgentPlugins,
} = loading;

export const { listPluginTools, listPluginToolsWithDiagnostics } = createPluginListing(
  resolveAndLoadAgentPlugins,
);

export const createPluginCommandService = createPluginCommandFactory(resolveAndLoadAgentPlugins);

export const installPlugin: typeof Installing.installPlugin = async (options) =>
  (await import('./plugins/install-plugins.ts')).installPlugin(options);

export const uninstallPlugin: typeof Installing.uninstallPlugin = async (options) =>
  (await import('./plugins/install-plugins.ts')).uninstallPlugin(options);

const SHARED: Exports = {
  ContributionRegistry,
  createContributionRegistry,
  createTool,
  estimateTokens,
  noopBasicLogger,
  normalizePluginManifest,
  stripUtf8Bom: stripByteOrderMark,
  validateWithZod,
  zodToJsonSchema,
};

/** `@cline/shared` has these, too. */
const SHARED_ALONE: Exports = { ...SHARED, safeJsonParse, safeJsonStringify };

const STORAGE: Exports = {
  ensureParentDir: places.ensureParentDir,
  loadOverrides,
  resolveClineDataDir: places.resolveClineDataDir,
  resolveClineDir: places.resolveClineDir,
  resolveGlobalSettingsPath: places.resolveGlobalSettingsPath,
  resolveMcpSettingsPath: places.resolveMcpSettingsPath,
  ...storagePaths,
  discoverPluginModulePaths,
  resolvePluginConfigSearchPaths,
};

/** `Agent` is the same class under the name that programs use. */
const AGENTS: Exports = {
  Agent: AgentRuntime,
  AgentRuntime,
  createAgent,
  createAgentRuntime,
  createTool,
};

const CORE: Exports = {
  ...STORAGE,
  ...SHARED,
  ...AGENTS,
  ALL_DEFAULT_TOOL_NAMES,
  ClineCore: lazyClineCore,
  createBuiltinTools,
  createDefaultTools,
  createHookConfigFileHooks,
  createPluginCommandService,
  createSpawnAgentTool,
  DefaultToolNames,
  discoverPluginModulePaths,
  getClineDefaultSystemPrompt,
  installPlugin,
  isOfficialPluginSlug,
  isSessionNotFoundError,
  isUnusableSessionError,
  listPluginTools,
  listPluginToolsWithDiagnostics,
  Llms,
  loadAgentPluginFromPath,
  loadAgentPluginsFromPaths,
  loadAgentPluginsFromPathsWithDiagnostics,
  loadOverrides,
  mergeAgentHooks,
  normalizePluginCommandName,
  parsePluginSource,
  ProviderSettingsManager,
  resolveAgentPluginPaths,
  resolveAndLoadAgentPlugins,
  resolvePluginConfigSearchPaths,
  resolvePluginSkillDirectoriesFromPaths,
  SessionNotFoundError,
  ToolPresets,
  uninstallPlugin,
};

/** `hookline/plugin`, for plugins whose authors have not installed it. */
const AUTHOR: Exports = {
  createTool,
  defineHook,
  definePlugin,
  defineTool,
  estimateTokens,
  HooklineError,
  isHooklineError,
  loadOverrides,
  noopBasicLogger,
  stripUtf8Bom: stripByteOrderMark,
};

/** `hookline` itself: a host is loaded once a plugin makes one. */
const HOOKLINE: Exports = {
  ...CORE,
  async createHost(options: HostOptions = {}) {
    const { createHost } = await import('../../host/create-host.ts');
    const plugins = { provided: async () => findProvidedModule, ...options.plugins };
    return createHost({ ...options, plugins });
  },
  EVENT_NAMES,
  EVENTS,
  HooklineError,
  isHooklineError,
  isRefusal,
  scripted: createScriptedModel,
  VERSION,
};

/** By specifier. Importing a missing export of these packages succeeds; using it throws. */
const MODULES: Readonly<Record<string, Exports>> = {
  '@cline/agents': AGENTS,
  '@cline/core': CORE,
  '@cline/llms': { ...Llms },
  '@cline/llms/browser': { ...Llms },
  '@cline/sdk': CORE,
  '@cline/shared': SHARED_ALONE,
  '@cline/shared/browser': SHARED_ALONE,
  '@cline/shared/storage': STORAGE,
  hookline: HOOKLINE,
  'hookline/plugin': AUTHOR,
};

/** Finds the exports of Cline's packages for plugins on disk; the packages are not installed. */
export const findProvidedModule: ProvidedModules = (specifier) => {
  // The packages were published under this scope before.
  const name = specifier.replace(/^@clinebot\//u, '@cline/');
  return Object.hasOwn(MODULES, name) ? (MODULES[name] ?? null) : null;
};
