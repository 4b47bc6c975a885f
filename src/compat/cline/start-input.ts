import type { ScriptTurn } from '../../agent/models/scripted.ts';
import type {
  AgentPlugin,
  AutomationEventEnvelope,
  BasicLogger,
  ClientContext,
  UserContext,
  WorkspaceInfo,
  Telemetry,
} from '../../plugins/contract/plugin.ts';
import type { ProviderMessage } from '../../plugins/contract/message.ts';
import type { AgentRuntimeHooks, ToolPolicy } from '../../plugins/contract/runtime-hooks.ts';
import type { AgentTool } from '../../plugins/contract/tool.ts';

/** The options of `ClineCore.create`. */
export interface ClineCoreOptions {
  clientName?: string;
  distinctId?: string;
  /** Everything runs in this process: `local`, or `auto`, which means the same here. */
  backendMode?: 'auto' | 'local' | 'hub' | 'remote';
  capabilities?: HostCapabilities;
  toolPolicies?: Record<string, ToolPolicy>;
  logger?: BasicLogger;
  telemetry?: Telemetry;
  /** Replaces `fetch` for requests to model providers, in all sessions. */
  fetch?: typeof globalThis.fetch;
  automation?: unknown;
  hub?: unknown;
  remote?: unknown;
  /** Called before each session starts; may change its input. */
  prepare?(
    input: ClineCoreStartInput,
  ): PreparedStart | undefined | Promise<PreparedStart | undefined>;
}

export interface PreparedStart {
  applyToStartSessionInput?(
    input: ClineCoreStartInput,
  ): ClineCoreStartInput | Promise<ClineCoreStartInput>;
  /** Called when the session has ended. */
  dispose?(): unknown;
}

/** Callbacks of the program that embeds the agent. */
export interface HostCapabilities {
  requestToolApproval?(
    request: ToolApprovalRequest,
  ): ToolApprovalResult | Promise<ToolApprovalResult>;
  toolExecutors?: {
    askQuestion?(question: string, options: string[], context?: unknown): string | Promise<string>;
  };
}

export interface ToolApprovalRequest {
  sessionId: string;
  agentId: string;
  conversationId: string;
  iteration: number;
  toolCallId: string;
  toolName: string;
  input: unknown;
  policy: ToolPolicy;
}

export interface ToolApprovalResult {
  approved: boolean;
  reason?: string;
}

export interface ClineCoreStartInput {
  config: CoreSessionConfig;
  /** Runs at once; without one the session waits for `send`. */
  prompt?: string;
  /** Stays open after its prompt. */
  interactive?: boolean;
  source?: string;
  mode?: AgentMode;
  sessionMetadata?: Record<string, unknown>;
  initialMessages?: ProviderMessage[];
  userImages?: string[];
  userFiles?: string[];
  capabilities?: HostCapabilities;
  toolPolicies?: Record<string, ToolPolicy>;
  localRuntime?: Record<string, unknown>;
}

export type AgentMode = 'act' | 'plan' | 'yolo' | 'zen';

export interface CoreSessionConfig {
  providerId: string;
  modelId: string;
  /** The whole system prompt; rules of plugins and instructions of the workspace follow it. */
  systemPrompt?: string;
  /** The answers of the provider `scripted`, for tests and demonstrations. */
  script?: readonly ScriptTurn[];
  apiKey?: string;
  baseUrl?: string;
  headers?: Record<string, string>;
  fetch?: typeof globalThis.fetch;
  cwd?: string;
  workspaceRoot?: string;
  sessionId?: string;
  mode?: AgentMode;
  maxIterations?: number;
  maxTokensPerTurn?: number;
  temperature?: number;
  reasoningEffort?: string;
  thinking?: boolean;
  enableTools?: boolean;
  /** Leaves out the tools and resources of MCP servers. */
  disableMcpSettingsTools?: boolean;
  enableSpawnAgent?: boolean;
  enableAgentTeams?: boolean;
  extensions?: AgentPlugin[];
  extensionContext?: ExtensionContext;
  /** Files and directories with plugins, beside those of the user and the workspace. */
  pluginPaths?: string[];
  /** `process`: each plugin on disk runs in its own process. */
  pluginIsolation?: 'none' | 'process';
  /** The time limits for importing one plugin, and for its setup. */
  pluginImportTimeoutMs?: number;
  pluginSetupTimeoutMs?: number;
  extraTools?: AgentTool[];
  /** Hooks of the program itself, before those of plugins. */
  hooks?: Partial<AgentRuntimeHooks>;
  /** `throw`: a failing setup of a plugin fails the start, and a failing hook refuses. */
  hookErrorMode?: 'ignore' | 'throw';
  /** A violation of its manifest by a plugin fails the start. */
  strictPlugins?: boolean;
  /** The time limit of one hook of a plugin. */
  hookTimeoutMs?: number;
  logger?: BasicLogger;
  telemetry?: Telemetry;
  toolPolicies?: Record<string, ToolPolicy>;
  /** Which workspace hooks may run: those that the user trusted, or all. */
  trust?: 'record' | 'all';
  [further: string]: unknown;
}

export interface ExtensionContext {
  user?: UserContext;
  client?: ClientContext;
  workspace?: Partial<WorkspaceInfo> & Record<string, unknown>;
  session?: { sessionId?: string };
  automation?: { ingestEvent(envelope: AutomationEventEnvelope): unknown };
  logger?: BasicLogger;
  telemetry?: Telemetry;
}
