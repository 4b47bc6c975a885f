import { type AnswerPart, createAnswerWriter, type EventAnswers } from '../agent-answer.ts';
import { OPENCODE_EVENTS } from './events.ts';

const SILENT: EventAnswers = {};

/**
 * The answer to the plugin that is installed in opencode: `deny` is thrown, `args` and `output` are put into
 * the hook's output, `context` is added to the message.
 */
export const writeAnswer = createAnswerWriter({
  label: 'opencode',
  names: OPENCODE_EVENTS,
  nothing: '{}\n',
  events: {
    'tool.execute.before': { refuse: deny, rewrite: ({ input }) => ({ top: { args: input } }) },
    'tool.execute.after': { refuse: addToOutput, context: addToOutput, output: replaceOutput },
    'chat.message': { refuse: deny, context: (text) => ({ top: { context: text } }) },
    'permission.ask': { refuse: deny, asksAnyway: true },
    'experimental.session.compacting': { context: (text) => ({ top: { context: text } }) },
    'event:session.created': SILENT,
    'event:session.idle': SILENT,
    'event:session.compacted': SILENT,
    'event:session.error': SILENT,
    'event:session.deleted': SILENT,
    'event:permission.asked': SILENT,
    'event:permission.updated': SILENT,
  },
});

function deny(reason: string): AnswerPart {
  return { top: { deny: reason } };
}

/** The model reads it below the result of the tool. */
function addToOutput(text: string): AnswerPart {
  return { top: { context: text } };
}

function replaceOutput(text: string): AnswerPart {
  return { top: { output: text } };
}
