import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LLMock } from '@copilotkit/aimock';
import { onTestFinished } from 'vitest';
import type {
  Model,
  ModelChunk,
  ModelEnd,
  ModelFailure,
  ModelRequest,
} from '../../../src/agent/models/model.ts';
import { openModel, type ModelChoice } from '../../../src/agent/models/providers.ts';
import { createUserMessage } from '../../../src/sessions/messages.ts';

/** The providers that together cover every wire format. */
export const WIRES = ['anthropic', 'openai', 'openai-compatible', 'gemini'] as const;

export const KEY = 'sk-very-secret-key';

/** aimock on a free port: one server for all wire formats. */
export async function mockService(): Promise<LLMock> {
  const mock = new LLMock({ port: 0, logLevel: 'silent' });
  await mock.start();
  onTestFinished(() => mock.stop());
  return mock;
}

export interface RawRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A server whose answer the test defines, for what aimock does not do. */
export async function rawService(
  answer: (response: ServerResponse, request: RawRequest) => void,
): Promise<string> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString('utf8');
      answer(response, { url: request.url ?? '', headers: request.headers, body });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

/** An address at which no server listens any more. */
export async function deadService(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

/** Server-sent events, each with its own type as their name. */
export function sendEvents(
  response: ServerResponse,
  events: readonly { readonly type: string; readonly [key: string]: unknown }[],
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
}

export function open(choice: Partial<ModelChoice> & { provider: string }): Promise<Model> {
  return openModel({ model: 'test-model', baseUrl: null, key: KEY, env: {}, ...choice });
}

export function request(wanted: Partial<ModelRequest> | string): ModelRequest {
  const input = typeof wanted === 'string' ? { messages: [createUserMessage(wanted)] } : wanted;
  return { system: 'Be brief.', messages: [], tools: [], ...input };
}

export async function collect(
  model: Model,
  asked: ModelRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<readonly ModelChunk[]> {
  const chunks: ModelChunk[] = [];
  for await (const chunk of model.stream(asked, signal)) chunks.push(chunk);
  return chunks;
}

export async function endOf(model: Model, asked: ModelRequest): Promise<ModelEnd> {
  const chunks = await collect(model, asked);
  const last = chunks.at(-1);
  if (last?.type !== 'end') throw new Error(`no end: ${JSON.stringify(last)}`);
  return last;
}

export async function failureOf(model: Model, asked: ModelRequest): Promise<ModelFailure> {
  const chunks = await collect(model, asked);
  const last = chunks.at(-1);
  if (last?.type !== 'failure') throw new Error(`no failure: ${JSON.stringify(last)}`);
  return last.failure;
}
