import { isRecord } from '../base/json.ts';
import type { ListKind, OpenClient } from './open-client.ts';
import { getErrorMessage } from '../base/errors.ts';
import { memoize } from '../base/memoize.ts';

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

const MAX_PAGES = 50;
const MAX_LISTED = 2000;

/** Every page of a list; nothing when the server has no such list. */
export async function listAllPages(
  client: OpenClient,
  kind: ListKind,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  if (!client.has(kind)) return [];
  const all: unknown[] = [];
  let cursor: unknown;
  for (let pages = 0; pages < MAX_PAGES && all.length < MAX_LISTED; pages += 1) {
    const params = typeof cursor === 'string' ? { cursor } : {};
    const answer = await client.request(`${kind}/list`, params, { signal });
    const listed: unknown = isRecord(answer) ? answer[kind] : null;
    const page: readonly unknown[] = Array.isArray(listed) ? listed : [];
    all.push(...page);
    cursor = isRecord(answer) ? answer['nextCursor'] : undefined;
    if (typeof cursor !== 'string' || cursor === '') break;
  }
  return all.slice(0, MAX_LISTED);
}

/** The first of a name counts. */
export function dedupeByName<Named extends { readonly name: string }>(
  all: readonly Named[],
): readonly Named[] {
  const known = new Map<string, Named>();
  for (const each of all) if (!known.has(each.name)) known.set(each.name, each);
  return [...known.values()];
}

type Schema = Readonly<Record<string, unknown>>;

/** What is wrong with a JSON Schema, or null. */
type SchemaCheck = (schema: Schema) => string | null;

/**
 * Loads what knows JSON Schema: services refuse every request that holds one that is none. It is
 * compared with the schema of schemas and not compiled, so that no code is made of what servers say.
 */
export const loadSchemaCheck: () => Promise<SchemaCheck> = memoize(async () => {
  const { Ajv } = await import('@modelcontextprotocol/client/validators/ajv');
  const reader = new Ajv({ strict: false, validateFormats: false, logger: false });
  return (schema: Schema) => {
    try {
      if (reader.validateSchema(inOneDraft(schema)) === true) return null;
    } catch (error) {
      // It may be nested too deeply to be read at all.
      return getErrorMessage(error);
    }
    const [fault] = reader.errors ?? [];
    return `${fault?.instancePath ?? ''} ${fault?.message ?? 'is no JSON Schema'}`.trim();
  };
});

/** As the draft that nearly all servers keep to has it; what is newer in it is left alone. */
function inOneDraft(schema: Schema): Record<string, unknown> {
  const { $schema: _draft, $defs, definitions, ...rest } = schema;
  const named = {
    ...(isRecord(definitions) ? definitions : {}),
    ...(isRecord($defs) ? $defs : {}),
  };
  return { ...rest, definitions: named };
}
