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

/** What became of an input: the value to run with, or what is wrong with it. */
export type CheckedInput =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** How the input of one tool is looked at. */
export interface InputCheck {
  /** As a model is told of it. */
  readonly schema: JsonSchema;
  /** Reads what a model wrote as text where the schema wants a list, an object, a number or a yes. */
  read(given: unknown): unknown;
  /** May make another value of it, as schemas of libraries do. */
  check(input: unknown): CheckedInput | Promise<CheckedInput>;
}

/** Makes the checks of tools; what checks JSON Schema is loaded once, and only when a tool needs it. */
export async function createInputChecks(
  tools: readonly AgentTool[],
  onUnchecked: (tool: string, what: string) => void,
): Promise<(tool: AgentTool) => InputCheck> {
  const isPlain = (tool: AgentTool): boolean => !isStandardSchema(readSchema(tool));
  const checkOf = tools.some(isPlain)
    ? (await import('./json-schema.ts')).createJsonSchemaCheck
    : null;
  const made = new WeakMap<AgentTool, InputCheck>();
  return (tool) => {
    const known = made.get(tool);
    if (known !== undefined) return known;
    const tell = (what: string): void => onUnchecked(tool.name, what);
    const authored = readSchema(tool);
    const schema = toSendableSchema(authored, tool.name, tell);
    const check: InputCheck = {
      schema,
      read: (given) => withReadTexts(given, schema),
      check: isStandardSchema(authored)
        ? createSchemaCheck(authored)
        : createCheck(checkOf?.(schema, tell)),
    };
    made.set(tool, check);
    return check;
  };
}

/** Tools may be plain JavaScript, whose getters throw. */
function readSchema(tool: AgentTool): InputSchema {
  try {
    return getCheckingSchema(tool);
  } catch {
    return {};
  }
}

const MAX_SCHEMA_CHARACTERS = 1_000_000;

/** One schema that cannot be sent would cost every request to the model. */
function toSendableSchema(
  authored: InputSchema,
  tool: string,
  tell: (what: string) => void,
): JsonSchema {
  try {
    const { text, isExact, isCut } = toPlainText(
      toJsonSchema(authored, tool),
      MAX_SCHEMA_CHARACTERS,
    );
    const parsed = isExact && !isCut ? parseJson(text) : null;
    if (parsed?.ok === true && isRecord(parsed.value)) return parsed.value;
    tell('its input schema cannot be converted to JSON Schema, so a model may pass any object');
  } catch (error) {
    tell(
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

/** Models write lists, objects and numbers as text now and then: where the schema wants them, they are read. */
function readText(text: string, types: readonly unknown[]): unknown {
  const wanted = FITS.filter(([type]) => types.includes(type));
  if (wanted.length === 0 || types.includes('string')) return text;
  const parsed = parseJson(text);
  const isMeant = parsed.ok && wanted.some(([, fits]) => fits(parsed.value));
  return isMeant ? parsed.value : text;
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
