import { AsyncLocalStorage } from 'node:async_hooks';
import { pathToFileURL } from 'node:url';
import type { Client, StandardSchemaV1, Transport } from '@modelcontextprotocol/client';
import { isRecord } from '../base/json.ts';
import { startTimeLimit } from '../base/time-limit.ts';
import { waitOrAbort } from '../base/abort.ts';
import { VERSION } from '../base/version.ts';
import type { Environment } from '../process/environment.ts';
import { toProtocolFailure, TransportFailure } from './failures.ts';
import type { PendingCall, QuestionAnswer, ServerQuestion } from './pending-calls.ts';
import type { ServerEndpoint } from './server-config.ts';
import { fetchBounded } from './bounded-fetch.ts';
import { StdioTransport } from './stdio-transport.ts';

export type ListKind = 'tools' | 'prompts' | 'resources';

export interface ClientOptions {
  readonly endpoint: ServerEndpoint;
  /** Where a program starts when its entry does not say. */
  readonly cwd: string;
  /** Of a program. */
  readonly env: Readonly<Environment>;
  readonly roots: readonly string[];
  readonly signal: AbortSignal;
  /** `call` is the one that the question came with; null when the connection does not tell. */
  readonly ask: (
    question: ServerQuestion,
    call: PendingCall | null,
    signal: AbortSignal,
  ) => Promise<QuestionAnswer>;
  readonly onListChange: (kind: ListKind) => void;
  /** Told once when the server is gone without having been asked to go. */
  readonly onLoss: (why: string) => void;
}

/** A server that answers. */
export interface OpenClient {
  readonly has: (kind: ListKind) => boolean;
  request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: RequestOptions,
  ): Promise<unknown>;
  close(): Promise<void>;
}

export interface RequestOptions {
  readonly signal: AbortSignal;
  /** Told of what comes with its answer. */
  readonly call?: PendingCall;
  readonly onProgress?: (text: string) => void;
}

// Time is limited by whoever asks; the protocol's own limit must not come before.
const NO_LIMIT_MS = 2 ** 31 - 1;

/** Starts or reaches a server and shakes hands with it. Rejects with why that does not work. */
export async function openClient(request: ClientOptions): Promise<OpenClient> {
  const sdk = await import('@modelcontextprotocol/client');
  const { transport, whyOver, sayGoodbye } = transportFor(sdk, request);
  const client = new sdk.Client(
    { name: 'hookline', version: VERSION },
    { capabilities: { elicitation: { form: {}, url: {} }, roots: {} } },
  );
  // Over http each request has a stream of its own, and what comes with it is heard in its name.
  const underWay = new AsyncLocalStorage<PendingCall>();
  let isClosing = false;
  Object.assign(client, {
    onclose: () => {
      if (!isClosing) request.onLoss(whyOver());
    },
    // What else matters is told by the request that fails, or by the end of the connection.
    onerror: (error: unknown) => {
      const failure = toProtocolFailure(error);
      if (failure !== null) underWay.getStore()?.limit.fail(failure);
    },
  });
  const ask: Answer = (question, signal) =>
    request.ask(question, underWay.getStore() ?? null, signal);
  serveRequests(client, { ...request, ask });
  const close = async (): Promise<void> => {
    isClosing = true;
    await sayGoodbye();
    await client.close().catch(() => undefined);
    // The client forgets its transport when a handshake fails.
    await transport.close().catch(() => undefined);
  };
  try {
    await client.connect(transport, { signal: request.signal, timeout: NO_LIMIT_MS });
  } catch (error) {
    await close();
    throw request.signal.aborted || !isLoss(error) ? error : new TransportFailure(whyOver());
  }
  return {
    has: (kind) => client.getServerCapabilities()?.[kind] !== undefined,
    request: (method, params, { call, ...options }) => {
      const send = (): Promise<unknown> =>
        client.request({ method, params: { ...params } }, ANYTHING, sdkOptions(options));
      return call === undefined ? send() : underWay.run(call, send);
    },
    close,
  };
}

function sdkOptions({ signal, onProgress }: Omit<RequestOptions, 'call'>) {
  if (onProgress === undefined) return { signal, timeout: NO_LIMIT_MS };
  const onprogress = ({ progress, total, message }: Progress): void =>
    onProgress(sayProgress({ progress, total, message }));
  return { signal, timeout: NO_LIMIT_MS, onprogress };
}

