import type { ScriptTurn } from '../../../agent/models/scripted.ts';
import type { HooklineError } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';
import type {
  AgentMessage,
  GeneratedMedia,
  ModelToolExecution,
} from '../../../plugins/contract/message.ts';
import type { AgentPlugin, BasicLogger } from '../../../plugins/contract/plugin.ts';
import type {
  AgentFinishReason,
  AgentModelRequest,
  AgentRuntimeHooks,
  ToolPolicy,
} from '../../../plugins/contract/runtime-hooks.ts';
import type { AgentUsage, ProviderErrorClass } from '../../../plugins/contract/snapshot.ts';
import type { AgentTool } from '../../../plugins/contract/tool.ts';
import { createInputError, createUnsupportedError } from '../errors.ts';
import type { ToolApprovalRequest, ToolApprovalResult } from '../start-input.ts';

/** A model of the program's own: it answers each request with a stream of events. */
export interface AgentModel {
  stream(
    request: AgentModelRequest,
  ): AsyncIterable<AgentModelEvent> | Promise<AsyncIterable<AgentModelEvent>>;
}

export type AgentModelEvent =
  | { type: 'text-delta'; text: string }
  | { type: 'reasoning-delta'; text: string; redacted?: boolean; metadata?: unknown }
  | {
      type: 'tool-call-delta';
      index?: number;
      toolCallId?: string;
      toolName?: string;
      /** A piece of the input, as JSON text. */
      inputText?: string;
      /** The input as a whole; it replaces what came before. */
      input?: unknown;
      metadata?: unknown;
      /** Set when the model's service makes the call. */
      execution?: ModelToolExecution;
    }
  | { type: 'media'; media: GeneratedMedia }
  | {
      type: 'tool-result';
      toolCallId: string;
      toolName: string;
      input?: unknown;
      output: unknown;
      isError?: boolean;
      execution: ModelToolExecution;
    }
  | { type: 'usage'; usage: Partial<AgentUsage> }
  | {
      type: 'finish';
      reason: AgentFinishReason;
      error?: string;
      errorClass?: ProviderErrorClass;
      /** Whether the same request may succeed later; it is not repeated otherwise. */
      errorRetryable?: boolean;
      requestId?: string;
    };

/** A plugin of a standalone agent; a plugin of sessions has a manifest. */
export interface AgentRuntimePlugin {
  name: string;
  /** Plugins of sessions have one. */
  manifest?: undefined;
  setup?(context: {
    agentId: string;
    agentRole?: string;
    systemPrompt?: string;
  }): PluginParts | Promise<PluginParts>;
}

type PluginParts =
  | { tools?: readonly AgentTool[]; hooks?: Partial<AgentRuntimeHooks> }
  | undefined
  | void;

interface AgentSettings {
  agentId?: string;
  agentRole?: string;
  /** Its name in snapshots, requests and tools; that of the agent by default. */
  conversationId?: string;
  /** The program's own name of the session that the agent belongs to. */
  sessionId?: string;
  parentAgentId?: string | null;
  distinctId?: string;
  clientName?: string;
  clientVersion?: string;
  clineCoreVersion?: string;
  /** The model that answers are from, as their messages name it. */
  messageModelInfo?: NonNullable<AgentMessage['modelInfo']>;
  toolContextMetadata?: Record<string, unknown>;
  /** Calls of a turn run one after the other by default; `executionMode` of a tool comes first. */
  toolExecution?: 'sequential' | 'parallel';
  systemPrompt?: string;
  tools?: readonly AgentTool[];
  hooks?: Partial<AgentRuntimeHooks>;
  /** Plugins of sessions are taken, too. */
  plugins?: readonly (AgentRuntimePlugin | AgentPlugin)[];
  initialMessages?: readonly AgentMessage[];
  maxIterations?: number;
  /** `temperature`, `maxTokens`, `reasoningEffort`, `thinking`; a model of the program’s own gets all. */
  modelOptions?: Record<string, unknown>;
  toolPolicies?: Record<string, ToolPolicy>;
  requestToolApproval?: (
    request: ToolApprovalRequest,
  ) => ToolApprovalResult | Promise<ToolApprovalResult>;
  logger?: BasicLogger;
  [further: string]: unknown;
}

/** A model of the program's own, or one of a provider. */
export type AgentRuntimeConfig = AgentSettings &
  (
    | { model: AgentModel }
    | {
        providerId: string;
        modelId: string;
        apiKey?: string;
        baseUrl?: string;
        headers?: Record<string, string>;
        fetch?: typeof globalThis.fetch;
        /** The answers of the provider `scripted`. */
        script?: readonly ScriptTurn[];
      }
  );

/** Options that would change the loop and are unsupported; ignoring them silently would be worse. */
const UNSUPPORTED = ['prepareTurn', 'consumePendingUserMessage', 'completionPolicy', 'modelTools'];

/** Programs may be plain JavaScript; throws USAGE_INVALID or SDK_UNSUPPORTED. */
export function checkAgentConfig(config: AgentRuntimeConfig): void {
  const { model, providerId, modelId }: Readonly<Record<string, unknown>> = { ...config };
  for (const key of UNSUPPORTED) {
    if (config[key] === undefined) continue;
    throw createUnsupportedError(
      `${key} for standalone agents`,
      'Use a hook: beforeModel, or afterModel.',
    );
  }
  if (model !== undefined) {
    if (isRecord(model) && typeof model['stream'] === 'function') return;
    throw createConfigError('model', 'an object with stream(request)', model);
  }
  if (typeof providerId !== 'string') throw createConfigError('providerId', 'a text', providerId);
  if (typeof modelId !== 'string') throw createConfigError('modelId', 'a text', modelId);
}

function createConfigError(place: string, expected: string, value: unknown): HooklineError {
  const hint = 'An agent is given { providerId, modelId, apiKey } or { model }.';
  return createInputError(place, expected, value, hint);
}
