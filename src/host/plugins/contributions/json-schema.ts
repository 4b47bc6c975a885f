import { Ajv, type Options } from 'ajv';
import addFormats from 'ajv-formats';
import { getErrorMessage } from '../../../base/errors.ts';
import { tryLinear } from '../../../hooks/matcher.ts';
import type { JsonSchema } from '../../../plugins/contract/input-schema.ts';

/** Says what is wrong with a value, or null; what of the schema cannot be checked is told once, and then passes. */
export function jsonSchemaCheck(
  schema: JsonSchema,
  onUnchecked: (what: string) => void,
  what = 'input',
): (value: unknown) => string | null {
  const ajv = new Ajv(optionsWith(linearPatterns(onUnchecked)));
  // The plain ones: those that read more into a text may take long for it.
  addFormats.default(ajv, { mode: 'fast' });
  try {
    const validate = ajv.compile(schema);
    return (value) => (validate(value) ? null : ajv.errorsText(validate.errors, { dataVar: what }));
  } catch (error) {
    // A schema that cannot be read is the author's to mend; the tool looks at its input itself.
    onUnchecked(
      `its ${what} schema cannot be read, so nothing is checked: ${getErrorMessage(error)}`,
    );
    return () => null;
  }
}

type PatternEngine = NonNullable<NonNullable<Options['code']>['regExp']>;

function optionsWith(regExp: PatternEngine): Options {
  return {
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    allErrors: true,
    code: { regExp },
  };
}

/** No pattern of a schema may take longer than its text is long. */
function linearPatterns(onUnchecked: (what: string) => void): PatternEngine {
  const compile = (pattern: string): ReturnType<PatternEngine> => {
    const linear = tryLinear(pattern);
    if (!linear.ok) onUnchecked(`the pattern ${pattern} is not checked: ${linear.error}`);
    const made = {
      test: (text: string): boolean => !linear.ok || linear.test(text),
      // Equal patterns are known by their text.
      toString: () => pattern,
    };
    return made;
  };
  return Object.assign(compile, { code: 'compileLinear' });
}
