import { dropUndefined } from '../base/defined.ts';
import { isRecord } from '../base/json.ts';
import type { ListKind, OpenClient } from './open-client.ts';
import { getErrorMessage } from '../base/errors.ts';
import { importOptional } from '../base/optional-packages.ts';
import { memoize } from '../base/memoize.ts';

/** A tool as its server describes it. */
export interface ServerTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** As the server claims; it need not be true. */
  readonly isReadOnly: boolean;
  /** A note for the user about an invalid description. */
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
/** Limited in total, because every request to the model has the schemas of all tools. */
const MAX_SCHEMAS_CHARACTERS = 1_000_000;
const OPEN_SCHEMA = { type: 'object', properties: {} } as const;

/** Parses the tools of a server leniently: an invalid one does not affect the others. */
export function parseTools(listed: readonly unknown[], check: SchemaCheck): readonly ServerTool[] {
  let charactersLeft = MAX_SCHEMAS_CHARACTERS;
  return listed.flatMap((value) => {
    const checkSchema = (schema: unknown): string | null => {
      const characters = isRecord(schema) ? JSON.stringify(schema).length : 0;
      const max = Math.min(charactersLeft, MAX_SCHEMA_CHARACTERS);
      if (characters > max) return formatTooLong(max);
      charactersLeft -= characters;
      return findSchemaProblem(schema, check);
    };
    return parseTool(value, checkSchema) ?? [];
  });
}

function formatTooLong(max: number): string {
  return max === MAX_SCHEMA_CHARACTERS
    ? `expected at most ${max} characters, found more`
    : `expected at most ${MAX_SCHEMAS_CHARACTERS} characters for all tools, found more`;
}

function parseTool(
  value: unknown,
  checkSchema: (schema: unknown) => string | null,
): ServerTool | null {
  if (!isRecord(value) || typeof value['name'] !== 'string' || value['name'] === '') return null;
  const { name, description, inputSchema, annotations } = value;
  const problem = checkSchema(inputSchema);
  return {
    name,
    description: toText(description).slice(0, MAX_DESCRIPTION),
    schema: problem === null && isRecord(inputSchema) ? inputSchema : OPEN_SCHEMA,
    isReadOnly: isRecord(annotations) && annotations['readOnlyHint'] === true,
    note: problem === null ? null : `its tool ${name} has no usable input schema: ${problem}`,
  };
}

function findSchemaProblem(schema: unknown, check: SchemaCheck): string | null {
  if (!isRecord(schema)) return 'expected an object';
  const { type, properties } = schema;
  if (type !== 'object') return `expected "type" to be "object", found ${JSON.stringify(type)}`;
  if (properties !== undefined && !isRecord(properties)) {
    return 'expected "properties" to be an object';
  }
  return check(schema);
}

export function parsePrompt(value: unknown): ServerPrompt | null {
  if (!isRecord(value) || typeof value['name'] !== 'string' || value['name'] === '') return null;
  const { name, description, arguments: listed } = value;
  const definitionsByName = Array.isArray(listed) ? listed.filter(isRecord) : [];
  return {
    name,
    description: toText(description).slice(0, MAX_DESCRIPTION),
    arguments: definitionsByName.flatMap((each) =>
      typeof each['name'] === 'string'
        ? [{ name: each['name'], isRequired: each['required'] === true }]
        : [],
    ),
  };
}

export function parseResource(value: unknown): ServerResource | null {
  if (!isRecord(value) || typeof value['uri'] !== 'string') return null;
  const { uri, name, mimeType, description } = value;
  return dropUndefined({
    uri,
    name: toText(name),
    mimeType: typeof mimeType === 'string' ? mimeType : undefined,
    description:
      typeof description === 'string' ? description.slice(0, MAX_DESCRIPTION) : undefined,
  });
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const MAX_PAGES = 50;
const MAX_LISTED = 2000;

/** All pages of a list; empty when the server has no such list. */
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

/** Keeps the first of each name. */
export function dedupeByName<Named extends { readonly name: string }>(
  all: readonly Named[],
): readonly Named[] {
  const byName = new Map<string, Named>();
  for (const each of all) if (!byName.has(each.name)) byName.set(each.name, each);
  return [...byName.values()];
}

type Schema = Readonly<Record<string, unknown>>;

/** The problem of a JSON Schema, or null. */
type SchemaCheck = (schema: Schema) => string | null;

/**
 * Loads a validator for JSON Schemas, because providers refuse every request with an invalid one. The
 * schema is checked against its meta-schema and not compiled, so that no code is generated from it.
 */
export const loadSchemaCheck: () => Promise<SchemaCheck> = memoize(async () => {
  const { Ajv } = await importOptional(
    'an MCP server',
    () => import('@modelcontextprotocol/client/validators/ajv'),
  );
  const ajv = new Ajv({ strict: false, validateFormats: false, logger: false });
  return (schema: Schema) => {
    try {
      if (ajv.validateSchema(toDraft7(schema)) === true) return null;
    } catch (error) {
      // A deeply nested schema overflows the stack.
      return getErrorMessage(error);
    }
    const [error] = ajv.errors ?? [];
    return `${error?.instancePath ?? ''} ${error?.message ?? 'is not a JSON Schema'}`.trim();
  };
});

/** Converts to draft 7, which nearly all servers use; newer keywords are left alone. */
function toDraft7(schema: Schema): Record<string, unknown> {
  const { $schema: _draft, $defs, definitions, ...rest } = schema;
  const definitionsByName = {
    ...(isRecord(definitions) ? definitions : {}),
    ...(isRecord($defs) ? $defs : {}),
  };
  return { ...rest, definitions: definitionsByName };
}
