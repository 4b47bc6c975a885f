import { dropUndefined } from '../../base/defined.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { waitOrAbort } from '../../base/abort.ts';
import { isRefusal, type Verdict } from '../../hooks/decision.ts';
import type { Agent } from '../agent.ts';
import { notify } from '../loop/background-events.ts';
import type { ElicitationAnswer, ElicitationRequest } from '../session-context.ts';

const DECLINED: ElicitationAnswer = { action: 'decline' };

/**
 * Answers what an MCP server wants to know: hooks first, then the user, whose answer hooks
 * may change. The only place where Elicitation and ElicitationResult are fired. Declined without a user.
 */
export async function elicit(
  agent: Agent,
  request: ElicitationRequest,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  const { server, mode, message, schema, url, id } = request;
  const facts = { server, mode, ...dropUndefined({ elicitationId: id }) };
  const question = { ...facts, message, ...dropUndefined({ schema, url }) };
  const verdict = await agent.fire({ name: 'Elicitation', ...question }, signal);
  if (isRefusal(verdict.effect)) return DECLINED;
  const hookAnswer = readAnswer(verdict);
  if (hookAnswer !== null) return hookAnswer;
  const answer = await askUser(agent, request, signal);
  if (answer === null) return DECLINED;
  const after = await agent.fire({ name: 'ElicitationResult', ...facts, ...answer }, signal);
  const final = isRefusal(after.effect) ? DECLINED : (readAnswer(after) ?? answer);
  const text = `Elicitation response for server "${server}": ${final.action}`;
  notify(agent, { type: 'elicitation_response', message: text, waiting: false });
  return final;
}

const ACTIONS = ['accept', 'decline', 'cancel'] as const;

/** The answer of hooks instead of the user; null when there is none. */
function readAnswer({ changes }: Verdict): ElicitationAnswer | null {
  const answer = changes['answer'];
  if (!isRecord(answer)) return null;
  const action = ACTIONS.find((each) => each === answer['action']);
  if (action === undefined) return null;
  const { content } = answer;
  return action === 'accept' && isRecord(content) ? { action, content } : { action };
}

/** Null when there is no user who can be asked. */
async function askUser(
  agent: Agent,
  request: ElicitationRequest,
  signal: AbortSignal,
): Promise<ElicitationAnswer | null> {
  const { person } = agent.session;
  if (person?.elicit === undefined) return null;
  const type = request.mode === 'url' ? 'elicitation_url_dialog' : 'elicitation_dialog';
  const message = `The MCP server ${request.server} needs your input`;
  notify(agent, { type, message, waiting: true });
  try {
    return await waitOrAbort(person.elicit(request, signal), signal);
  } catch (error) {
    signal.throwIfAborted();
    const text = `you could not be asked for ${request.server}: ${getErrorMessage(error)}`;
    agent.emit({ type: 'notice', level: 'warning', text });
    return null;
  }
}
