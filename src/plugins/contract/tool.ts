import {
  type InputSchema,
  isStandardSchema,
  type StandardSchema,
  toJsonSchema,
} from './input-schema.ts';
import type { AgentRuntimeStateSnapshot } from './snapshot.ts';

/** A tool of a plugin or of the program that embeds the agent. */
export interface AgentTool<Input = unknown, Output = unknown> {
  name: string;
  description: string;
  /** JSON Schema, or a schema of a library. */
  inputSchema: InputSchema;
  execute(input: Input, context: AgentToolContext): Output | Promise<Output>;
  lifecycle?: { completesRun?: boolean };
  executionMode?: 'sequential' | 'parallel';
  timeoutMs?: number;
  retryable?: boolean;
  maxRetries?: number;
}

export interface AgentToolContext {
  sessionId?: string;
  agentId: string;
  conversationId?: string;
  runId?: string;
  iteration: number;
  toolCallId?: string;
  cwd?: string;
  signal?: AbortSignal;
  metadata?: Record<string, unknown>;
  snapshot?: AgentRuntimeStateSnapshot;
  /** Reports progress. */
  emitUpdate?(update: unknown): void;
}

export interface AgentToolResult {
  output: unknown;
  isError?: boolean;
  metadata?: Record<string, unknown>;
}

const DEFAULTS = { timeoutMs: 30_000, retryable: true, maxRetries: 3 } as const;

// A plugin may contain its own copy of this package, so the symbol is in the global registry.
const AUTHORED = Symbol.for('hookline.authored-schema');

/** Creates a tool; its schema is converted to plain JSON Schema. */
export function createTool<Input = unknown, Output = unknown>(
  definition: AgentTool<Input, Output>,
): AgentTool<Input, Output> {
  const { inputSchema: authored } = definition;
  const tool = { ...DEFAULTS, ...definition, inputSchema: toJsonSchema(authored, definition.name) };
  return isStandardSchema(authored) ? withCheckingSchema(tool, authored) : tool;
}

/** Validates a tool's input with another schema than the one that the model gets. */
export function withCheckingSchema<Tool extends object>(tool: Tool, schema: StandardSchema): Tool {
  return Object.defineProperty(tool, AUTHORED, { value: schema });
}

/** The schema that validates input: the author's own, which may express more than JSON Schema can. */
export function getCheckingSchema(tool: AgentTool): InputSchema {
  const authored: unknown = Reflect.get(tool, AUTHORED);
  // Tools may be plain JavaScript, so the field may be missing.
  return isStandardSchema(authored) ? authored : (tool.inputSchema ?? {});
}
