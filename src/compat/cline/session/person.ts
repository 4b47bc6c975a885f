import type { RuntimeEvent } from '../../../agent/runtime-event.ts';
import type { Question } from '../../../agent/tools/tool-context.ts';
import type { Approval, ApprovalRequest, Person } from '../../../agent/session-context.ts';
import { isRecord } from '../../../base/json.ts';
import { waitOrAbort } from '../../../base/abort.ts';
import type { HostCapabilities } from '../start-input.ts';
import { readCallPolicy, type ToolPolicies } from './tool-policies.ts';

export interface AskedProgram {
  readonly sessionId: string;
  readonly capabilities: HostCapabilities;
  readonly policies: ToolPolicies;
}

/** The embedding program in the role of the user. */
export interface ProgramUser {
  readonly person: Person;
  /** Records name, input and turn of each call as the model made it. */
  observe(event: RuntimeEvent): void;
}

/** Null when the program has no callback for questions. */
export function createProgramUser(asked: AskedProgram): ProgramUser | null {
  const { capabilities } = asked;
  const mayApprove = capabilities.requestToolApproval !== undefined;
  if (!mayApprove && capabilities.toolExecutors?.askQuestion === undefined) return null;
  const calls = new Map<string, CalledTool>();
  const turns = new Map<string, number>();
  return {
    observe(event) {
      if (event.type === 'turn-start') turns.set(event.agentId, event.iteration);
      if (event.type === 'tool-start') {
        calls.set(event.callId, { name: event.tool, input: event.input });
      }
      if (event.type === 'tool-end') calls.delete(event.callId);
    },
    person: {
      approve: (request, signal) =>
        requestApproval(asked, { request, signal, called: calls, turns }),
      answer: (questions, signal) => askQuestions(asked, questions, signal),
    },
  };
}

interface CalledTool {
  readonly name: string;
  readonly input: unknown;
}

interface Approving {
  readonly request: ApprovalRequest;
  readonly signal: AbortSignal;
  readonly called: ReadonlyMap<string, CalledTool>;
  readonly turns: ReadonlyMap<string, number>;
}

async function requestApproval(
  { sessionId, capabilities, policies }: AskedProgram,
  { request, signal, called, turns }: Approving,
): Promise<Approval> {
  if (capabilities.requestToolApproval === undefined) {
    return { isAllowed: false, reason: request.reason };
  }
  const { callId: toolCallId, agentId } = request;
  const { name: toolName, input } = called.get(toolCallId) ?? {
    name: request.tool,
    input: request.input,
  };
  const asking = capabilities.requestToolApproval({
    sessionId,
    agentId,
    conversationId: sessionId,
    iteration: turns.get(agentId) ?? 0,
    toolCallId,
    toolName,
    input,
    // This call needs an approval, whatever the policy of the tool says.
    policy: { ...readCallPolicy(policies, { name: toolName, input }), autoApprove: false },
  });
  // Programs may be plain JavaScript, so only `true` approves.
  const answered: unknown = await waitOrAbort(Promise.resolve(asking), signal);
  const { approved, reason } = isRecord(answered) ? answered : {};
  return { isAllowed: approved === true, ...(typeof reason === 'string' ? { reason } : {}) };
}

async function askQuestions(
  { capabilities }: AskedProgram,
  questions: readonly Question[],
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>> | null> {
  const { toolExecutors } = capabilities;
  if (toolExecutors?.askQuestion === undefined) return null;
  const answers: Record<string, string> = {};
  for (const { question, options } of questions) {
    const labels = options.map(({ label }) => label);
    const asking = toolExecutors.askQuestion(question, labels);
    answers[question] = await waitOrAbort(Promise.resolve(asking), signal);
  }
  return answers;
}
