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
  onUnchecked: (tool: string, what: string) => void,
): Promise<(tool: AgentTool) => InputCheck> {
  const isPlain = (tool: AgentTool): boolean => !isStandardSchema(checkingSchema(tool));
  const checkOf = tools.some(isPlain) ? (await import('./json-schema.ts')).jsonSchemaCheck : null;
  const made = new WeakMap<AgentTool, InputCheck>();
  return (tool) => {
    const known = made.get(tool);
    if (known !== undefined) return known;
    const schema = checkingSchema(tool);
    const plain = toJsonSchema(schema, tool.name);
    const tell = (what: string): void => onUnchecked(tool.name, what);
    const check = isStandardSchema(schema) ? checkWith(schema) : checkBy(checkOf?.(plain, tell));
    const parsing: InputCheck = (input) => check(withParsedTexts(input, plain));
    made.set(tool, parsing);
    return parsing;
  };
}

function checkBy(findProblem: (input: unknown) => string | null = () => null): InputCheck {
  return (value) => {
    const problem = findProblem(value);
    return problem === null ? { ok: true, value } : { ok: false, problem };
  };
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
    entries.map(([key, each]) => [key, withParsedTexts(each, ownOf(properties, key))]),
  );
}

function ownOf(properties: JsonSchema, key: string): unknown {
  return Object.hasOwn(properties, key) ? properties[key] : undefined;
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
