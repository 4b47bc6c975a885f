import { CLAUDE_PARTS, createAnswerWriter, type EventAnswers } from '../agent-answer.ts';
import { QWEN_EVENTS } from './events.ts';

const { permit, block, stop, context, message, allowRequest, denyRequest } = CLAUDE_PARTS;

const TALKING: EventAnswers = { message };
const FEEDBACK: EventAnswers = { refuse: block, stop, message };

/** Qwen Code has Claude's answers, but applies no rewritten input in any version that was measured. */
export const writeAnswer = createAnswerWriter({
  label: 'Qwen Code',
  names: QWEN_EVENTS,
  nothing: '',
  events: {
    PreToolUse: {
      refuse: (reason) => permit('deny', reason),
      ask: (reason) => permit('ask', reason),
      allow: (reason) => permit('allow', reason),
      stop,
      stopRefuses: true,
      context,
      message,
    },
    PostToolUse: { ...FEEDBACK, context, takesContextWithRefusal: true },
    PostToolUseFailure: { ...FEEDBACK, context, takesContextWithRefusal: true },
    PostToolBatch: { ...FEEDBACK, context },
    Notification: { context, message },
    UserPromptSubmit: { ...FEEDBACK, context },
    UserPromptExpansion: { ...FEEDBACK, context },
    SessionStart: { context, message },
    SessionEnd: TALKING,
    Stop: { refuse: block, endsAnyway: true, message },
    StopFailure: TALKING,
    SubagentStart: { context, message },
    SubagentStop: { refuse: block, endsAnyway: true, message },
    PreCompact: TALKING,
    PostCompact: TALKING,
    PermissionRequest: { refuse: denyRequest, allow: allowRequest, asksAnyway: true },
    PermissionDenied: TALKING,
    MessageDisplay: TALKING,
    TodoCreated: TALKING,
    TodoCompleted: TALKING,
    InstructionsLoaded: TALKING,
  },
});
