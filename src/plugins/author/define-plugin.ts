import type { AgentPlugin } from '../contract/plugin.ts';
import type { AgentRuntimeHooks, HookName } from '../contract/runtime-hooks.ts';
import type { StandardSchema } from '../contract/input-schema.ts';
import { type AgentTool, type AgentToolContext, createTool as makeTool } from '../contract/tool.ts';

/**
 * A plugin, checked by the compiler as it is written: `setup` and hooks know what they are given, and a
 * name that no plugin has is an error. What comes back is the object itself.
 */
export function definePlugin(plugin: AgentPlugin): AgentPlugin {
  return plugin;
}

export interface HookWishes {
  /**
   * Whether a failure of the hook is a refusal: when it throws or takes too long, what it was asked about
   * is refused, and the hook is never switched off.
   */
  failClosed?: boolean;
}

/**
 * A hook by itself, typed by its name: `hooks: { beforeTool: defineHook('beforeTool', …) }`.
 * Returns the function itself, with the options as its properties.
 */
export function defineHook<Name extends HookName>(
  _name: Name,
  hook: AgentRuntimeHooks[Name],
  { failClosed = false }: HookWishes = {},
): AgentRuntimeHooks[Name] & HookWishes {
  return Object.assign(hook, { failClosed });
}

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
  definition: ToolDefinition<Schema, OutputOf<Schema>, Output>,
): AgentTool<OutputOf<Schema>, Output>;
export function defineTool<const Schema extends WrittenSchema, Output>(
  definition: ToolDefinition<Schema, FromJsonSchema<Schema>, Output>,
): AgentTool<FromJsonSchema<Schema>, Output>;
export function defineTool(definition: AgentTool): AgentTool {
  return makeTool(definition);
}

/**
 * Creates a tool like `@cline/core` does: the input's type is inferred from a schema of a library, or is
 * the type argument that the author gives, which nothing checks.
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

/** JSON Schema as an author writes it down; what is not known here is allowed and says nothing. */
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

/** The value that a schema describes; `unknown` where it cannot be told from its text. */
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

/** One object type instead of two that are joined, as people like to read it. */
type Plain<Fields> = { [Key in keyof Fields]: Fields[Key] };
