import { isRecord } from '../../base/json.ts';

type JsonSchema = Record<string, unknown>;
type Definition = Readonly<Record<string, unknown>>;

/** A limit, because a schema may contain itself. */
const MAX_DEPTH = 30;

/** Converts a schema of zod 3, which cannot convert itself, to JSON Schema; null for other values. */
export function convertZod3Schema(schema: unknown, depth = 0): JsonSchema | null {
  const definition = readDefinition(schema);
  if (definition === null) return null;
  const { typeName, description } = definition;
  const read = READERS.get(String(typeName));
  const convertInner: ConvertInner = (inner) =>
    (depth < MAX_DEPTH ? convertZod3Schema(inner, depth + 1) : null) ?? {};
  // A type that JSON cannot represent, such as a date, accepts any value.
  const converted = read?.(definition, convertInner) ?? {};
  return typeof description === 'string' ? { ...converted, description } : converted;
}

function readDefinition(schema: unknown): Definition | null {
  if (typeof schema !== 'object' || schema === null || !('_def' in schema)) return null;
  const { _def: definition } = schema;
  return isRecord(definition) && typeof definition['typeName'] === 'string' ? definition : null;
}

type ConvertInner = (inner: unknown) => JsonSchema;
type Reader = (definition: Definition, convertInner: ConvertInner) => JsonSchema;

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['ZodString', ({ checks }) => ({ type: 'string', ...convertLimits(checks, TEXT_LIMITS) })],
  ['ZodNumber', convertNumber],
  ['ZodBigInt', () => ({ type: 'integer' })],
  ['ZodBoolean', () => ({ type: 'boolean' })],
  ['ZodNull', () => ({ type: 'null' })],
  ['ZodLiteral', ({ value }) => ({ const: value })],
  ['ZodEnum', ({ values }) => ({ type: 'string', enum: values })],
  ['ZodNativeEnum', ({ values }) => ({ enum: listEnumValues(values) })],
  ['ZodObject', convertObject],
  ['ZodArray', convertArray],
  [
    'ZodTuple',
    ({ items }, convertInner) => ({ type: 'array', prefixItems: toList(items).map(convertInner) }),
  ],
  ['ZodUnion', ({ options }, convertInner) => ({ anyOf: toList(options).map(convertInner) })],
  [
    'ZodDiscriminatedUnion',
    ({ options }, convertInner) => ({ anyOf: toList(options).map(convertInner) }),
  ],
  [
    'ZodIntersection',
    ({ left, right }, convertInner) => ({ allOf: [convertInner(left), convertInner(right)] }),
  ],
  [
    'ZodRecord',
    ({ valueType }, convertInner) => ({
      type: 'object',
      additionalProperties: convertInner(valueType),
    }),
  ],
  [
    'ZodNullable',
    ({ innerType }, convertInner) => ({ anyOf: [convertInner(innerType), { type: 'null' }] }),
  ],
  ['ZodOptional', ({ innerType }, convertInner) => convertInner(innerType)],
  ['ZodReadonly', ({ innerType }, convertInner) => convertInner(innerType)],
  ['ZodCatch', ({ innerType }, convertInner) => convertInner(innerType)],
  [
    'ZodDefault',
    ({ innerType, defaultValue }, convertInner) => ({
      ...convertInner(innerType),
      default: callIfFunction(defaultValue),
    }),
  ],
  ['ZodEffects', ({ schema }, convertInner) => convertInner(schema)],
  ['ZodBranded', ({ type }, convertInner) => convertInner(type)],
  ['ZodPipeline', ({ in: first }, convertInner) => convertInner(first)],
  ['ZodLazy', ({ getter }, convertInner) => convertInner(callIfFunction(getter))],
]);

type Limits = Readonly<Record<string, readonly string[]>>;

const TEXT_LIMITS: Limits = {
  min: ['minLength'],
  max: ['maxLength'],
  length: ['minLength', 'maxLength'],
};
const NUMBER_LIMITS: Limits = { min: ['minimum'], max: ['maximum'], multipleOf: ['multipleOf'] };
const OPEN_LIMITS: Limits = { min: ['exclusiveMinimum'], max: ['exclusiveMaximum'] };

function convertLimits(checks: unknown, limits: Limits): JsonSchema {
  const schema: JsonSchema = {};
  for (const check of toList(checks)) {
    if (!isRecord(check)) continue;
    const { kind, value, inclusive } = check;
    const limitKeys = inclusive === false ? OPEN_LIMITS : limits;
    for (const keyword of limitKeys[String(kind)] ?? []) schema[keyword] = value;
  }
  return schema;
}

function convertNumber({ checks }: Definition): JsonSchema {
  const isWhole = toList(checks).some((check) => isRecord(check) && check['kind'] === 'int');
  return { type: isWhole ? 'integer' : 'number', ...convertLimits(checks, NUMBER_LIMITS) };
}

/** A numeric enum of TypeScript maps its numbers back to names, which are removed. */
function listEnumValues(values: unknown): readonly unknown[] {
  if (!isRecord(values)) return [];
  const isBackwards = (key: string): boolean => typeof values[String(values[key])] === 'number';
  return Object.keys(values)
    .filter((key) => !isBackwards(key))
    .map((key) => values[key]);
}

function convertObject({ shape, unknownKeys }: Definition, convertInner: ConvertInner): JsonSchema {
  const fields = callIfFunction(shape);
  const entries = isRecord(fields) ? Object.entries(fields) : [];
  const required = entries.filter(([, field]) => !isOptional(field)).map(([key]) => key);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([key, field]) => [key, convertInner(field)])),
    ...(required.length === 0 ? {} : { required }),
    ...(unknownKeys === 'strict' ? { additionalProperties: false } : {}),
  };
}

function isOptional(field: unknown): boolean {
  if (typeof field !== 'object' || field === null || !('isOptional' in field)) return false;
  return callIfFunction(field.isOptional, field) === true;
}

function convertArray(
  { type, minLength, maxLength }: Definition,
  convertInner: ConvertInner,
): JsonSchema {
  return {
    type: 'array',
    items: convertInner(type),
    ...(isRecord(minLength) ? { minItems: minLength['value'] } : {}),
    ...(isRecord(maxLength) ? { maxItems: maxLength['value'] } : {}),
  };
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function callIfFunction(value: unknown, owner?: object): unknown {
  return typeof value === 'function' ? Reflect.apply(value, owner, []) : undefined;
}
