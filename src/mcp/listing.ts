import { isRecord } from '../base/json.ts';
import type { SchemaCheck } from './check-schema.ts';

/** A tool as its server describes it. */
export interface ServerTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** What the server says; it need not be true. */
  readonly isReadOnly: boolean;
  /** What a person should know of the description. */
  readonly note: string | null;
}

export interface ServerPrompt {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly isRequired: boolean }[];
}

export interface ServerResource {
  readonly uri: string;
  readonly name: string;
  readonly mimeType?: string;
  readonly description?: string;
}

const MAX_DESCRIPTION = 2048;
const MAX_SCHEMA_CHARACTERS = 100_000;
/** Every request to the model carries the schemas of all tools. */
const MAX_SCHEMAS_CHARACTERS = 1_000_000;
const OPEN_SCHEMA = { type: 'object', properties: {} } as const;

/** Tools as their server lists them, each read with patience: one that is wrong must not cost the others. */
export function parseTools(listed: readonly unknown[], check: SchemaCheck): readonly ServerTool[] {
  let left = MAX_SCHEMAS_CHARACTERS;
  return listed.flatMap((given) => {
    const schemaProblem = (schema: unknown): string | null => {
      const characters = isRecord(schema) ? JSON.stringify(schema).length : 0;
      const max = Math.min(left, MAX_SCHEMA_CHARACTERS);
      if (characters > max) return tooLong(max);
      left -= characters;
      return problemOf(schema, check);
    };
    return readTool(given, schemaProblem) ?? [];
  });
}

function tooLong(max: number): string {
  return max === MAX_SCHEMA_CHARACTERS
    ? `expected at most ${max} characters, found more`
    : `expected at most ${MAX_SCHEMAS_CHARACTERS} characters for all tools, found more`;
}

function readTool(
  given: unknown,
  schemaProblem: (schema: unknown) => string | null,
): ServerTool | null {
  if (!isRecord(given) || typeof given['name'] !== 'string' || given['name'] === '') return null;
  const { name, description, inputSchema, annotations } = given;
  const wrong = schemaProblem(inputSchema);
  return {
    name,
    description: textOf(description).slice(0, MAX_DESCRIPTION),
    schema: wrong === null && isRecord(inputSchema) ? inputSchema : OPEN_SCHEMA,
    isReadOnly: isRecord(annotations) && annotations['readOnlyHint'] === true,
    note: wrong === null ? null : `its tool ${name} has no usable input schema: ${wrong}`,
  };
}

function problemOf(schema: unknown, check: SchemaCheck): string | null {
  if (!isRecord(schema)) return 'expected an object';
  const { type, properties } = schema;
  if (type !== 'object') return `expected "type" to be "object", found ${JSON.stringify(type)}`;
  if (properties !== undefined && !isRecord(properties)) {
    return 'expected "properties" to be an object';
  }
  return check(schema);
}

export function parsePrompt(given: unknown): ServerPrompt | null {
  if (!isRecord(given) || typeof given['name'] !== 'string' || given['name'] === '') return null;
  const { name, description, arguments: listed } = given;
  const named = Array.isArray(listed) ? listed.filter(isRecord) : [];
  return {
    name,
    description: textOf(description).slice(0, MAX_DESCRIPTION),
    arguments: named.flatMap((each) =>
      typeof each['name'] === 'string'
        ? [{ name: each['name'], isRequired: each['required'] === true }]
        : [],
    ),
  };
}

export function parseResource(given: unknown): ServerResource | null {
  if (!isRecord(given) || typeof given['uri'] !== 'string') return null;
  const { uri, name, mimeType, description } = given;
  return {
    uri,
    name: textOf(name),
    ...(typeof mimeType === 'string' ? { mimeType } : {}),
    ...(typeof description === 'string'
      ? { description: description.slice(0, MAX_DESCRIPTION) }
      : {}),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
