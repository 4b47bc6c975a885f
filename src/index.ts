/** `hookline`: the host, which runs agents and hooks, and the names that programs import from `@cline/core`. */
import * as Llms from './compat/cline/llms/llms.ts';

export { type ErrorCode, HooklineError, isHooklineError } from './base/errors.ts';
export { VERSION } from './base/version.ts';
export type { Host, HostOptions } from './host/create-host.ts';
export { createHostWithCline as createHost } from './compat/cline/provided/create-host-with-cline.ts';
export type { AgentOptions, ModelWish } from './host/agent/agent-options.ts';
export type { Started, StartRequest } from './host/agent/sessions.ts';
export type { HookSearch } from './host/open-hooks.ts';
export type { Model, ModelChunk, ModelFailure, ModelRequest, Usage } from './agent/models/model.ts';
export { createScriptedModel as scripted, type ScriptTurn } from './agent/models/scripted.ts';
export type { RunResult, RuntimeEvent } from './agent/runtime-event.ts';
export type { Session, SessionState } from './agent/session/session.ts';
export type { ModelSwitch } from './agent/session/switch-model.ts';
export type {
  Approval,
  ApprovalRequest,
  ElicitationAnswer,
  ElicitationRequest,
  Person,
} from './agent/session-context.ts';
export type { Message as SessionMessage } from './sessions/messages.ts';
export type { HookEngine } from './hooks/engine.ts';
export type { Decision, Effect, Failure, Outcome, Stop, Verdict } from './hooks/decision.ts';
export { isRefusal } from './hooks/decision.ts';
export { EVENT_NAMES, EVENTS } from './hooks/events.ts';
export type { EventName, FiredEvent, HookEvent, Moment } from './hooks/facts.ts';
export type { Answer, Handler, HandlerInput, HandlerSource } from './hooks/handler.ts';
export type { DispatchRecord, HandlerProgress, LateOutcome } from './hooks/dispatch-record.ts';

