import { z } from 'zod';
import { anything, flag, text } from './fields.ts';
import {
  ATTRIBUTED,
  EFFECT,
  EVENT_NAME,
  OUTCOME_FIELDS,
  SKIPPED,
  SLOWEST,
  STOP,
} from './verdict.ts';

/** A run of a hook as the trace keeps it. */
export const TRACE_OUTCOME_FIELDS = {
  ...OUTCOME_FIELDS,
  decision: anything('What it decided, cut when it is long; null when it decided nothing.'),
} as const;

const { hook, pass, part, vocabulary, durationMs } = OUTCOME_FIELDS;

/** What came back stands in the outcome of the same hook, pass, part and vocabulary. */
const EXCHANGE = z.strictObject({
  hook,
  pass,
  part,
  vocabulary,
  asked: text('The command line, or the address, that was asked.'),
  cwd: z.string().nullable().describe('Where the program ran; null when it is no program.'),
  payload: text('What it was sent, cut when it is long.'),
  payloadBytes: z.int().nonnegative().describe('How many bytes it was sent.'),
  ending: text('How it ended, such as "exit code 2".'),
  durationMs,
});

/** One line of a trace file. */
export const TRACE_ENTRY = z.strictObject({
  type: z
    .enum(['dispatch', 'late'])
    .describe('A dispatch, or the answer of a background hook that came after it.'),
  id: text('Id of the dispatch; a late answer has that of the dispatch it belongs to.'),
  at: z.iso.datetime({ precision: 3 }).describe('When the event was fired: ISO 8601 in UTC.'),
  event: EVENT_NAME.describe('The event.'),
  sessionId: text('Id of the session.'),
  taskId: text('Id of the task.'),
  cwd: text('Current directory of the session.'),
  root: z.string().nullable().describe('The primary workspace root; null without one.'),
  call: z
    .strictObject({
      tool: text('The tool, in Claude’s vocabulary.'),
      paths: z.array(z.string()).describe('The files that the call names, absolute.'),
    })
    .nullable()
    .describe('The call; null for an event without one.'),
  effect: EFFECT.describe('Effect of the verdict; of a late answer, its own.'),
  aborted: flag('Whether the caller gave up before the verdict.'),
  stop: STOP,
  reasons: ATTRIBUTED.describe('Why it is refused or asked about, each with its hook.'),
  context: ATTRIBUTED.describe('Text for the model, each with its hook.'),
  messages: ATTRIBUTED.describe('Text for the user, each with its hook.'),
  outcomes: z
    .array(z.strictObject(TRACE_OUTCOME_FIELDS))
    .describe('One for every run of a hook, in declared order.'),
  skipped: SKIPPED,
  slowest: SLOWEST,
  input: anything('New input of the tool, cut when it is long; null when it stays as it is.'),
  data: anything('Facts of the event, cut when they are long; null for a late answer.'),
  exchanges: z.array(EXCHANGE).describe('What hooks were sent, and how they ended.'),
});
