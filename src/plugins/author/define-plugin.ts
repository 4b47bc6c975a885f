import type { AgentPlugin } from '../contract/plugin.ts';
import type { AgentRuntimeHooks, HookName } from '../contract/runtime-hooks.ts';
import type { StandardSchema } from '../contract/input-schema.ts';
import { type AgentTool, type AgentToolContext, createTool as makeTool } from '../contract/tool.ts';

/**
 * Returns the plugin unchanged, type-checked as it is written: `setup` and hooks have typed arguments, and
 * an unknown key is an error.
 */
export function definePlugin(plugin: AgentPlugin): AgentPlugin {
  return plugin;
}

export interface HookWishes {
  /**
   * Refuses the call when the hook throws or exceeds its time limit; such a hook is never switched off
   * after failures.
   */
  failClosed?: boolean;
}

/**
 * Types a single hook by its name: `hooks: { beforeTool: defineHook('beforeTool', …) }`. Returns the
 * function itself, marked with its options.
 */
export function defineHook<Name extends HookName>(
  _name: Name,
  hook: AgentRuntimeHooks[Name],
  { failClosed = false }: HookWishes = {},
): AgentRuntimeHooks[Name] & HookWishes {
  return Object.assign(hook, { failClosed });
}

/** The output type of a schema of a library. */
export type OutputOf<Schema extends StandardSchema> = Schema extends {
  readonly '~standard': { readonly types?: { readonly output: infer Output } | undefined };
}
  ? Output
  : unknown;

/** A tool as its author writes it. */
export interface ToolDefinition<Schema, Input, Output> extends Omit<
  AgentTool<Input, Output>,
  'inputSchema' | 'execute'
> {
  inputSchema: Schema;
  execute(input: Input, context: AgentToolContext): Output | Promise<Output>;
}

/**
 * Creates a tool whose `execute` gets the type of its input from the schema: zod's, any other that follows
 * Standard Schema, or JSON Schema.
 */
export function defineTool<Schema extends StandardSchema, Output>(
  definition: ToolDefinition<Schema, OutputOf<Schema>, Output>,
): AgentTool<OutputOf<Schema>, Output>;
export function defineTool<const Schema extends WrittenSchema, Output>(
  definition: ToolDefinition<Schema, FromJsonSchema<Schema>, Output>,
): AgentTool<FromJsonSchema<Schema>, Output>;
export function defineTool(definition: AgentTool): AgentTool {
  return makeTool(definition);
}

/**
 * Creates a tool as `@cline/core` does: the input's type comes from a schema of a library, or is the type
 * argument that the author sets.
 */
export function createTool<Schema extends StandardSchema, Output>(
  definition: ToolDefinition<Schema, OutputOf<Schema>, Output>,
): AgentTool<OutputOf<Schema>, Output>;
export function createTool<Input = unknown, Output = unknown>(
  definition: ToolDefinition<Record<string, unknown>, Input, Output>,
): AgentTool<Input, Output>;
export function createTool(definition: AgentTool): AgentTool {
  return makeTool(definition);
}

/** JSON Schema as an author writes it; unknown keywords are allowed and ignored. */
export interface WrittenSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: { readonly [name: string]: WrittenSchema | boolean };
  readonly required?: readonly string[];
  readonly items?: WrittenSchema | boolean | readonly WrittenSchema[];
  readonly anyOf?: readonly WrittenSchema[];
  readonly oneOf?: readonly WrittenSchema[];
  readonly additionalProperties?: WrittenSchema | boolean;
  readonly [keyword: string]: unknown;
}

/** The type of the values that a schema describes; `unknown` where the schema does not define it. */
export type FromJsonSchema<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly anyOf: readonly (infer Branch)[] }
      ? FromJsonSchema<Branch>
      : Schema extends { readonly oneOf: readonly (infer Branch)[] }
        ? FromJsonSchema<Branch>
        : Schema extends { readonly type: readonly (infer Name)[] }
          ? FromType<Schema, Name>
          : Schema extends { readonly type: infer Name }
            ? FromType<Schema, Name>
            : Schema extends { readonly properties: object }
              ? FromObject<Schema>
              : unknown;

type FromType<Schema, Name> = Name extends 'string'
  ? string
  : Name extends 'number' | 'integer'
    ? number
    : Name extends 'boolean'
      ? boolean
      : Name extends 'null'
        ? null
        : Name extends 'array'
          ? FromArray<Schema>
          : Name extends 'object'
            ? FromObject<Schema>
            : unknown;

type FromArray<Schema> = Schema extends { readonly items: readonly unknown[] }
  ? unknown[]
  : Schema extends { readonly items: infer Item }
    ? FromJsonSchema<Item>[]
    : unknown[];

type FromObject<Schema> = Schema extends { readonly properties: infer Properties }
  ? Plain<
      {
        -readonly [Key in keyof Properties & RequiredIn<Schema>]: FromJsonSchema<Properties[Key]>;
      } & {
        -readonly [Key in Exclude<keyof Properties, RequiredIn<Schema>>]?: FromJsonSchema<
          Properties[Key]
        >;
      }
    >
  : Schema extends { readonly additionalProperties: infer Value extends object }
    ? Record<string, FromJsonSchema<Value>>
    : Record<string, unknown>;

type RequiredIn<Schema> = Schema extends { readonly required: readonly (infer Key)[] }
  ? Key
  : never;

/** Shows an intersection as one object type in editors. */
type Plain<Fields> = { [Key in keyof Fields]: Fields[Key] };
