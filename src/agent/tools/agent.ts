import { truncateText } from '../../base/json.ts';
import { defineTool } from './define-tool.ts';
import { failedOutput, type ToolOutput } from './tool.ts';
import type { AgentOrder, AgentReport } from './workbench.ts';

interface AgentCall {
  readonly order: Omit<AgentOrder, 'callId'>;
  readonly isForBackground: boolean;
}

const DEFAULT_TYPE = 'general-purpose';
const MAX_DESCRIPTION = 60;

export const agentTool = defineTool<AgentCall>({
  name: 'Agent',
  description:
    'Starts a second agent on a task of its own and returns its last answer. It has its own context: it ' +
    'knows nothing of this conversation, so tell it everything that it needs, and what to report. Use ' +
    'it for searches and work whose details you do not need. Several in one turn work side by side.',
  kind: 'plan',
  schema: {
    type: 'object',
    properties: {
      description: { type: 'string', description: 'The task in three to five words' },
      prompt: { type: 'string', description: 'The whole task' },
      subagent_type: {
        type: 'string',
        description: `Which kind of agent; ${DEFAULT_TYPE} when absent`,
      },
      model: { type: 'string', description: 'Another model than yours, if it must be' },
    },
    required: ['description', 'prompt'],
    additionalProperties: false,
  },
  read: (given) => {
    const prompt = given.filledText('prompt');
    return {
      order: {
        prompt,
        description: given.optionalText('description') ?? firstWords(prompt),
        agentType: given.optionalText('subagent_type') ?? DEFAULT_TYPE,
        model: given.optionalText('model'),
      },
      isForBackground: given.flag('run_in_background'),
    };
  },
  toHookInput: ({ order: { description, prompt, agentType, model }, isForBackground }) => ({
    description,
    prompt,
    subagent_type: agentType,
    ...(model === null ? {} : { model }),
    run_in_background: isForBackground,
  }),
  async run({ order, isForBackground }, bench, { callId, signal }) {
    const { runAgent } = bench.ports;
    if (runAgent === undefined) {
      return failedOutput('This agent cannot start another one. Do the work yourself.');
    }
    const report = await runAgent({ ...order, callId }, signal);
    if (signal.aborted) return { ...failedOutput(sayFailure(report)), interrupted: true };
    if (!report.success) return failedOutput(sayFailure(report));
    return completed(order.prompt, report, isForBackground ? NOT_IN_BACKGROUND : '');
  },
});

const NOT_IN_BACKGROUND =
  '\n\n[run_in_background has no effect here: the agent was waited for. Agents of one turn run side by side.]';

function firstWords(prompt: string): string {
  const [line = ''] = prompt.trim().split('\n');
  return line.length > MAX_DESCRIPTION ? `${truncateText(line, MAX_DESCRIPTION)}…` : line;
}

function sayFailure({ agentType, text }: AgentReport): string {
  return `The ${agentType} agent did not finish its task.${text === '' ? '' : `\n${text}`}`;
}

function completed(prompt: string, report: AgentReport, note: string): ToolOutput {
  return {
    response: {
      status: 'completed',
      prompt,
      agentId: report.agentId,
      agentType: report.agentType,
      content: [{ type: 'text', text: report.text }],
      resolvedModel: report.model,
      totalDurationMs: report.durationMs,
      totalTokens: report.tokens,
      totalToolUseCount: report.toolCalls,
      usage: report.usage,
    },
    text: (report.text === '' ? 'The agent finished without a word.' : report.text) + note,
    success: true,
  };
}
