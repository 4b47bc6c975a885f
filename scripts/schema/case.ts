import { z } from 'zod';
import { anything, flag, text, textMap, texts } from './fields.ts';
import { CONFIG_VALUES } from './config.ts';
import { EFFECT, OUTCOME_FIELDS } from './verdict.ts';

const DESCRIBED_EVENT = z
  .strictObject({
    event: text('The event, by its canonical name or by that of any dialect.'),
    tool: text('Name of the tool, in any vocabulary.').optional(),
    input: anything('Input of the tool.').optional(),
    result: text('What the tool answered.').optional(),
    success: flag('Whether the tool succeeded.').optional(),
    prompt: text('What the user wrote.').optional(),
    source: text('What the event says of its source, such as "startup".').optional(),
    facts: z.record(z.string(), z.unknown()).describe('Any other fact of the event.').optional(),
  })
  .describe('An event as a user describes it; what it leaves out is an example.');

const RECORDED_EVENT = z
  .strictObject({
    payload: anything('What the agent wrote on the stdin of a hook.'),
    as: text('Whose payload it is; "cline" when absent.').optional(),
  })
  .describe('An event as another agent recorded it.');

/** A test instead of a value. */
const OPERATOR = z
  .strictObject({
    includes: z
      .union([z.string(), z.array(z.string())])
      .describe('Texts that the text must hold.')
      .optional(),
    matches: text('A regular expression that the text must match.').optional(),
    json: anything('What the text must hold as JSON.').optional(),
    any: z.literal(true).describe('That there is a value.').optional(),
  })
  .describe('A test instead of a value.');

const TEXT_LIST = z.union([
  z.array(
    z.union([
      z.string(),
      OPERATOR,
      z.strictObject({
        hook: z.union([z.string(), OPERATOR]).describe('Id of the hook.').optional(),
        text: z.union([z.string(), OPERATOR]).describe('What it said.').optional(),
      }),
    ]),
  ),
  OPERATOR,
]);

const OUTCOME = z.strictObject(
  Object.fromEntries(
    Object.entries(OUTCOME_FIELDS).map(([field, { description = '' }]) => [
      field,
      anything(description).optional(),
    ]),
  ),
);

const EXPECT = z
  .strictObject({
    event: z.union([z.string(), OPERATOR]).describe('The canonical name of the event.').optional(),
    effect: z.union([EFFECT, OPERATOR]).describe('Effect of the verdict.').optional(),
    stop: anything('Whether and how the run ends.').optional(),
    reasons: TEXT_LIST.describe('Why it is refused or asked about.').optional(),
    input: anything('New input of the tool, or null.').optional(),
    output: anything('New output of the tool, or null.').optional(),
    changes: anything('What else changes.').optional(),
    context: TEXT_LIST.describe('Text for the model.').optional(),
    messages: TEXT_LIST.describe('Text for the user.').optional(),
    outcomes: z
      .union([z.array(z.union([OPERATOR, OUTCOME])), OPERATOR])
      .describe('One for every run of a hook, in declared order.')
      .optional(),
    skipped: anything('Every hook that did not run, and why.').optional(),
    slowest: anything('The hook that took longest.').optional(),
    hooks: anything('What was found, as `hooks list` tells it.').optional(),
    ignored: anything('What was ignored, and why.').optional(),
    files: anything('What files hold after the event, by path.').optional(),
  })
  .refine((expected) => Object.keys(expected).length > 0)
  .meta({ minProperties: 1 });

/** The `case.json` of a case directory. */
export const CASE = z.strictObject({
  about: text('What the case shows, as a sentence.').optional(),
  fire: z.union([DESCRIBED_EVENT, RECORDED_EVENT]).describe('The event to fire.'),
  settings: z.strictObject(caseSettings()).describe('Settings by their full names.').optional(),
  env: textMap('Environment variables for the hooks.').optional(),
  needs: texts('Programs without which the case is skipped.').optional(),
  expect: EXPECT.describe(
    'What must come of it. Objects are subsets, lists are compared entry by entry, and a test may stand for a value.',
  ),
});

/** A case can neither hand out keys nor change the trace. */
function caseSettings(): z.ZodRawShape {
  return Object.fromEntries(
    Object.entries(CONFIG_VALUES).filter(([name]) => !/^(env|trace)\./.test(name)),
  );
}
