import { z } from 'zod';
import { EFFECTS, FAILURE_KINDS, SKIP_KINDS } from '../../src/hooks/decision.ts';
import { EVENT_NAMES, EVENTS } from '../../src/hooks/events.ts';
import { anything, text, texts } from './fields.ts';

const HOOK = text('Id of the hook.');

export const EFFECT = z.enum([...EFFECTS, 'stop']);

export const EVENT_NAME = z.enum(EVENT_NAMES);

export const STOP = z
  .strictObject({
    reason: text('Why the run ends.'),
    pending: z
      .enum(['skip', 'run'])
      .describe('Whether what is pending is skipped, or still happens before the run ends.'),
  })
  .nullable()
  .describe('Set when the run must end.');

export const ATTRIBUTED = z.array(z.strictObject({ hook: HOOK, text: text('What it said.') }));

export const SKIPPED = z
  .array(
    z.strictObject({
      hook: HOOK,
      kind: z
        .enum(SKIP_KINDS)
        .describe('It does not fit the event, may not run now, or its turn did not come.'),
      why: text('Why it did not run.'),
    }),
  )
  .describe('Every hook of this event that did not run.');

export const SLOWEST = z
  .strictObject({ hook: HOOK, durationMs: z.number().nonnegative().describe('How long it ran.') })
  .nullable()
  .describe('The hook that took longest; null when none ran.');

const FAILURE = z
  .strictObject({
    kind: z.enum(FAILURE_KINDS).describe('What kind of failure it was.'),
    message: text('What went wrong.'),
    hint: text('What the author of the hook can do about it.').optional(),
  })
  .nullable()
  .describe('Set when the hook failed.');

export const OUTCOME_FIELDS = {
  hook: HOOK,
  dialect: text('The vocabulary in which the hook is written, such as "cline".'),
  source: text('Where the hook comes from.'),
  status: z
    .enum(['decided', 'failed', 'background'])
    .describe('Whether it answered, failed, or goes on in the background.'),
  effect: EFFECT.describe('What it answered.'),
  pass: z
    .union([z.literal(1), z.literal(2)])
    .describe('2 when it was asked again because another hook rewrote the input.'),
  part: z
    .int()
    .nonnegative()
    .nullable()
    .describe('The part of a plural call that this run was about, from 0; null for all of it.'),
  vocabulary: z
    .enum(['claude', 'classic', 'sdk'])
    .optional()
    .describe(
      'The vocabulary in which it was asked about the call, when its text decided that; else its own.',
    ),
  sandbox: z
    .string()
    .optional()
    .describe('The profile of the sandbox that its program runs in; absent without one.'),
  exitCode: z
    .int()
    .nullable()
    .describe('Exit code of its program; null when it has none or was killed.'),
  durationMs: z.number().nonnegative().describe('How long it ran, in milliseconds.'),
  failure: FAILURE,
  onFailure: z
    .enum(['open', 'closed'])
    .describe('Whether a failure of this hook lets the action go on, or refuses it.'),
  notes: texts('What is worth knowing about the run.'),
  warnings: z
    .array(z.string())
    .optional()
    .describe('Mistakes in its answer, such as misspelt keys; absent without any.'),
  stdout: z.string().nullable().describe('What it printed; null when it is no program.'),
  stderr: z.string().nullable().describe('What it printed as errors; null when it is no program.'),
} as const;

const OUTCOMES = z
  .array(z.strictObject(OUTCOME_FIELDS))
  .describe('One for every run of a hook, in declared order.');

const CHANGED_FIELDS = [
  ...new Set(Object.values(EVENTS).flatMap(({ changes }) => Object.keys(changes))),
].filter((field) => !['input', 'output', 'context'].includes(field));

/** What a dispatch answers. */
export const VERDICT = z.strictObject({
  event: EVENT_NAME.describe('The event that was fired.'),
  effect: EFFECT.describe(
    'The strictest answer; "stop" when the run must end without the pending action.',
  ),
  stop: STOP,
  reasons: ATTRIBUTED.describe('Why it is refused or asked about, each with its hook.'),
  input: anything('New input of the tool; null when it stays as it is.'),
  output: anything('New output of the tool; null when it stays as it is.'),
  changes: z
    .partialRecord(z.enum(CHANGED_FIELDS), z.unknown())
    .describe(
      'What else changes, by field; fields that several hooks join are lists of { hook, value }.',
    ),
  context: ATTRIBUTED.describe('Text for the model, each with its hook.'),
  messages: ATTRIBUTED.describe('Text for the user, each with its hook.'),
  outcomes: OUTCOMES,
  skipped: SKIPPED,
  slowest: SLOWEST,
});

const LATE = z
  .array(
    z.strictObject({
      ...OUTCOME_FIELDS,
      context: z.string().nullable().describe('Text for the model.'),
      message: z.string().nullable().describe('Text for the user.'),
      wakes: z.boolean().describe('Whether its text wakes an idle session.'),
    }),
  )
  .describe('What hooks in the background answered after the verdict, in the order of their ends.');

/** What `hookline hooks fire --json` prints; what a library gives back has no late answers. */
export const FIRED = VERDICT.extend({ late: LATE.optional() });
