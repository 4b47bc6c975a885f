import { getErrorMessage } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { waitOrAbort } from '../../base/abort.ts';
import { isRefusal, type Verdict } from '../../hooks/decision.ts';
import type { Agent } from '../agent.ts';
import { notify } from '../loop/notify.ts';
import type { ElicitationAnswer, ElicitationRequest } from '../world.ts';

const DECLINED: ElicitationAnswer = { action: 'decline' };

/**
 * Finds the answer to what an MCP server wants to know: hooks first, then the person, whose answer hooks
 * may change. The only place where Elicitation and ElicitationResult are fired. Nobody there means no.
 */
export async function elicit(
  agent: Agent,
  request: ElicitationRequest,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  const { server, mode, message, schema, url, id } = request;
  const facts = { server, mode, ...(id === undefined ? {} : { elicitationId: id }) };
  const asked = {
    ...facts,
    message,
    ...(schema === undefined ? {} : { schema }),
    ...(url === undefined ? {} : { url }),
  };
  const verdict = await agent.fire({ name: 'Elicitation', ...asked }, signal);
  if (isRefusal(verdict.effect)) return DECLINED;
  const given = answerIn(verdict);
  if (given !== null) return given;
  const answer = await askPerson(agent, request, signal);
  if (answer === null) return DECLINED;
  const after = await agent.fire({ name: 'ElicitationResult', ...facts, ...answer }, signal);
  const final = isRefusal(after.effect) ? DECLINED : (answerIn(after) ?? answer);
  const words = `Elicitation response for server "${server}": ${final.action}`;
  notify(agent, { type: 'elicitation_response', message: words, waiting: false });
  return final;
}

const ACTIONS = ['accept', 'decline', 'cancel'] as const;

/** What hooks answer in the person's place; null when none does. */
function answerIn({ changes }: Verdict): ElicitationAnswer | null {
  const given = changes['answer'];
  if (!isRecord(given)) return null;
  const action = ACTIONS.find((each) => each === given['action']);
  if (action === undefined) return null;
  const { content } = given;
  return action === 'accept' && isRecord(content) ? { action, content } : { action };
}

/** Null when there is nobody who can be asked. */
async function askPerson(
  agent: Agent,
  request: ElicitationRequest,
  signal: AbortSignal,
): Promise<ElicitationAnswer | null> {
  const { person } = agent.world;
  if (person?.elicit === undefined) return null;
  const type = request.mode === 'url' ? 'elicitation_url_dialog' : 'elicitation_dialog';
  const message = `The MCP server ${request.server} needs your input`;
  notify(agent, { type, message, waiting: true });
  try {
    return await waitOrAbort(person.elicit(request, signal), signal);
  } catch (error) {
    signal.throwIfAborted();
    const text = `you could not be asked for ${request.server}: ${getErrorMessage(error)}`;
    agent.tell({ type: 'notice', level: 'warning', text });
    return null;
  }
}
