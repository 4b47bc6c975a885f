import type { ToolSpec } from '../../models/model.ts';

/** The faces of tools in one vocabulary, by the Claude name of each tool; several tools may share one. */
export type SpecTable = Readonly<Record<string, readonly ToolSpec[]>>;

type Schema = Readonly<Record<string, unknown>>;

/** The schema of an object; a key that ends in `?` may be absent. */
export function objectSchema(properties: Readonly<Record<string, Schema>>): Schema {
  const entries = Object.entries(properties);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([key, schema]) => [key.replace('?', ''), schema])),
    required: entries.map(([key]) => key).filter((key) => !key.endsWith('?')),
    additionalProperties: false,
  };
}

export function text(description: string): Schema {
  return { type: 'string', description };
}

export function flag(description: string): Schema {
  return { type: 'boolean', description };
}

export function integer(description: string): Schema {
  return { type: 'integer', minimum: 1, description };
}

export function listOf(items: Schema, description: string): Schema {
  return { type: 'array', minItems: 1, items, description };
}
