import { isRecord } from '../base/json.ts';

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
const OPEN_SCHEMA = { type: 'object', properties: {} } as const;

/** Read with patience: one tool that is described wrongly must not cost the others. */
export function readTool(given: unknown): ServerTool | null {
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

function schemaProblem(schema: unknown): string | null {
  if (!isRecord(schema)) return 'expected an object';
  const { type, properties } = schema;
  if (type !== 'object') return `expected "type" to be "object", found ${JSON.stringify(type)}`;
  if (properties !== undefined && !isRecord(properties)) {
    return 'expected "properties" to be an object';
  }
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARACTERS) {
    return `expected at most ${MAX_SCHEMA_CHARACTERS} characters, found more`;
  }
  return null;
}

export function readPrompt(given: unknown): ServerPrompt | null {
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

export function readResource(given: unknown): ServerResource | null {
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
