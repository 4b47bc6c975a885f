import { getErrorMessage } from '../../../base/errors.ts';
import { isRecord, parseJson } from '../../../base/json.ts';
import { toPlainText } from '../../../plugins/serialize/plain-value.ts';
import {
  isStandardSchema,
  type InputSchema,
  type JsonSchema,
  type StandardIssue,
  type StandardResult,
  type StandardSchema,
  toJsonSchema,
} from '../../../plugins/contract/input-schema.ts';
import { type AgentTool, getCheckingSchema } from '../../../plugins/contract/tool.ts';

/** The result of a validation: the value to run with, or the problem. */
export type CheckedInput =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** The validation of one tool's input. */
export interface InputCheck {
  /** The schema that the model gets. */
  readonly schema: JsonSchema;
  /** Parses a text where the schema expects a list, an object, a number or a boolean. */
  read(input: unknown): unknown;
  /** Returns another value where the schema of a library transforms it. */
  check(input: unknown): CheckedInput | Promise<CheckedInput>;
}

/** Creates the checks of tools; the JSON Schema validator is loaded once, when the first tool needs it. */
export async function createInputChecks(
  tools: readonly AgentTool[],
  onUnchecked: (tool: string, what: string) => void,
): Promise<(tool: AgentTool) => InputCheck> {
  const isPlain = (tool: AgentTool): boolean => !isStandardSchema(readSchema(tool));
  const createSchemaTest = tools.some(isPlain)
    ? (await import('./json-schema.ts')).createJsonSchemaCheck
    : null;
  const checks = new WeakMap<AgentTool, InputCheck>();
  return (tool) => {
    const cached = checks.get(tool);
    if (cached !== undefined) return cached;
    const reportUnchecked = (what: string): void => onUnchecked(tool.name, what);
    const authored = readSchema(tool);
    const schema = toSendableSchema(authored, tool.name, reportUnchecked);
    const check: InputCheck = {
      schema,
      read: (input) => withReadTexts(input, schema),
      check: isStandardSchema(authored)
        ? createSchemaCheck(authored)
        : createCheck(createSchemaTest?.(schema, reportUnchecked)),
    };
    checks.set(tool, check);
    return check;
  };
}

/** Getters of tools in plain JavaScript may throw. */
function readSchema(tool: AgentTool): InputSchema {
  try {
    return getCheckingSchema(tool);
  } catch {
    return {};
  }
}

const MAX_SCHEMA_CHARACTERS = 1_000_000;

/** One schema that cannot be serialized would fail every request to the model. */
function toSendableSchema(
  authored: InputSchema,
  tool: string,
  reportUnchecked: (what: string) => void,
): JsonSchema {
  try {
    const { text, isExact, isCut } = toPlainText(
      toJsonSchema(authored, tool),
      MAX_SCHEMA_CHARACTERS,
    );
    const parsed = isExact && !isCut ? parseJson(text) : null;
    if (parsed?.ok === true && isRecord(parsed.value)) return parsed.value;
    reportUnchecked(
      'its input schema cannot be converted to JSON Schema, so a model may pass any object',
    );
  } catch (error) {
    reportUnchecked(
      `its input schema cannot be used, so a model may give it any object: ${getErrorMessage(error)}`,
    );
  }
  return { type: 'object' };
}

function createCheck(
  findProblem: (input: unknown) => string | null = () => null,
): InputCheck['check'] {
  return (value) => {
    const problem = findProblem(value);
    return problem === null ? { ok: true, value } : { ok: false, problem };
  };
}

function withReadTexts(value: unknown, schema: unknown): unknown {
  if (!isRecord(schema)) return value;
  const read = typeof value === 'string' ? readText(value, listTypes(schema)) : value;
  const { properties, items } = schema;
  if (Array.isArray(read)) return read.map((each) => withReadTexts(each, items));
  if (!isRecord(read) || !isRecord(properties)) return read;
  const entries = Object.entries(read);
  return Object.fromEntries(
    entries.map(([key, each]) => [key, withReadTexts(each, getOwn(properties, key))]),
  );
}

function listTypes({ type }: JsonSchema): readonly unknown[] {
  return Array.isArray(type) ? type : [type];
}

const FITS: readonly (readonly [string, (value: unknown) => boolean])[] = [
  ['array', (value) => Array.isArray(value)],
  ['object', isRecord],
  ['number', Number.isFinite],
  ['integer', Number.isInteger],
  ['boolean', (value) => typeof value === 'boolean'],
];

/** Models sometimes write lists, objects and numbers as text: these are parsed where the schema expects them. */
function readText(text: string, types: readonly unknown[]): unknown {
  const fittingTypes = FITS.filter(([type]) => types.includes(type));
  if (fittingTypes.length === 0 || types.includes('string')) return text;
  const parsed = parseJson(text);
  const isFitting = parsed.ok && fittingTypes.some(([, fits]) => fits(parsed.value));
  return isFitting ? parsed.value : text;
}

function getOwn(properties: JsonSchema, key: string): unknown {
  return Object.hasOwn(properties, key) ? properties[key] : undefined;
}

function createSchemaCheck(schema: StandardSchema): InputCheck['check'] {
  return (input) => {
    const result = schema['~standard'].validate(input);
    return 'then' in result ? result.then(toCheckedInput) : toCheckedInput(result);
  };
}

function toCheckedInput(result: StandardResult): CheckedInput {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, problem: result.issues.map(formatIssue).join('; ') };
}

function formatIssue({ message, path = [] }: StandardIssue): string {
  const keys = path.map((step) => String(typeof step === 'object' ? step.key : step));
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`;
}