/** Whether the connection ended under a request. */
function isLoss(error: unknown): boolean {
  return isRecord(error) && error['code'] === 'CONNECTION_CLOSED';
}

// What servers answer is narrowed by whoever reads it: one wrong field must not cost the rest.
const ANYTHING: StandardSchemaV1 = {
  '~standard': { version: 1, vendor: 'hookline', validate: (value) => ({ value }) },
};

interface Way {
  readonly transport: Transport;
  readonly whyOver: () => string;
  /** Lets a service forget this connection; never rejects, and does not wait for long. */
  readonly sayGoodbye: () => Promise<void>;
}

function transportFor(
  sdk: typeof import('@modelcontextprotocol/client'),
  { endpoint, cwd, env }: ClientOptions,
): Way {
  if (endpoint.type === 'stdio') {
    const program = {
      file: endpoint.command,
      args: endpoint.args,
      cwd: endpoint.cwd ?? cwd,
      env: { ...env, ...endpoint.env },
    };
    const transport = new StdioTransport(program, sdk.deserializeMessage);
    return { transport, whyOver: () => transport.whyOver(), sayGoodbye: async () => undefined };
  }
  const url = new URL(endpoint.url);
  const options = { requestInit: { headers: { ...endpoint.headers } }, fetch: fetchBounded };
  const transport = new sdk.StreamableHTTPClientTransport(url, options);
  const sayGoodbye = async (): Promise<void> => {
    const limit = startTimeLimit(new AbortController().signal, GOODBYE_MS);
    await waitOrAbort(transport.terminateSession(), limit.signal).catch(() => undefined);
    limit.clear();
  };
  return { transport, whyOver: () => 'the connection was closed', sayGoodbye };
}

const GOODBYE_MS = 1000;

type Answer = (question: ServerQuestion, signal: AbortSignal) => Promise<QuestionAnswer>;

interface Served extends Pick<ClientOptions, 'roots' | 'onListChange'> {
  readonly ask: Answer;
}

function serveRequests(client: Client, { roots, ask, onListChange }: Served): void {
  client.setRequestHandler('roots/list', () => ({
    roots: roots.map((root) => ({ uri: pathToFileURL(root).href })),
  }));
  client.setRequestHandler('elicitation/create', async ({ params }, context) => {
    const { action, content } = await ask(questionOf(params), context.mcpReq.signal);
    if (action !== 'accept' || content === undefined) return { action };
    return { action, content: plainFields(content) };
  });
  client.setNotificationHandler('notifications/tools/list_changed', () => onListChange('tools'));
  client.setNotificationHandler('notifications/prompts/list_changed', () =>
    onListChange('prompts'),
  );
  client.setNotificationHandler('notifications/resources/list_changed', () =>
    onListChange('resources'),
  );
}

function questionOf(params: unknown): ServerQuestion {
  const given = isRecord(params) ? params : {};
  const { message, mode, requestedSchema, url, elicitationId } = given;
  return {
    message: typeof message === 'string' ? message : '',
    mode: mode === 'url' ? 'url' : 'form',
    ...(isRecord(requestedSchema) ? { schema: requestedSchema } : {}),
    ...(typeof url === 'string' ? { url } : {}),
    ...(typeof elicitationId === 'string' ? { id: elicitationId } : {}),
  };
}

type PlainValue = string | number | boolean | string[];

/** A form has plain fields; what is none cannot be sent. */
function plainFields(content: Readonly<Record<string, unknown>>): Record<string, PlainValue> {
  const plain: Record<string, PlainValue> = {};
  for (const [name, value] of Object.entries(content)) if (isPlain(value)) plain[name] = value;
  return plain;
}

function isPlain(value: unknown): value is PlainValue {
  if (Array.isArray(value)) return value.every((each) => typeof each === 'string');
  return ['string', 'number', 'boolean'].includes(typeof value);
}

interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

function sayProgress({ progress, total, message }: Progress): string {
  const count = total === undefined ? String(progress) : `${progress}/${total}`;
  return message === undefined ? count : `${count} ${message}`;
}
