import { isRecord, parseJson } from '../../base/json.ts';
import {
  isStandardSchema,
  type JsonSchema,
  type StandardIssue,
  type StandardResult,
  type StandardSchema,
  toJsonSchema,
} from '../../plugins/contract/input-schema.ts';
import { type AgentTool, checkingSchema } from '../../plugins/contract/tool.ts';

/** What became of an input: the value to run with, or what is wrong with it. */
export type CheckedInput =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

export type InputCheck = (input: unknown) => CheckedInput | Promise<CheckedInput>;

/** Makes the checks of tools; what checks JSON Schema is loaded once, and only when a tool needs it. */
export async function createInputChecks(
  tools: readonly AgentTool[],
): Promise<(tool: AgentTool) => InputCheck> {
  const isPlain = (tool: AgentTool): boolean => !isStandardSchema(checkingSchema(tool));
  const { AjvJsonSchemaValidator } = tools.some(isPlain)
    ? await import('@modelcontextprotocol/client/validators/ajv')
    : { AjvJsonSchemaValidator: null };
  const made = new WeakMap<AgentTool, InputCheck>();
  return (tool) => {
    const known = made.get(tool);
    if (known !== undefined) return known;
    const schema = checkingSchema(tool);
    const check = isStandardSchema(schema)
      ? checkWith(schema)
      : checkPlain(toJsonSchema(schema, tool.name), (plain) =>
          AjvJsonSchemaValidator === null ? null : new AjvJsonSchemaValidator().getValidator(plain),
        );
    made.set(tool, check);
    return check;
  };
}

type Validator = (input: unknown) => { valid: boolean; errorMessage?: string | undefined };

function checkPlain(
  schema: JsonSchema,
  compile: (schema: JsonSchema) => Validator | null,
): InputCheck {
  const validate = compileIfPossible(schema, compile);
  return (input) => {
    const value = withParsedTexts(input, schema);
    const result = validate?.(value) ?? { valid: true };
    if (result.valid) return { ok: true, value };
    return { ok: false, problem: (result.errorMessage ?? '').replaceAll('data', 'input') };
  };
}

/** A schema that cannot be read is the author's to mend; the tool looks at its input itself. */
function compileIfPossible(
  schema: JsonSchema,
  compile: (schema: JsonSchema) => Validator | null,
): Validator | null {
  try {
    return compile(schema);
  } catch {
    return null;
  }
}

/** Models write lists and objects as text now and then: where the schema wants them, they are read. */
function withParsedTexts(value: unknown, schema: unknown): unknown {
  if (!isRecord(schema)) return value;
  const { type, properties, items } = schema;
  if (typeof value === 'string' && (type === 'array' || type === 'object')) {
    const parsed = parseJson(value);
    const isMeant =
      parsed.ok && (type === 'array' ? Array.isArray(parsed.value) : isRecord(parsed.value));
    return isMeant ? withParsedTexts(parsed.value, schema) : value;
  }
  if (Array.isArray(value)) return value.map((each) => withParsedTexts(each, items));
  if (!isRecord(value) || !isRecord(properties)) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, each]) => [key, withParsedTexts(each, properties[key])]),
  );
}

function checkWith(schema: StandardSchema): InputCheck {
  return (input) => {
    const result = schema['~standard'].validate(input);
    return 'then' in result ? result.then(checked) : checked(result);
  };
}

function checked(result: StandardResult): CheckedInput {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, problem: result.issues.map(sayIssue).join('; ') };
}

function sayIssue({ message, path = [] }: StandardIssue): string {
  const keys = path.map((step) => String(typeof step === 'object' ? step.key : step));
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`;
}
