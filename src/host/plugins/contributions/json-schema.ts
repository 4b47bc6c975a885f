import { Ajv, type Options } from 'ajv';
import addFormats from 'ajv-formats';
import { getErrorMessage } from '../../../base/errors.ts';
import { compileLinear } from '../../../hooks/matcher.ts';
import type { JsonSchema } from '../../../plugins/contract/input-schema.ts';

/** Returns the problem of a value, or null. A schema that cannot be checked is reported once, and accepts all. */
export function createJsonSchemaCheck(
  schema: JsonSchema,
  onUnchecked: (what: string) => void,
  what = 'input',
): (value: unknown) => string | null {
  const ajv = new Ajv(buildOptions(createPatternEngine(onUnchecked)));
  // The fast formats, because the full ones may take long for some texts.
  addFormats.default(ajv, { mode: 'fast' });
  try {
    const validate = ajv.compile(schema);
    return (value) => (validate(value) ? null : ajv.errorsText(validate.errors, { dataVar: what }));
  } catch (error) {
    // The author must fix an invalid schema; until then the tool gets unchecked input.
    onUnchecked(
      `its ${what} schema cannot be read, so nothing is checked: ${getErrorMessage(error)}`,
    );
    return () => null;
  }
}

type PatternEngine = NonNullable<NonNullable<Options['code']>['regExp']>;

function buildOptions(regExp: PatternEngine): Options {
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

/** Uses RE2, so that no pattern of a schema takes more than linear time. */
function createPatternEngine(onUnchecked: (what: string) => void): PatternEngine {
  const compile = (pattern: string): ReturnType<PatternEngine> => {
    const linear = compileLinear(pattern);
    if (!linear.ok) onUnchecked(`the pattern ${pattern} is not checked: ${linear.error}`);
    const tester = {
      test: (text: string): boolean => !linear.ok || linear.test(text),
      // ajv compares patterns by their text.
      toString: () => pattern,
    };
    return tester;
  };
  return Object.assign(compile, { code: 'compileLinear' });
}
