import { dropUndefined } from '../../base/defined.ts';
import { truncateText } from '../../base/json.ts';
import { defineTool } from './define-tool.ts';
import { createFailedOutput, type ToolOutput } from './tool.ts';
import type { AgentReport } from './tool-context.ts';

const DEFAULT_TYPE = 'general-purpose';
const MAX_DESCRIPTION = 60;

export const agentTool = defineTool({
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
  parse: (fields) => {
    const prompt = fields.requiredText('prompt');
    return {
      task: {
        prompt,
        description: fields.optionalText('description') ?? truncateToFirstLine(prompt),
        agentType: fields.optionalText('subagent_type') ?? DEFAULT_TYPE,
        model: fields.optionalText('model'),
      },
      isBackground: fields.flag('run_in_background'),
    };
  },
  toHookInput: ({ task: { description, prompt, agentType, model }, isBackground }) => ({
    description,
    prompt,
    subagent_type: agentType,
    ...dropUndefined({ model: model ?? undefined }),
    run_in_background: isBackground,
  }),
  async run({ task, isBackground }, context, { callId, signal }) {
    const { runAgent } = context.ports;
    if (runAgent === undefined) {
      return createFailedOutput('This agent cannot start another one. Do the work yourself.');
    }
    const report = await runAgent({ ...task, callId }, signal);
    if (signal.aborted) return { ...createFailedOutput(formatFailure(report)), interrupted: true };
    if (!report.success) {
      const { refusedByHook } = report;
      return { ...createFailedOutput(formatFailure(report)), ...dropUndefined({ refusedByHook }) };
    }
    return createCompletedOutput(task.prompt, report, isBackground ? BACKGROUND_NOTE : '');
  },
});

const BACKGROUND_NOTE =
  '\n\n[run_in_background has no effect here: the agent was waited for. Agents of one turn run side by side.]';

function truncateToFirstLine(prompt: string): string {
  const [line = ''] = prompt.trim().split('\n');
  return line.length > MAX_DESCRIPTION ? `${truncateText(line, MAX_DESCRIPTION)}…` : line;
}

function formatFailure({ agentType, text }: AgentReport): string {
  return `The ${agentType} agent did not finish its task.${text === '' ? '' : `\n${text}`}`;
}

function createCompletedOutput(prompt: string, report: AgentReport, note: string): ToolOutput {
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
