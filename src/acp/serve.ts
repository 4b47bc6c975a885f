import {
  agent,
  type AgentApp,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
} from '@agentclientprotocol/sdk';
import { getErrorCode, getErrorMessage } from '../base/errors.ts';
import { introduction } from './abilities.ts';
import { type AcpOptions, EditorSessions } from './editor-sessions.ts';
import { answering } from './request-errors.ts';

export type { AcpOptions } from './editor-sessions.ts';

export interface AcpStreams {
  readonly input: ReadableStream<Uint8Array>;
  readonly output: WritableStream<Uint8Array>;
  /** Ends the connection, and every session with it. */
  readonly signal: AbortSignal;
}

/** Serves one editor until it goes away; then every session has ended. */
export async function serveAcp(
  options: AcpOptions,
  { input, output, signal }: AcpStreams,
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

/** An editor that goes away says nothing; its end of the pipes is just closed. */
function isBreak(reason: unknown): boolean {
  const isFarewell = getErrorMessage(reason) === 'ACP connection closed';
  return !isFarewell && getErrorCode(reason) !== 'EPIPE';
}

function createApp(sessions: EditorSessions): AgentApp {
  const { initialize, session } = methods.agent;
  return agent({ name: 'hookline' })
    .onRequest(initialize, ({ params }) => {
      sessions.meet(params.clientCapabilities);
      return introduction(PROTOCOL_VERSION);
    })
    .onRequest(session.new, ({ client, params }) =>
      answering(() => sessions.create(client, params)),
    )
    .onRequest(session.load, ({ client, params }) => answering(() => sessions.load(client, params)))
    .onRequest(session.resume, ({ client, params }) =>
      answering(() => sessions.resume(client, params)),
    )
    .onRequest(session.list, ({ params }) => answering(() => sessions.list(params)))
    .onRequest(session.close, ({ params: { sessionId } }) =>
      answering(async () => {
        sessions.find(sessionId);
        await sessions.close(sessionId);
        return {};
      }),
    )
    .onRequest(session.delete, ({ params: { sessionId } }) =>
      answering(async () => {
        await sessions.delete(sessionId);
        return {};
      }),
    )
    .onRequest(session.setMode, ({ params: { sessionId, modeId } }) =>
      answering(() => {
        sessions.find(sessionId).setMode(modeId);
        return {};
      }),
    )
    .onRequest(session.setConfigOption, ({ params: { sessionId, configId, value } }) =>
      answering(() => sessions.find(sessionId).setOption(configId, value)),
    )
    .onRequest(session.prompt, ({ params: { sessionId, prompt }, signal }) =>
      answering(() => sessions.find(sessionId).prompt(prompt, signal)),
    )
    .onNotification(session.cancel, ({ params: { sessionId } }) =>
      sessions.find(sessionId).cancel(),
    );
}