/** What scripts and plugins written for `@cline/core` import. */
export {
  ClineCore,
  type SendInput,
  type SendInput as SendSessionInput,
  type StartSessionResult,
} from './compat/cline/cline-core.ts';
export {
  isSessionNotFoundError,
  isUnusableSessionError,
  SessionNotFoundError,
} from './compat/cline/errors.ts';
export type { AgentResult, ToolCallRecord } from './compat/cline/session/agent-result.ts';
export type {
  AgentContentEndEvent,
  AgentContentStartEvent,
  AgentContentType,
  AgentContentUpdateEvent,
  AgentDoneEvent,
  AgentErrorEvent,
  AgentEvent,
  AgentEventMetadata,
  AgentIterationEndEvent,
  AgentIterationStartEvent,
  AgentNoticeEvent,
  AgentUsageEvent,
  LegacyAgentUsage,
} from './compat/cline/agent-events.ts';
export type {
  CoreSessionEvent,
  SessionAgentEvent,
  SessionChunkEvent,
  SessionEndedEvent,
  SessionPendingPromptsEvent,
  SessionPendingPromptSubmittedEvent,
  SessionSnapshotEvent,
  SessionToolEvent,
} from './compat/cline/core-events.ts';
export type { PendingPrompt } from './compat/cline/pending-prompts.ts';
export type {
  CoreSessionSnapshot,
  SessionManifest,
  SessionRecord,
  SessionStatus,
} from './compat/cline/session-files.ts';
export type {
  ClineCoreOptions,
  AgentMode,
  ClineCoreStartInput,
  ClineCoreStartInput as StartSessionInput,
  CoreSessionConfig,
  CoreSessionConfig as StartSessionConfig,
  ExtensionContext,
  HostCapabilities,
  ToolApprovalRequest,
  ToolApprovalResult,
} from './compat/cline/start-input.ts';
export { createTool } from './plugins/author/define-plugin.ts';
export type { AgentTool, AgentToolContext, AgentToolResult } from './plugins/contract/tool.ts';
export type { Telemetry as ITelemetryService } from './plugins/contract/plugin.ts';
export type {
  AgentExtensionApi,
  AgentExtensionAutomationEventType,
  AgentExtensionCapability,
  AgentExtensionCommand,
  AgentExtensionCommandResult,
  AgentExtensionMcpServer,
  AgentExtensionMessageBuilder,
  AgentExtensionProvider,
  AgentExtensionRule,
  AgentPlugin,
  AgentPlugin as AgentExtension,
  AgentExtensionCommand as AgentPluginCommand,
  AutomationEventEnvelope,
  BasicLogger,
  ClientContext,
  PluginManifest,
  PluginSetupContext,
  PluginSetupContext as AgentExtensionContext,
  UserContext,
  WorkspaceInfo,
} from './plugins/contract/plugin.ts';
export { stripByteOrderMark as stripUtf8Bom } from './base/json.ts';
export { estimateTokens } from './plugins/contract/message.ts';
export { noopBasicLogger } from './plugins/contract/plugin.ts';
export type { PluginIssue } from './plugins/plugin-issue.ts';
export type { PluginStatus } from './plugins/registry.ts';
export type {
  AgentAfterModelContext,
  AgentAfterModelResult,
  AgentAfterRunContext,
  AgentAfterToolContext,
  AgentAfterToolResult,
  AgentBeforeModelContext,
  AgentBeforeModelResult,
  AgentBeforeRunContext,
  AgentBeforeRunContext as AgentRunLifecycleContext,
  AgentBeforeToolContext,
  AgentBeforeToolResult,
  AgentModelRequest,
  AgentRunResult,
  AgentRunStartResult,
  AgentRuntimeEvent,
  AgentRuntimeHooks,
  AgentRuntimeHooks as AgentHooks,
  AgentStopControl,
  AgentToolCall,
  AgentToolDefinition,
  ToolPolicy,
} from './plugins/contract/runtime-hooks.ts';
export type {
  AgentRuntimeStateSnapshot,
  AgentUsage,
  ProviderErrorClass,
} from './plugins/contract/snapshot.ts';
export type {
  AgentFilePart,
  AgentImagePart,
  AgentMessage,
  AgentMediaPart,
  AgentMessagePart,
  AgentModelToolActivity,
  AgentReasoningPart,
  AgentTextPart,
  AgentToolCallPart,
  AgentToolResultPart,
  ContentBlock,
  FileContent,
  GeneratedMedia,
  ImageContent,
  ModelToolExecution,
  ProviderMessage,
  ProviderMessage as Message,
  ProviderMessage as MessageWithMetadata,
  TextContent,
  ThinkingContent,
  ToolResultContent,
  ToolUseContent,
} from './plugins/contract/message.ts';
export {
  AgentRuntime,
  AgentRuntime as Agent,
  createAgent,
  createAgentRuntime,
} from './compat/cline/agent/agent.ts';
export type { AgentEventListener, AgentRunInput } from './compat/cline/agent/agent.ts';
export type {
  AgentModel,
  AgentModelEvent,
  AgentRuntimeConfig,
  AgentRuntimePlugin,
} from './compat/cline/agent/agent-config.ts';
export {
  ContributionRegistry,
  createContributionRegistry,
  normalizePluginManifest,
} from './compat/cline/provided/contribution-registry.ts';
export {
  ALL_DEFAULT_TOOL_NAMES,
  createBuiltinTools,
  type DefaultToolName,
  DefaultToolNames,
  ToolPresets,
} from './compat/cline/provided/default-tools.ts';
export {
  discoverPluginModulePaths,
  resolveAgentPluginPaths,
  resolvePluginConfigSearchPaths,
  resolvePluginSkillDirectoriesFromPaths,
} from './compat/cline/plugins/plugin-paths.ts';
export type {
  PluginInstallOptions,
  PluginInstallResult,
  PluginUninstallOptions,
  PluginUninstallResult,
} from './compat/cline/plugins/install-plugins.ts';
export {
  ensureParentDir,
  loadOverrides,
  resolveClineDataDir,
  resolveClineDir,
  resolveGlobalSettingsPath,
  resolveMcpSettingsPath,
} from './compat/cline/provided/load-overrides.ts';
export {
  ensureFileExists,
  ensureHookLogDir,
  resolveAgentConfigSearchPaths,
  resolveAgentsConfigDirPath,
  resolveDbDataDir,
  resolveDocumentsClineDirectoryPath,
  resolveDocumentsExtensionPath,
  resolveHooksConfigSearchPaths,
  resolveProviderSettingsPath,
  resolveRulesConfigSearchPaths,
  resolveSessionDataDir,
  resolveSkillsConfigSearchPaths,
  resolveTeamDataDir,
  resolveWorkflowsConfigSearchPaths,
} from './compat/cline/provided/storage-paths.ts';
export {
  createHookConfigFileHooks,
  type HookRuntimeOptions,
  mergeAgentHooks,
} from './compat/cline/provided/agent-hooks.ts';
export {
  createDefaultTools,
  type CreateDefaultToolsOptions,
  createSpawnAgentTool,
  type SpawnAgentInput,
  type SpawnAgentToolConfig,
  type ToolExecutors,
} from './compat/cline/provided/program-tools.ts';
export {
  type ProviderSettings,
  ProviderSettingsManager,
  type ProviderSettingsManagerOptions,
  type StoredProviderSettings,
} from './compat/cline/provided/provider-settings.ts';
export {
  type ClineSystemPromptOptions,
  getClineDefaultSystemPrompt,
} from './compat/cline/provided/system-prompt.ts';
export type {
  PluginInitializationFailure,
  PluginInitializationWarning,
} from './compat/cline/plugins/load-agent-plugins.ts';
export {
  normalizePluginCommandName,
  type PluginCommandService,
} from './compat/cline/plugins/plugin-commands.ts';
export {
  isOfficialPluginSlug,
  type ParsedPluginSource,
  parsePluginSource,
} from './compat/cline/plugins/plugin-sources.ts';
export type { PluginToolSummary } from './compat/cline/plugins/plugin-tools.ts';
export { validateWithZod, zodToJsonSchema } from './compat/cline/provided/schemas.ts';
export {
  createPluginCommandService,
  installPlugin,
  listPluginTools,
  listPluginToolsWithDiagnostics,
  loadAgentPluginFromPath,
  loadAgentPluginsFromPaths,
  loadAgentPluginsFromPathsWithDiagnostics,
  resolveAndLoadAgentPlugins,
  uninstallPlugin,
} from './compat/cline/provided.ts';
export { Llms };
