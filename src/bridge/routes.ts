import type { IncomingMessage, ServerResponse } from 'node:http';
import { formatTime, systemClock } from '../base/clock.ts';
import { getErrorMessage } from '../base/errors.ts';
import {
  type Answer,
  checkSender,
  checkToken,
  isSecret,
  listOwnHosts,
  refuse,
} from './check-request.ts';
import type { Connections } from './connections.ts';
import type { EventStreams } from './event-stream.ts';
import type { Ingest } from './ingest.ts';
import { CLIENT_SECRET_HEADER, formatRoute, SERVER_SECRET_HEADER } from './protocol.ts';
import type { RunningBridge } from './run-file.ts';

export interface RouteParts {
  readonly bridge: RunningBridge;
  readonly agents: readonly string[];
  readonly ingest: Ingest;
  readonly streams: EventStreams;
  readonly connections: Connections;
  readonly onProblem: (text: string) => void;
  /** Stops the bridge once the answer is sent. */
  readonly onStop: () => void;
}

interface AgentState {
  readonly agent: string;
  processedEvents: number;
  errors: number;
}

const CLIENT_SECRET_KEY = CLIENT_SECRET_HEADER.toLowerCase();
/** How long a client may go on sending what is not wanted, so that it sees the answer. */
const DRAIN_MS = 2000;

/** Answers the requests of the bridge. */
export class Routes {
  readonly #parts: RouteParts;
  readonly #agents: ReadonlyMap<string, AgentState>;
  readonly #ownHosts: ReadonlySet<string>;
  readonly #startedAt = systemClock.elapsed();

  constructor(parts: RouteParts) {
    this.#parts = parts;
    this.#ownHosts = listOwnHosts(parts.bridge.port);
    this.#agents = new Map(
      parts.agents.map((agent) => [
        `/${formatRoute(agent)}`,
        { agent, processedEvents: 0, errors: 0 },
      ]),
    );
  }

  async respond(
    request: IncomingMessage,
    response: ServerResponse,
    isClosing: boolean,
  ): Promise<void> {
    const { bridge, connections, onProblem } = this.#parts;
    const isVerified = isSecret(request.headers[CLIENT_SECRET_KEY], bridge.clientSecret);
    request.on('end', () => connections.markBusy(request.socket));
    response.on('finish', () => connections.markWaiting(request.socket));
    const work = isClosing
      ? Promise.resolve(STOPPING)
      : this.#findAnswer(request, response, isVerified);
    const answer = await work.catch((error: unknown) => {
      onProblem(getErrorMessage(error));
      return refuse(500, 'internal error');
    });
    if (answer === null) return;
    const own = isVerified ? { [SERVER_SECRET_HEADER]: bridge.serverSecret } : {};
    send(request, response, { ...answer, headers: { ...answer.headers, ...own } });
  }

  /** Null when the response is a stream. */
  async #findAnswer(
    request: IncomingMessage,
    response: ServerResponse,
    isVerified: boolean,
  ): Promise<Answer | null> {
    const refusal = checkSender(request, this.#ownHosts);
    if (refusal !== null) return refusal;
    const [path = ''] = (request.url ?? '').split('?', 1);
    const state = this.#agents.get(path);
    if (state !== undefined) return this.#answerAgent(request, state, isVerified);
    if (path === '/health') return refuseMethod(request, READING) ?? this.#describeHealth();
    if (path === '/events') return this.#answerReader(request, response);
    if (path === '/stop') return this.#answerStop(request, response);
    return {
      status: 404,
      body: { success: false, error: 'Not found', message: `Unknown endpoint: ${path}` },
    };
  }

  async #answerAgent(
    request: IncomingMessage,
    state: AgentState,
    isVerified: boolean,
  ): Promise<Answer> {
    const { agent } = state;
    if (request.method !== 'POST') {
      const refusal = refuseMethod(request, [...READING, 'POST']);
      const { processedEvents } = state;
      return (
        refusal ?? { status: 200, body: { provider: agent, status: 'ready', processedEvents } }
      );
    }
    const answer = await this.#parts.ingest.take(request, { agent, isVerified });
    if (answer.eventCount === undefined) state.errors++;
    else {
      state.processedEvents += answer.eventCount;
      this.#parts.streams.notify();
    }
    return answer;
  }

  #answerReader(request: IncomingMessage, response: ServerResponse): Answer | null {
    const { bridge, streams } = this.#parts;
    return (
      refuseMethod(request, ['GET']) ??
      checkToken(request, bridge.token) ??
      streams.open(request, response)
    );
  }

  #answerStop(request: IncomingMessage, response: ServerResponse): Answer {
    const { bridge, onStop } = this.#parts;
    const refusal = refuseMethod(request, ['POST']) ?? checkToken(request, bridge.token);
    if (refusal !== null) return refusal;
    response.on('finish', onStop);
    return { status: 200, body: { success: true, message: 'The bridge stops' } };
  }

  /** Counts only: it is answered without a token. */
  #describeHealth(): Answer {
    const states = [...this.#agents.values()];
    const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);
    return {
      status: 200,
      body: {
        status: 'ok',
        timestamp: formatTime(systemClock.now()),
        message: 'Hookline bridge',
        version: this.#parts.bridge.version,
        processedEvents: sum(states.map(({ processedEvents }) => processedEvents)),
        errors: sum(states.map(({ errors }) => errors)),
        uptime: Math.round(systemClock.elapsed() - this.#startedAt) / 1000,
        providers: states.map(({ agent }) => agent),
        eventCounts: Object.fromEntries(
          states.map(({ agent, processedEvents }) => [agent, processedEvents]),
        ),
      },
    };
  }
}

const STOPPING = refuse(503, 'the bridge is stopping', { connection: 'close' });
const READING = ['GET', 'HEAD'];

function refuseMethod({ method = '' }: IncomingMessage, allowed: readonly string[]): Answer | null {
  if (allowed.includes(method)) return null;
  const list = allowed.join(', ');
  return refuse(405, `expected ${list}, found ${method}`, { allow: list });
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, headers = {} }: Answer,
): void {
  const text = `${JSON.stringify(body)}\n`;
  const common = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  };
  if (request.complete || request.method === 'GET' || request.method === 'HEAD') {
    response.writeHead(status, common);
    response.end(request.method === 'HEAD' ? undefined : text);
    return;
  }
  // A connection that is closed while the client still sends looks to it like a failure without an answer.
  response.writeHead(status, { ...common, connection: 'close' });
  response.write(text);
  const timer = setTimeout(() => request.destroy(), DRAIN_MS);
  request.on('close', () => {
    clearTimeout(timer);
    response.end();
  });
  request.resume();
}
