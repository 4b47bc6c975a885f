import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { DONE } from './reading.ts';

/** A language model's service in OpenAI's wire format, which does the same with every task. */
export interface ModelService {
  readonly url: string;
  /** How many requests it has answered. */
  answered(): number;
  close(): Promise<void>;
}

export interface ServiceCall {
  readonly name: string;
  readonly input: object;
}

/** Answers with one call after the other, and then with words; how far a task is, its request tells. */
export async function startModelService(calls: readonly ServiceCall[]): Promise<ModelService> {
  let answered = 0;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const turn = countTurns(body);
      answered += 1;
      sendAnswer(response, turn, calls[turn] ?? null);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : null;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    answered: () => answered,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function countTurns(body: string): number {
  const { messages }: { messages: { role: string }[] } = JSON.parse(body);
  return messages.filter(({ role }) => role === 'assistant').length;
}

function sendAnswer(response: ServerResponse, turn: number, call: ServiceCall | null): void {
  const head = {
    id: `answer-${turn}`,
    object: 'chat.completion.chunk',
    created: 0,
    model: 'bench',
  };
  const send = (fields: object): boolean =>
    response.write(`data: ${JSON.stringify({ ...head, ...fields })}\n\n`);
  const delta = call === null ? { content: DONE } : { tool_calls: [createToolCall(turn, call)] };
  const finish = call === null ? 'stop' : 'tool_calls';
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send({ choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null }] });
  send({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
  send({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } });
  response.end('data: [DONE]\n\n');
}

function createToolCall(turn: number, { name, input }: ServiceCall): object {
  const called = { name, arguments: JSON.stringify(input) };
  return { index: 0, id: `call_${turn + 1}`, type: 'function', function: called };
}
