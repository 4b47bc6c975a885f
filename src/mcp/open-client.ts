import { AsyncLocalStorage } from 'node:async_hooks';
import { pathToFileURL } from 'node:url';
import type {
  Client,
  Progress,
  ProgressCallback,
  RequestOptions,
  StandardSchemaV1,
} from '@modelcontextprotocol/client';
import { dropUndefined } from '../base/defined.ts';
import { isRecord } from '../base/json.ts';
import { startTimeLimit, waitOrAbort } from '../base/abort.ts';
import { importOptional } from '../base/optional-packages.ts';
import { VERSION } from '../base/version.ts';
import type { Environment } from '../process/environment.ts';
import { fetchBounded } from './bounded-fetch.ts';
import { toProtocolFailure, TransportFailure } from './failures.ts';
import type { PendingCall, QuestionAnswer, ServerQuestion } from './pending-calls.ts';
import type { ServerEndpoint } from './server-config.ts';
import { StdioTransport } from './stdio-transport.ts';

export type ListKind = 'tools' | 'prompts' | 'resources';

export interface ClientOptions {
  readonly endpoint: ServerEndpoint;
  /** The working directory of a program when its entry has none. */
  readonly cwd: string;
  /** The environment of a program. */
  readonly env: Readonly<Environment>;
  readonly roots: readonly string[];
  readonly signal: AbortSignal;
  /** `call` is the one that the question belongs to; null when the transport does not identify it. */
  readonly ask: (
    question: ServerQuestion,
    call: PendingCall | null,
    signal: AbortSignal,
  ) => Promise<QuestionAnswer>;
  readonly onListChange: (kind: ListKind) => void;
  /** Called once when the connection ends without `close`. */
  readonly onLoss: (why: string) => void;
}

/** A connected client. */
export interface OpenClient {
  readonly has: (kind: ListKind) => boolean;
  request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: {
      readonly signal: AbortSignal;
      /** The call that questions and errors during this request belong to. */
      readonly call?: PendingCall;
      readonly onProgress?: (text: string) => void;
    },
  ): Promise<unknown>;
  close(): Promise<void>;
}

// The caller limits the time; the SDK's own timeout must not come before.
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Starts or connects to a server and does the handshake. Rejects with the reason of a failure. */
export async function openClient(request: ClientOptions): Promise<OpenClient> {
  const sdk = await importOptional('an MCP server', () => import('@modelcontextprotocol/client'));
  const { transport, describeEnd, endSession } = createTransport(sdk, request);
  const client = new sdk.Client(
    { name: 'hookline', version: VERSION },
    { capabilities: { elicitation: { form: {}, url: {} }, roots: {} } },
  );
  // AsyncLocalStorage, because over HTTP each request has its own stream, which questions arrive on.
  const currentCall = new AsyncLocalStorage<PendingCall>();
  let isClosing = false;
  Object.assign(client, {
    onclose: () => {
      if (!isClosing) request.onLoss(describeEnd());
    },
    // Other errors make a request fail or end the connection.
    onerror: (error: unknown) => {
      const failure = toProtocolFailure(error);
      if (failure !== null) currentCall.getStore()?.limit.fail(failure);
    },
  });
  const ask: AskUser = (question, signal) =>
    request.ask(question, currentCall.getStore() ?? null, signal);
  serveRequests(client, ask, request);
  const close = async (): Promise<void> => {
    isClosing = true;
    await endSession();
    await client.close().catch(() => undefined);
    // The client drops its transport when the handshake fails, without closing it.
    await transport.close().catch(() => undefined);
    // Otherwise every later promise of this process would carry its value.
    currentCall.disable();
  };
  try {
    await client.connect(transport, { signal: request.signal, timeout: MAX_TIMEOUT_MS });
  } catch (error) {
    await close();
    throw request.signal.aborted || !isLoss(error) ? error : new TransportFailure(describeEnd());
  }
  return {
    has: (kind) => client.getServerCapabilities()?.[kind] !== undefined,
    request: (method, params, { call, signal, onProgress }) => {
      const options = createSdkOptions(signal, onProgress);
      const send = (): Promise<unknown> =>
        client.request({ method, params: { ...params } }, ANYTHING, options);
      return call === undefined ? send() : currentCall.run(call, send);
    },
    close,
  };
}

