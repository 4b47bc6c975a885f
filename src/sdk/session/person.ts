import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import type { Question } from '../../agent/tools/tool-context.ts';
import type { Approval, ApprovalRequest, Person } from '../../agent/world.ts';
import { isRecord } from '../../base/json.ts';
import { waitOrAbort } from '../../base/abort.ts';
import type { HostCapabilities } from '../start-input.ts';
import { policyOfCall, type ToolPolicies } from './tool-policies.ts';

export interface AskedProgram {
  readonly sessionId: string;
  readonly capabilities: HostCapabilities;
  readonly policies: ToolPolicies;
}

/** The program that embeds the agent, as whoever can be asked. */
export interface ProgramAsPerson {
  readonly person: Person;
  /** Keeps the words in which each call was made, and in which turn. */
  hear(event: RuntimeEvent): void;
}

/** Null when the program wants to be asked nothing. */
export function programAsPerson(asked: AskedProgram): ProgramAsPerson | null {
  const { capabilities } = asked;
  const mayApprove = capabilities.requestToolApproval !== undefined;
  if (!mayApprove && capabilities.toolExecutors?.askQuestion === undefined) return null;
  const calls = new Map<string, CalledTool>();
  const turns = new Map<string, number>();
  return {
    hear(event) {
      if (event.type === 'turn-start') turns.set(event.agentId, event.iteration);
      if (event.type === 'tool-start') {
        calls.set(event.callId, { name: event.tool, input: event.input });
      }
      if (event.type === 'tool-end') calls.delete(event.callId);
    },
    person: {
      approve: (request, signal) => approve(asked, { request, signal, called: calls, turns }),
      answer: (questions, signal) => answer(asked, questions, signal),
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

async function approve(
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
    // Whatever else is said of the tool: this call is asked for.
    policy: { ...policyOfCall(policies, { name: toolName, input }), autoApprove: false },
  });
  // Programs may be plain JavaScript, and only a real yes counts.
  const answered: unknown = await waitOrAbort(Promise.resolve(asking), signal);
  const { approved, reason } = isRecord(answered) ? answered : {};
  return { isAllowed: approved === true, ...(typeof reason === 'string' ? { reason } : {}) };
}

async function answer(
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
