import type { PromptOverride } from '../../agent/instructions/system-prompt.ts';
import type { LoopLimits } from '../../agent/loop/loop-guard.ts';
import type { Model, ModelRequest } from '../../agent/models/model.ts';
import type { ModelTransport } from '../../agent/models/providers.ts';
import type { ScriptTurn } from '../../agent/models/scripted.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import type { Toolset } from '../../agent/tools/toolsets.ts';
import type { Person } from '../../agent/session-context.ts';
import type { PermissionMode } from '../../permissions/permissions.ts';
import type { Settings } from '../settings.ts';
import type { PluginOptions } from '../plugins/plugin-options.ts';

/** Options of the agents in this host. The configuration has the defaults. */
export interface AgentOptions {
  /** Refuses to start a session when a hook, rule or setting does not count as it is written. */
  readonly isStrict?: boolean;
  readonly model?: Model | ModelWish;
  readonly permissionMode?: PermissionMode;
  /** Permission rules in Claude's syntax, above those of all files. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** Whether commands run in a sandbox; the setting `sandbox.mode` by default. */
  readonly sandbox?: Settings['sandbox.mode'];
  /** The names and input formats of the tools for the model. */
  readonly toolset?: Toolset;
  /** The reasoning effort; the setting `model.effort` by default. */
  readonly effort?: Settings['model.effort'];
  /** How many model requests one prompt may take. */
  readonly maxTurns?: number;
  /** When a run that repeats itself ends. */
  readonly loops?: LoopLimits;
  /** How often a request is repeated whose answer has nothing in it; such an answer is accepted by default. */
  readonly emptyAnswerRetries?: number;
  /**
   * Whether hooks, rules and the user are asked about all calls of a turn before the first one runs, as
   * Cline does it; by default about each call just before it runs, as Claude Code does it.
   */
  readonly checksWholeTurn?: boolean;
  /** Directories beside the workspace that the agent may work in. */
  readonly addDirectories?: readonly string[];
  /** Fires Setup before the session starts. */
  readonly setup?: 'init' | 'maintenance';
  /** The user that can be asked; without one, such calls are denied. */
  readonly person?: Person;
  /** Files, or JSON texts, with MCP servers beside those that are configured. */
  readonly mcpConfig?: readonly string[];
  /** Whether the first prompt waits until each MCP server is connected or has failed; by default without a user. */
  readonly waitsForServers?: boolean;
  /** Tools beside Hookline's own; called for each model request. */
  readonly tools?: () => readonly Tool[];
  /** Which plugins its sessions have; the user's and the workspace's own by default. */
  readonly plugins?: PluginOptions;
  /** Selects and orders the agent's tools; by default all of them, those of plugins last. */
  readonly chooseTools?: (all: readonly Tool[], ofPlugins: readonly Tool[]) => readonly Tool[];
  /** Whether the model gets a tool under this name; by default all. */
  readonly offers?: (name: string) => boolean;
  /** Appended to the system prompt, or instead of it. */
  readonly systemPrompt?: string | PromptOverride;
  /** Changes each request to the model after hooks did. Must not throw. */
  readonly shapeRequest?: (request: ModelRequest, signal: AbortSignal) => Promise<ModelRequest>;
}

/** A model by name. */
export interface ModelWish {
  readonly provider?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly key?: string;
  readonly script?: readonly ScriptTurn[];
  /** Another transport than `fetch`, or further headers. */
  readonly transport?: ModelTransport;
}
