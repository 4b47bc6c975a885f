import type { StandardSchema } from '../contract/input-schema.ts';
import { type AgentTool, type AgentToolContext, createTool as makeTool } from '../contract/tool.ts';
import type { FromJsonSchema, WrittenSchema } from './from-json-schema.ts';

/** What a schema of a library makes of an input that it accepts. */
export type OutputOf<Schema extends StandardSchema> = Schema extends {
  readonly '~standard': { readonly types?: { readonly output: infer Output } | undefined };
}
  ? Output
  : unknown;

/** A tool as its author writes it down. */
export interface ToolDefinition<Schema, Input, Output> extends Omit<
  AgentTool<Input, Output>,
  'inputSchema' | 'execute'
> {
  inputSchema: Schema;
  execute(input: Input, context: AgentToolContext): Output | Promise<Output>;
}

/**
 * A tool whose `execute` knows its input from the schema: zod's, any other that follows Standard Schema,
 * or JSON Schema, which is read as it is written.
 */
export function defineTool<Schema extends StandardSchema, Output>(
  made: ToolDefinition<Schema, OutputOf<Schema>, Output>,
): AgentTool<OutputOf<Schema>, Output>;
export function defineTool<const Schema extends WrittenSchema, Output>(
  made: ToolDefinition<Schema, FromJsonSchema<Schema>, Output>,
): AgentTool<FromJsonSchema<Schema>, Output>;
export function defineTool(made: AgentTool): AgentTool {
  return makeTool(made);
}

/**
 * Makes a tool of what its author wrote down, as `@cline/core` does: the input's type comes from a schema
 * of a library, or is the author's own word.
 */
export function createTool<Schema extends StandardSchema, Output>(
  made: ToolDefinition<Schema, OutputOf<Schema>, Output>,
): AgentTool<OutputOf<Schema>, Output>;
export function createTool<Input = unknown, Output = unknown>(
  made: ToolDefinition<Record<string, unknown>, Input, Output>,
): AgentTool<Input, Output>;
export function createTool(made: AgentTool): AgentTool {
  return makeTool(made);
}