function createSdkOptions(
  signal: AbortSignal,
  onProgress: ((text: string) => void) | undefined,
): RequestOptions {
  if (onProgress === undefined) return { signal, timeout: MAX_TIMEOUT_MS };
  const onprogress: ProgressCallback = (progress) => onProgress(formatProgress(progress));
  return { signal, timeout: MAX_TIMEOUT_MS, onprogress };
}

/** Whether the connection ended during a request. */
function isLoss(error: unknown): boolean {
  return isRecord(error) && error['code'] === 'CONNECTION_CLOSED';
}

// Answers are validated where they are parsed, so that one invalid field does not fail the whole answer.
const ANYTHING: StandardSchemaV1 = {
  '~standard': { version: 1, vendor: 'hookline', validate: (value) => ({ value }) },
};

/**
 * `endSession` ends the HTTP session on the server; it never rejects, and does not wait for long.
 */
function createTransport(
  sdk: typeof import('@modelcontextprotocol/client'),
  { endpoint, cwd, env }: ClientOptions,
) {
  if (endpoint.type === 'stdio') {
    const program = {
      file: endpoint.command,
      args: endpoint.args,
      cwd: endpoint.cwd ?? cwd,
      env: { ...env, ...endpoint.env },
    };
    const transport = new StdioTransport(program, sdk.deserializeMessage);
    return {
      transport,
      describeEnd: () => transport.describeEnd(),
      endSession: async () => undefined,
    };
  }
  const url = new URL(endpoint.url);
  const options = { requestInit: { headers: { ...endpoint.headers } }, fetch: fetchBounded };
  const transport = new sdk.StreamableHTTPClientTransport(url, options);
  const endSession = async (): Promise<void> => {
    const limit = startTimeLimit(new AbortController().signal, END_SESSION_MS);
    await waitOrAbort(transport.terminateSession(), limit.signal).catch(() => undefined);
    limit.clear();
  };
  return { transport, describeEnd: () => 'the connection was closed', endSession };
}

const END_SESSION_MS = 1000;

type AskUser = (question: ServerQuestion, signal: AbortSignal) => Promise<QuestionAnswer>;

function serveRequests(
  client: Client,
  ask: AskUser,
  { roots, onListChange }: Pick<ClientOptions, 'roots' | 'onListChange'>,
): void {
  client.setRequestHandler('roots/list', () => ({
    roots: roots.map((root) => ({ uri: pathToFileURL(root).href })),
  }));
  client.setRequestHandler('elicitation/create', async ({ params }, context) => {
    const { action, content } = await ask(parseQuestion(params), context.mcpReq.signal);
    if (action !== 'accept' || content === undefined) return { action };
    return { action, content: selectPlainFields(content) };
  });
  client.setNotificationHandler('notifications/tools/list_changed', () => onListChange('tools'));
  client.setNotificationHandler('notifications/prompts/list_changed', () =>
    onListChange('prompts'),
  );
  client.setNotificationHandler('notifications/resources/list_changed', () =>
    onListChange('resources'),
  );
}

function parseQuestion(params: unknown): ServerQuestion {
  const fields = isRecord(params) ? params : {};
  const { message, mode, requestedSchema, url, elicitationId } = fields;
  return dropUndefined({
    message: typeof message === 'string' ? message : '',
    mode: mode === 'url' ? ('url' as const) : ('form' as const),
    schema: isRecord(requestedSchema) ? requestedSchema : undefined,
    url: typeof url === 'string' ? url : undefined,
    id: typeof elicitationId === 'string' ? elicitationId : undefined,
  });
}

type PlainValue = string | number | boolean | string[];

/** Form fields are plain values; others cannot be sent. */
function selectPlainFields(content: Readonly<Record<string, unknown>>): Record<string, PlainValue> {
  const plain: Record<string, PlainValue> = {};
  for (const [name, value] of Object.entries(content)) if (isPlain(value)) plain[name] = value;
  return plain;
}

function isPlain(value: unknown): value is PlainValue {
  if (Array.isArray(value)) return value.every((each) => typeof each === 'string');
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function formatProgress({ progress, total, message }: Progress): string {
  const count = total === undefined ? String(progress) : `${progress}/${total}`;
  return message === undefined ? count : `${count} ${message}`;
}
