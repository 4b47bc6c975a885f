import { z } from 'zod';
import { anything, flag, text } from './fields.ts';
import { ATTRIBUTED, EFFECT, EVENT_NAME, OUTCOMES, SKIPPED, SLOWEST, STOP } from './verdict.ts';

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
  effect: EFFECT.describe('Effect of the verdict; of a late answer, its own.'),
  aborted: flag('Whether the caller gave up before the verdict.'),
  stop: STOP,
  reasons: ATTRIBUTED.describe('Why it is refused or asked about, each with its hook.'),
  context: ATTRIBUTED.describe('Text for the model, each with its hook.'),
  messages: ATTRIBUTED.describe('Text for the person, each with its hook.'),
  outcomes: OUTCOMES,
  skipped: SKIPPED,
  slowest: SLOWEST,
  input: anything('New input of the tool, cut when it is long; null when it stays as it is.'),
  data: anything('Facts of the event, cut when they are long; null for a late answer.'),
});
