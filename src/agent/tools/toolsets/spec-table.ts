import type { ToolSpec } from '../../models/model.ts';

/** Tool specs of one vocabulary by Claude Code name; several tools may share a spec. */
export type SpecTable = Readonly<Record<string, readonly ToolSpec[]>>;

type Schema = Readonly<Record<string, unknown>>;

/** An object schema; a key that ends in `?` is optional. */
export function defineObject(properties: Readonly<Record<string, Schema>>): Schema {
  const entries = Object.entries(properties);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([key, schema]) => [key.replace('?', ''), schema])),
    required: entries.map(([key]) => key).filter((key) => !key.endsWith('?')),
    additionalProperties: false,
  };
}

export function defineText(description: string): Schema {
  return { type: 'string', description };
}

export function defineFlag(description: string): Schema {
  return { type: 'boolean', description };
}

export function defineInteger(description: string): Schema {
  return { type: 'integer', minimum: 1, description };
}

export function defineList(items: Schema, description: string): Schema {
  return { type: 'array', minItems: 1, items, description };
}
