import {
  type AnswerPart,
  CLAUDE_PARTS,
  createAnswerWriter,
  type EventAnswers,
  type RewrittenCall,
} from '../agent-answer.ts';
import { CODEX_EVENTS } from './events.ts';

const { permit, block, stop, context, message, allowRequest, denyRequest } = CLAUDE_PARTS;

const TALKING: EventAnswers = { message };
const FEEDBACK: EventAnswers = { refuse: block, message };

/**
 * A key that Codex does not know at an event makes the whole answer invalid, and then the tool runs: a refusal
 * has no other key beside its reason.
 */
export const writeAnswer = createAnswerWriter({
  label: 'Codex',
  names: CODEX_EVENTS,
  nothing: '',
  events: {
    PreToolUse: { refuse: (reason) => permit('deny', reason), rewrite, context, message },
    PermissionRequest: { refuse: denyRequest, allow: allowRequest, asksAnyway: true },
    PostToolUse: { ...FEEDBACK, context },
    PreCompact: TALKING,
    PostCompact: TALKING,
    SessionStart: { refuse: stop, stop, context, message },
    SessionEnd: TALKING,
    UserPromptSubmit: { ...FEEDBACK, context: writePlainContext },
    SubagentStart: { context, message },
    SubagentStop: { ...FEEDBACK, endsAnyway: true },
    Stop: { ...FEEDBACK, endsAnyway: true },
    Interrupt: TALKING,
  },
});

/** Codex takes a new command only together with an allow. */
function rewrite({ input, isAllowed }: RewrittenCall): AnswerPart | null {
  const { command, ...others } = input;
  const isCommand = typeof command === 'string' && Object.keys(others).length === 0;
  if (!isAllowed || !isCommand) return null;
  return { specific: { permissionDecision: 'allow', updatedInput: { command } } };
}

/** Text that looks like JSON would be parsed, and refused as an answer. */
function writePlainContext(text: string): AnswerPart {
  return { text: /^\s*[[{"]/u.test(text) ? `Context: ${text}` : text };
}
