import {
  type AnswerPart,
  CLAUDE_PARTS,
  createAnswerWriter,
  type EventAnswers,
  hasEveryKey,
  type RewrittenCall,
} from '../agent-answer.ts';
import { DROID_EVENTS } from './events.ts';

const { permit, block, stop, context, message } = CLAUDE_PARTS;

const TALKING: EventAnswers = { message };

/**
 * An allow of an earlier hook wins over a denial in JSON, exit code 2 over both: a refusal is written in both
 * ways.
 */
export const writeAnswer = createAnswerWriter({
  label: 'Droid',
  names: DROID_EVENTS,
  nothing: '',
  events: {
    PreToolUse: {
      refuse: (reason) => withExitCode(permit('deny', reason), reason),
      ask: (reason) => permit('ask', reason),
      allow: (reason) => permit('allow', reason),
      stop,
      stopRefuses: true,
      rewrite,
      message,
    },
    PostToolUse: {
      refuse: (reason) => withExitCode(block(reason), reason),
      stop,
      context,
      takesContextWithRefusal: true,
      message,
    },
    UserPromptSubmit: {
      refuse: (reason) => withExitCode(block(reason), reason),
      stop,
      stopRefuses: true,
      context,
      message,
    },
    Stop: { refuse: block, endsAnyway: true, message },
    SubagentStop: { refuse: block, endsAnyway: true, message },
    PreCompact: { refuse: (reason) => withExitCode({}, reason), message },
    SessionStart: { context, message },
    SessionEnd: TALKING,
    Notification: TALKING,
  },
});

function withExitCode(part: AnswerPart, reason: string): AnswerPart {
  return { ...part, stderr: reason, exitCode: 2 };
}

/** Droid merges the new input into the old one, and only when the call is allowed. */
function rewrite(rewritten: RewrittenCall): AnswerPart | null {
  if (!rewritten.isAllowed || !hasEveryKey(rewritten)) return null;
  return { specific: { updatedInput: rewritten.input } };
}
