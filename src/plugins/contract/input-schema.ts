import { HooklineError, tryOrNull } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { convertZod3Schema } from './zod-3-schema.ts';

export type JsonSchema = Record<string, unknown>;

/** JSON Schema, or a schema of a library that follows Standard Schema, as zod's do. */
export type InputSchema = JsonSchema | StandardSchema;

export interface StandardSchema {
  readonly '~standard': {
    readonly version: number;
    readonly vendor: string;
    validate(value: unknown): StandardResult | Promise<StandardResult>;
  };
}

export type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

// The schemas of some libraries are functions with properties.
export function isStandardSchema(schema: unknown): schema is StandardSchema {
  const isThing = typeof schema === 'function' || (typeof schema === 'object' && schema !== null);
  if (!isThing || !('~standard' in schema)) return false;
  const standard = schema['~standard'];
  return isRecord(standard) && typeof standard['validate'] === 'function';
}

/** Converts the schema to JSON Schema for the model. Throws PLUGIN_INVALID when that is impossible. */
export function toJsonSchema(schema: InputSchema, tool: string): JsonSchema {
  const { $schema: _dialect, ...plain } = isStandardSchema(schema)
    ? convertSchema(schema)
    : (convertZod3Schema(schema) ?? schema);
  if (typeof plain['type'] === 'string') return plain;
  if (['properties', 'required', 'additionalProperties'].some((key) => key in plain)) {
    return { type: 'object', ...plain };
  }
  for (const key of ['oneOf', 'anyOf', 'allOf']) {
    const branches: unknown = plain[key];
    if (!Array.isArray(branches)) continue;
    const isFine = key === 'allOf' ? branches.some(isObjectType) : branches.every(isObjectType);
    if (!isFine) throw createObjectError(tool, key);
  }
  return plain;
}

function isObjectType(branch: unknown): boolean {
  return isRecord(branch) && branch['type'] === 'object';
}

function createObjectError(tool: string, key: string): HooklineError {
  return new HooklineError('PLUGIN_INVALID', {
    message: `the input schema of the tool "${tool}" must describe an object at its top level, found a branch of "${key}" that does not`,
    hint: 'Give every branch "type": "object".',
  });
}

/** zod and others provide their JSON Schema; for a library that does not, any object is accepted. */
function convertSchema(schema: StandardSchema): JsonSchema {
  const standard: unknown = schema['~standard'];
  const ways: readonly (() => unknown)[] = [
    () => readField(readField(standard, 'jsonSchema'), 'input', { target: 'draft-2020-12' }),
    () => readField(schema, 'toJSONSchema', { io: 'input' }),
    // Types that JSON Schema cannot express, such as dates, become `any`; the rest is converted.
    () => readField(schema, 'toJSONSchema', { io: 'input', unrepresentable: 'any' }),
    () => readField(schema, 'toJsonSchema', {}),
    () => convertZod3Schema(schema),
  ];
  for (const way of ways) {
    // An error of the library must not prevent the tool.
    const converted = tryOrNull(way);
    if (isRecord(converted)) return converted;
  }
  return { type: 'object' };
}

function readField(owner: unknown, name: string, argument?: object): unknown {
  const isThing = typeof owner === 'function' || (typeof owner === 'object' && owner !== null);
  const value: unknown = isThing ? Reflect.get(owner, name) : undefined;
  if (argument === undefined) return value;
  return typeof value === 'function' ? Reflect.apply(value, owner, [argument]) : undefined;
}
