import {
  type AnswerPart,
  CLAUDE_PARTS,
  createAnswerWriter,
  type EventAnswers,
  type RewrittenCall,
} from '../agent-answer.ts';
import { COPILOT_EVENTS } from './events.ts';

const { permit, block, context: claudeContext } = CLAUDE_PARTS;

type Permission = 'allow' | 'ask' | 'deny';

/** An answer that is written alike at both spellings of an event. */
const STOP: EventAnswers = { refuse: block, endsAnyway: true };
const SILENT: EventAnswers = {};

/**
 * Copilot reads an answer in the spelling of the event. Denials are always JSON with exit code 0: what stands
 * on stderr beside exit code 2 never reaches the model.
 */
export const writeAnswer = createAnswerWriter({
  label: 'Copilot CLI',
  names: COPILOT_EVENTS,
  nothing: '',
  events: {
    preToolUse: { ...createPermissions(writePermission), rewrite },
    PreToolUse: createPermissions(permit),
    permissionRequest: {
      refuse: (reason) => ({ top: { behavior: 'deny', message: reason } }),
      allow: () => ({ top: { behavior: 'allow' } }),
      asksAnyway: true,
    },
    PermissionRequest: {
      // How this spelling reads JSON was not measured; exit code 2 denies in both.
      refuse: (reason) => ({ ...CLAUDE_PARTS.denyRequest(reason), stderr: reason, exitCode: 2 }),
      asksAnyway: true,
    },
    postToolUse: { refuse: writeContext, context: writeContext, output: writeResult },
    PostToolUse: { refuse: claudeContext, context: claudeContext },
    postToolUseFailure: { refuse: writeContext, context: writeContext },
    PostToolUseFailure: { refuse: claudeContext, context: claudeContext },
    agentStop: STOP,
    Stop: STOP,
    subagentStop: STOP,
    SubagentStop: STOP,
    notification: { context: writeContext },
    Notification: { context: claudeContext },
    sessionStart: SILENT,
    SessionStart: SILENT,
    sessionEnd: SILENT,
    SessionEnd: SILENT,
    userPromptSubmitted: SILENT,
    UserPromptSubmit: SILENT,
    subagentStart: SILENT,
    SubagentStart: SILENT,
    errorOccurred: SILENT,
    ErrorOccurred: SILENT,
    preCompact: SILENT,
    PreCompact: SILENT,
  },
});

function createPermissions(
  write: (permission: Permission, reason: string | null) => AnswerPart,
): EventAnswers {
  return {
    refuse: (reason) => write('deny', reason),
    ask: (reason) => write('ask', reason),
    allow: (reason) => write('allow', reason),
  };
}

function writePermission(permissionDecision: Permission, reason: string | null): AnswerPart {
  const why = reason === null ? {} : { permissionDecisionReason: reason };
  return { top: { permissionDecision, ...why } };
}

/** Measured only together with an allow; the new arguments replace the old ones. */
function rewrite({ input, isAllowed }: RewrittenCall): AnswerPart | null {
  return isAllowed ? { top: { modifiedArgs: input } } : null;
}

function writeContext(additionalContext: string): AnswerPart {
  return { top: { additionalContext } };
}

function writeResult(textResultForLlm: string): AnswerPart {
  return { top: { modifiedResult: { resultType: 'success', textResultForLlm } } };
}
