import { HooklineError, getErrorMessage } from '../../../base/errors.ts';
import {
  type InputSchema,
  type JsonSchema,
  type StandardIssue,
  type StandardSchema,
  toJsonSchema,
} from '../../../plugins/contract/input-schema.ts';
import type { OutputOf } from '../../../plugins/author/define-plugin.ts';

/** Converts a schema of zod, or of any library that follows Standard Schema, to JSON Schema. */
export function zodToJsonSchema(schema: InputSchema): JsonSchema {
  return toJsonSchema(schema, 'zodToJsonSchema');
}

/** The input as the schema makes it. Throws USAGE_INVALID with everything that does not fit. */
export function validateWithZod<Schema extends StandardSchema>(
  schema: Schema,
  input: unknown,
): OutputOf<Schema>;
export function validateWithZod(schema: StandardSchema, input: unknown): unknown {
  const result = schema['~standard'].validate(input);
  if ('then' in result) {
    throw new HooklineError('USAGE_INVALID', {
      message: 'validateWithZod was given a schema that takes its time',
      hint: 'Call the schema’s own method and await it.',
    });
  }
  if (result.issues === undefined) return result.value;
  throw new HooklineError('USAGE_INVALID', { message: result.issues.map(formatIssue).join('; ') });
}

function formatIssue({ message, path = [] }: StandardIssue): string {
  const keys = path.map((step) => String(typeof step === 'object' ? step.key : step));
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`;
}

/** Serialises a value for plugins, as `@cline/shared` does. Never throws. */
export function safeJsonStringify(input: unknown): string {
  const above: unknown[] = [];
  function replaceValue(this: unknown, _key: string, value: unknown): unknown {
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    // Only cycles, because the same object may occur twice.
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    if (above.includes(value)) return '[Circular]';
    above.push(value);
    return value;
  }
  try {
    return JSON.stringify(input, replaceValue) ?? 'null';
  } catch (error) {
    return JSON.stringify(`(it cannot be converted to JSON: ${getErrorMessage(error)})`);
  }
}

/** Undefined for invalid JSON. */
export function safeJsonParse(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return undefined;
  }
}
