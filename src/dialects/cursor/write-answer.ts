import type { CallFacts } from '../../hooks/facts.ts';
import { type AnswerPart, createAnswerWriter, type EventAnswers } from '../agent-answer.ts';
import { CURSOR_EVENTS } from './events.ts';

type Permission = 'allow' | 'ask' | 'deny';

const SILENT: EventAnswers = {};
const GATE: EventAnswers = {
  refuse: (reason) => permit('deny', reason),
  allow: () => permit('allow'),
};
const EXECUTION: EventAnswers = { ...GATE, ask: (reason) => permit('ask', reason) };
const FEEDBACK: EventAnswers = { refuse: writeContext, context: writeContext };
const FOLLOW_UP: EventAnswers = {
  refuse: (reason) => ({ top: { followup_message: reason } }),
  endsAnyway: true,
};

/** At preToolUse Cursor accepts a question and runs the tool, so that it is a denial there. */
export const writeAnswer = createAnswerWriter({
  label: 'Cursor',
  names: CURSOR_EVENTS,
  nothing: '{}\n',
  events: {
    preToolUse: { ...GATE, rewrite: ({ input }) => ({ top: { updated_input: input } }) },
    beforeShellExecution: EXECUTION,
    beforeMCPExecution: EXECUTION,
    beforeReadFile: GATE,
    beforeTabFileRead: GATE,
    postToolUse: { ...FEEDBACK, output: writeMcpOutput },
    afterShellExecution: SILENT,
    afterMCPExecution: SILENT,
    afterFileEdit: SILENT,
    afterTabFileEdit: SILENT,
    postToolUseFailure: SILENT,
    beforeSubmitPrompt: {
      refuse: (reason) => ({ top: { continue: false, user_message: reason } }),
    },
    subagentStart: GATE,
    subagentStop: FOLLOW_UP,
    stop: FOLLOW_UP,
    sessionStart: { context: writeContext },
    sessionEnd: SILENT,
    preCompact: { message: (text) => ({ top: { user_message: text } }) },
    afterAgentResponse: SILENT,
  },
});

function permit(permission: Permission, reason: string | null = null): AnswerPart {
  const texts = reason === null ? {} : { user_message: reason, agent_message: reason };
  return { top: { permission, ...texts } };
}

function writeContext(text: string): AnswerPart {
  return { top: { additional_context: text } };
}

/** Cursor replaces the results of MCP tools only. */
function writeMcpOutput(output: string, { name }: CallFacts): AnswerPart | null {
  return name.startsWith('MCP:') ? { top: { updated_mcp_tool_output: output } } : null;
}
