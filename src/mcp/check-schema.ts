import { getErrorMessage } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import { memoize } from '../base/once.ts';

type Schema = Readonly<Record<string, unknown>>;

/** What is wrong with a JSON Schema, or null. */
export type SchemaCheck = (schema: Schema) => string | null;

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
