import {
  agent,
  type AgentApp,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
} from '@agentclientprotocol/sdk';
import { getErrorCode, getErrorMessage } from '../base/errors.ts';
import { buildInitializeResponse } from './capabilities.ts';
import { type AcpOptions, EditorSessions } from './editor-sessions.ts';
import { handleRequest } from './request-errors.ts';

export type { AcpOptions } from './editor-sessions.ts';

/** Serves one editor until it disconnects or the signal aborts, then closes every session. */
export async function serveAcp(
  options: AcpOptions,
  input: ReadableStream<Uint8Array>,
  output: WritableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const sessions = new EditorSessions(options);
  const connection = createApp(sessions).connect(ndJsonStream(output, input));
  const close = (): void => connection.close();
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  await connection.closed;
  const reason: unknown = connection.signal.reason;
  if (!signal.aborted && isBreak(reason)) {
    options.note(`the connection broke: ${getErrorMessage(reason)}`);
  }
  signal.removeEventListener('abort', close);
  await sessions.closeAll();
}

/** A normal disconnect only closes the pipes. */
function isBreak(reason: unknown): boolean {
  const isClosed = getErrorMessage(reason) === 'ACP connection closed';
  return !isClosed && getErrorCode(reason) !== 'EPIPE';
}

function createApp(sessions: EditorSessions): AgentApp {
  const { initialize, session } = methods.agent;
  return agent({ name: 'hookline' })
    .onRequest(initialize, ({ params }) => {
      sessions.setCapabilities(params.clientCapabilities);
      return buildInitializeResponse(PROTOCOL_VERSION);
    })
    .onRequest(session.new, ({ client, params }) =>
      handleRequest(() => sessions.create(client, params)),
    )
    .onRequest(session.load, ({ client, params }) =>
      handleRequest(() => sessions.load(client, params)),
    )
    .onRequest(session.resume, ({ client, params }) =>
      handleRequest(() => sessions.resume(client, params)),
    )
    .onRequest(session.list, ({ params }) => handleRequest(() => sessions.list(params)))
    .onRequest(session.close, ({ params: { sessionId } }) =>
      handleRequest(async () => {
        sessions.find(sessionId);
        await sessions.close(sessionId);
        return {};
      }),
    )
    .onRequest(session.delete, ({ params: { sessionId } }) =>
      handleRequest(async () => {
        await sessions.delete(sessionId);
        return {};
      }),
    )
    .onRequest(session.setMode, ({ params: { sessionId, modeId } }) =>
      handleRequest(() => {
        sessions.find(sessionId).setMode(modeId);
        return {};
      }),
    )
    .onRequest(session.setConfigOption, ({ params: { sessionId, configId, value } }) =>
      handleRequest(() => sessions.find(sessionId).setOption(configId, value)),
    )
    .onRequest(session.prompt, ({ params: { sessionId, prompt }, signal }) =>
      handleRequest(() => sessions.find(sessionId).prompt(prompt, signal)),
    )
    .onNotification(session.cancel, ({ params: { sessionId } }) =>
      sessions.find(sessionId).cancel(),
    );
}
