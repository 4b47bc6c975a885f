import type { Question } from '../../../agent/tools/tool-context.ts';
import type { Approval, Person } from '../../../agent/session-context.ts';
import { isRecord } from '../../../base/json.ts';
import { waitOrAbort } from '../../../base/abort.ts';
import type { HostCapabilities } from '../start-input.ts';
import { readCallPolicy, type ToolPolicies } from './tool-policies.ts';

/**
 * Creates the user that an embedding program stands in for; null when it has no callback for
 * questions.
 */
export function createProgramUser(
  sessionId: string,
  capabilities: HostCapabilities,
  policies: ToolPolicies,
): Person | null {
  const { toolExecutors } = capabilities;
  const canApprove = capabilities.requestToolApproval !== undefined;
  if (!canApprove && toolExecutors?.askQuestion === undefined) return null;
  return {
    async approve({ callId: toolCallId, agentId, reason }, signal, { name, input }, iteration) {
      if (capabilities.requestToolApproval === undefined) return { isAllowed: false, reason };
      const response = capabilities.requestToolApproval({
        sessionId,
        agentId,
        conversationId: sessionId,
        iteration,
        toolCallId,
        toolName: name,
        input,
        // This call needs an approval, whatever the policy of the tool says.
        policy: { ...readCallPolicy(policies, { name, input }), autoApprove: false },
      });
      return readApproval(await waitOrAbort(Promise.resolve(response), signal));
    },
    answer: (questions, signal) => askQuestions(toolExecutors, questions, signal),
  };
}

/** Programs may be plain JavaScript, so only `true` approves. */
function readApproval(result: unknown): Approval {
  const { approved, reason } = isRecord(result) ? result : {};
  return { isAllowed: approved === true, ...(typeof reason === 'string' ? { reason } : {}) };
}

async function askQuestions(
  toolExecutors: HostCapabilities['toolExecutors'],
  questions: readonly Question[],
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>> | null> {
  if (toolExecutors?.askQuestion === undefined) return null;
  const answers: Record<string, string> = {};
  for (const { question, options } of questions) {
    const labels = options.map(({ label }) => label);
    const response = toolExecutors.askQuestion(question, labels);
    answers[question] = await waitOrAbort(Promise.resolve(response), signal);
  }
  return answers;
}
