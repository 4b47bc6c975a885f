/** `hookline/plugin`: what authors of plugins write with. */
export { HooklineError, isHooklineError, type ErrorCode } from './base/errors.ts';
export { defineHook, type HookWishes } from './plugins/author/define-hook.ts';
export { definePlugin } from './plugins/author/define-plugin.ts';
export {
  createTool,
  defineTool,
  type OutputOf,
  type ToolDefinition,
} from './plugins/author/define-tool.ts';
export type { FromJsonSchema, WrittenSchema } from './plugins/author/from-json-schema.ts';
export type { OverrideFile, OverrideTier } from './plugins/author/overrides.ts';
export { loadOverrides, type OverridesRequest } from './sdk/provided/load-overrides.ts';
export { stripByteOrderMark as stripUtf8Bom } from './base/json.ts';
export { estimateTokens } from './plugins/contract/estimate-tokens.ts';
export type { InputSchema, JsonSchema, StandardSchema } from './plugins/contract/input-schema.ts';
export type {
  AgentFilePart,
  AgentImagePart,
  AgentMessage,
  AgentMessagePart,
  AgentReasoningPart,
  AgentTextPart,
  AgentToolCallPart,
  AgentToolResultPart,
  ContentBlock,
  FileContent,
  ImageContent,
  ProviderMessage,
  ProviderMessage as Message,
  TextContent,
  ThinkingContent,
  ToolResultContent,
  ToolUseContent,
} from './plugins/contract/message.ts';
export {
  noopBasicLogger,
  type AgentExtensionApi,
  type AgentExtensionAutomationEventType,
  type AgentExtensionCapability,
  type AgentExtensionCommand,
  type AgentExtensionCommandResult,
  type AgentExtensionMcpServer,
  type AgentExtensionMessageBuilder,
  type AgentExtensionProvider,
  type AgentExtensionRule,
  type AgentPlugin,
  type AutomationEventEnvelope,
  type BasicLogger,
  type ClientContext,
  type PluginManifest,
  type PluginSetupContext,
  type UserContext,
  type WorkspaceInfo,
} from './plugins/contract/plugin.ts';
export type {
  AgentAfterModelContext,
  AgentAfterModelResult,
  AgentAfterRunContext,
  AgentAfterToolContext,
  AgentAfterToolResult,
  AgentBeforeModelContext,
  AgentBeforeModelResult,
  AgentBeforeRunContext,
  AgentBeforeToolContext,
  AgentBeforeToolResult,
  AgentModelRequest,
  AgentRunResult,
  AgentRunStartResult,
  AgentRuntimeEvent,
  AgentRuntimeHooks,
  AgentStopControl,
  AgentToolCall,
  AgentToolDefinition,
  HookName,
  ToolPolicy,
} from './plugins/contract/runtime-hooks.ts';
export type { AgentRuntimeStateSnapshot, AgentUsage } from './plugins/contract/snapshot.ts';
export type { Telemetry as ITelemetryService } from './plugins/contract/telemetry.ts';
export type { AgentTool, AgentToolContext, AgentToolResult } from './plugins/contract/tool.ts';
