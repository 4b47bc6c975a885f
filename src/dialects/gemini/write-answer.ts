import {
  type AnswerPart,
  CLAUDE_PARTS,
  createAnswerWriter,
  type EventAnswers,
  hasEveryKey,
  type RewrittenCall,
} from '../agent-answer.ts';
import { GEMINI_EVENTS } from './events.ts';

const { context, message, stop } = CLAUDE_PARTS;

const TALKING: EventAnswers = { message };
const GATE: EventAnswers = { refuse: deny, stop, stopRefuses: true, message };

/** Without an opinion the answer is `{}`, because Gemini reads stderr when stdout is empty. */
export const writeAnswer = createAnswerWriter({
  label: 'Gemini CLI',
  names: GEMINI_EVENTS,
  nothing: '{}\n',
  events: {
    BeforeTool: { ...GATE, rewrite },
    AfterTool: {
      refuse: deny,
      stop,
      context,
      message,
      takesContextWithRefusal: true,
      output: deny,
    },
    BeforeAgent: { refuse: deny, stop, context, message },
    AfterAgent: { refuse: deny, endsAnyway: true, message },
    BeforeModel: GATE,
    AfterModel: GATE,
    SessionStart: { context, message },
    SessionEnd: TALKING,
    PreCompress: TALKING,
    Notification: TALKING,
  },
});

function deny(reason: string): AnswerPart {
  return { top: { decision: 'deny', reason } };
}

/** Gemini merges the new input into the old one. */
function rewrite(rewritten: RewrittenCall): AnswerPart | null {
  return hasEveryKey(rewritten) ? { specific: { tool_input: rewritten.input } } : null;
}
