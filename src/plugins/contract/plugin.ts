import type { ProviderMessage } from './message.ts';
import type { AgentRuntimeHooks } from './runtime-hooks.ts';
import type { AgentTool } from './tool.ts';

export const CAPABILITIES = [
  'hooks',
  'tools',
  'commands',
  'rules',
  'skills',
  'messageBuilders',
  'providers',
  'automationEvents',
  'mcp',
] as const;

export type AgentExtensionCapability = (typeof CAPABILITIES)[number];

/** A module that extends agents: its name, its manifest, its hooks and its setup. */
export interface AgentPlugin {
  name: string;
  manifest: PluginManifest;
  type?: string;
  disabled?: boolean;
  hooks?: Partial<AgentRuntimeHooks>;
  /** Called once for each session, before the first run; nothing can be registered later. */
  setup?(api: AgentExtensionApi, ctx: PluginSetupContext): void | Promise<void>;
}

export interface PluginManifest {
  capabilities: AgentExtensionCapability[];
  paths?: string[];
  /** The providers and models that it is made for; ignored for plugins that the embedding program passes. */
  providerIds?: string[];
  modelIds?: string[];
}

/** Registers contributions in `setup`. Each method needs its capability in the manifest. */
export interface AgentExtensionApi {
  registerTool(tool: AgentTool): void;
  registerCommand(command: AgentExtensionCommand): void;
  registerRule(rule: AgentExtensionRule): void;
  registerMessageBuilder(builder: AgentExtensionMessageBuilder): void;
  registerProvider(provider: AgentExtensionProvider): void;
  registerAutomationEventType(type: AgentExtensionAutomationEventType): void;
  registerMcpServer(server: AgentExtensionMcpServer): void;
}

export interface AgentExtensionCommand {
  name: string;
  description?: string;
  handler?(
    input: string,
  ): AgentExtensionCommandResult | undefined | Promise<AgentExtensionCommandResult | undefined>;
}

export type AgentExtensionCommandResult = string | { reply?: string; submitPrompt?: string };

export interface AgentExtensionRule {
  id: string;
  content: string | (() => string | Promise<string>);
  source?: string;
  /** Applies only while this tool is available. */
  whenToolAvailable?: string;
}

export interface AgentExtensionMessageBuilder {
  name: string;
  build(
    messages: ProviderMessage[],
  ): readonly ProviderMessage[] | Promise<readonly ProviderMessage[]>;
}

export interface AgentExtensionProvider {
  name: string;
  description?: string;
  metadata?: Record<string, unknown>;
}

export interface AgentExtensionAutomationEventType {
  eventType: string;
  source: string;
  description?: string;
  attributesSchema?: Record<string, unknown>;
  payloadSchema?: Record<string, unknown>;
  examples?: unknown[];
  metadata?: Record<string, unknown>;
}

export interface AgentExtensionMcpServer {
  name: string;
  transport: Record<string, unknown> & { type: string };
  env?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
}

/** Data and ports of the session; every key exists, and its value may be undefined. */
export interface PluginSetupContext {
  session?: { sessionId?: string } | undefined;
  client?: ClientContext | undefined;
  user?: UserContext | undefined;
  workspaceInfo?: WorkspaceInfo | undefined;
  cwd?: string | undefined;
  automation?: { ingestEvent(envelope: AutomationEventEnvelope): unknown } | undefined;
  logger?: BasicLogger | undefined;
  telemetry?: Telemetry | undefined;
  /** Hookline handles `steer_message`, `queue_message` and `pending_prompt`; other names reach listeners only. */
  emitEvent?(name: string, payload?: unknown): void;
  /** Called when the session ends. */
  onDispose?(dispose: () => unknown): void;
}

export interface ClientContext {
  name: string;
  version?: string;
  platform?: string;
  platformVersion?: string;
  isMultiRoot?: boolean;
}

export interface UserContext {
  distinctId?: string;
  email?: string;
  organizationId?: string;
}

export interface WorkspaceInfo {
  rootPath: string;
  hint?: string;
  associatedRemoteUrls?: string[];
  latestGitCommitHash?: string;
  latestGitBranchName?: string;
}

export interface AutomationEventEnvelope {
  eventId: string;
  eventType: string;
  source: string;
  occurredAt: string;
  subject?: string;
  workspaceRoot?: string;
  payload?: Record<string, unknown>;
  attributes?: Record<string, unknown>;
  dedupeKey?: string;
}

/** A logger that discards everything. */
export const noopBasicLogger: BasicLogger = {
  debug: () => undefined,
  log: () => undefined,
  error: () => undefined,
};

export interface BasicLogger {
  debug(message: string, metadata?: Record<string, unknown>): void;
  log(message: string, metadata?: Record<string, unknown>): void;
  error?(message: string, metadata?: Record<string, unknown>): void;
}

type TelemetryProperties = Record<string, unknown>;

/** Counters and measurements of plugins; Hookline itself sends them nowhere. */
export interface Telemetry {
  capture(event: { event: string; properties?: TelemetryProperties }): void;
  captureRequired(event: string, properties?: TelemetryProperties): void;
  recordCounter(...metric: Metric<number>): void;
  recordHistogram(...metric: Metric<number>): void;
  recordGauge(...metric: Metric<number | null>): void;
  isEnabled(): boolean;
  setDistinctId(distinctId?: string): void;
  setMetadata(metadata: TelemetryProperties): void;
  updateMetadata(metadata: TelemetryProperties): void;
  setCommonProperties(properties: TelemetryProperties): void;
  updateCommonProperties(properties: TelemetryProperties): void;
  flush(): Promise<void>;
  dispose(): Promise<void>;
}

/** Telemetry that sends nothing, for plugins of this process when the program has none. */
export const noopTelemetry: Telemetry = Object.freeze({
  capture: () => undefined,
  captureRequired: () => undefined,
  recordCounter: () => undefined,
  recordHistogram: () => undefined,
  recordGauge: () => undefined,
  isEnabled: () => false,
  setDistinctId: () => undefined,
  setMetadata: () => undefined,
  updateMetadata: () => undefined,
  setCommonProperties: () => undefined,
  updateCommonProperties: () => undefined,
  flush: async () => undefined,
  dispose: async () => undefined,
});

type Metric<Value> = [
  name: string,
  value: Value,
  attributes?: TelemetryProperties,
  description?: string,
  required?: boolean,
];
