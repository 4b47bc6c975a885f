import { createServer, type ServerResponse } from 'node:http';

/** The scripted answer of the model. */
export interface ModelAnswer {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input: object }[];
  /** The reported number of tokens of the request. */
  readonly inputTokens?: number;
}

export type WireBlock =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: object;
    }
  | {
      readonly type: 'tool_result';
      readonly tool_use_id: string;
      readonly content: string | readonly { readonly type: string; readonly text?: string }[];
      readonly is_error?: boolean;
    };

/** One request as it came over the wire. */
export interface WireRequest {
  readonly model: string;
  readonly max_tokens: number;
  readonly messages: readonly {
    readonly role: 'user' | 'assistant';
    readonly content: string | readonly WireBlock[];
  }[];
  readonly tools?: readonly { readonly name: string }[];
  readonly thinking?: { readonly type: string };
  readonly output_config?: { readonly format?: { readonly type: string; readonly schema: object } };
}

/** Returns the model's answer to a request, the `index`th from 0. */
export type Answering = (request: WireRequest, index: number) => ModelAnswer;

export interface MessagesServer {
  readonly url: string;
  readonly requests: readonly WireRequest[];
  close(): Promise<void>;
}

/** Serves Anthropic's Messages format, streamed, for a scripted model. */
export async function serveMessages(answer: Answering): Promise<MessagesServer> {
  const requests: WireRequest[] = [];
  let calls = 0;
  const nextCallId = (): string => {
    calls += 1;
    return `toolu_mock${String(calls).padStart(4, '0')}`;
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const wireRequest: WireRequest = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      requests.push(wireRequest);
      stream(response, eventsOf(wireRequest, answer(wireRequest, requests.length - 1), nextCallId));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

interface WireEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

function eventsOf(
  { model }: WireRequest,
  { text, calls = [], inputTokens = 10 }: ModelAnswer,
  nextCallId: () => string,
): readonly WireEvent[] {
  const textChunks = text === undefined ? [] : [textEvents(text)];
  const called = calls.map(({ name, input }) => callEvents(nextCallId(), name, input));
  const message = {
    id: 'msg_mock',
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: inputTokens, output_tokens: 1 },
  };
  return [
    { type: 'message_start', message },
    ...[...textChunks, ...called].flatMap((events, index) =>
      events.map((event) => ({ ...event, index })),
    ),
    {
      type: 'message_delta',
      delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: 5 },
    },
    { type: 'message_stop' },
  ];
}

function textEvents(text: string): readonly WireEvent[] {
  return block({ type: 'text', text: '' }, { type: 'text_delta', text });
}

function callEvents(id: string, name: string, input: object): readonly WireEvent[] {
  const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) };
  return block({ type: 'tool_use', id, name, input: {} }, delta);
}

function block(start: object, delta: object): readonly WireEvent[] {
  return [
    { type: 'content_block_start', content_block: start },
    { type: 'content_block_delta', delta },
    { type: 'content_block_stop' },
  ];
}

function stream(response: ServerResponse, events: readonly WireEvent[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}
