import { randomUUID } from 'node:crypto';
import {
  CreateElicitationResponse,
  type CreateElicitationRequest,
  methods,
} from '@agentclientprotocol/sdk';
import type { ElicitationAnswer, ElicitationRequest } from '../../agent/world.ts';
import type { Editor } from './editor.ts';

/** Has the editor ask what an MCP server wants to know; one that cannot declines, and it is said. */
export async function elicitInEditor(
  editor: Editor,
  request: ElicitationRequest,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  const { abilities, client } = editor;
  const sessionId = editor.sessionId();
  const isAble = request.mode === 'url' ? abilities.pages : abilities.forms;
  if (sessionId === null || !isAble) {
    const text = `The server ${request.server} asks “${request.message}”; this editor cannot show it, so it is declined.`;
    editor.say({ severity: 'warning', text });
    return { action: 'decline' };
  }
  await editor.settled();
  const response = await client.request(
    methods.client.elicitation.create,
    wordsOf(request, sessionId),
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  if (CreateElicitationResponse.isAccept(response)) {
    return { action: 'accept', content: response.content ?? {} };
  }
  return { action: response.action === 'cancel' ? 'cancel' : 'decline' };
}

function wordsOf(
  { server, message, mode, schema, url }: ElicitationRequest,
  sessionId: string,
): CreateElicitationRequest {
  const said = `${server}: ${message}`;
  if (mode === 'url') {
    return { mode, sessionId, message: said, elicitationId: randomUUID(), url: url ?? '' };
  }
  // The server's schema is checked by whoever fills the form in.
  return { mode, sessionId, message: said, requestedSchema: { type: 'object', ...schema } };
}
