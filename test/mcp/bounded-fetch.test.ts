import { createServer, type ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { fetchBounded } from '../../src/mcp/bounded-fetch.ts';
import { MAX_MESSAGE_BYTES } from '../../src/mcp/failures.ts';

const LINE = Buffer.alloc(1024 * 1024, 'x');
const LINES = MAX_MESSAGE_BYTES / LINE.length + 2;

/** An address whose answer is written by this. */
async function serve(type: string, answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_request, response) => {
    response.on('error', () => undefined);
    response.writeHead(200, { 'content-type': type });
    answer(response);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/mcp`;
}

function writeLines(response: ServerResponse, end: string): void {
  for (let line = 0; line < LINES; line += 1) {
    response.write(LINE);
    response.write(end);
  }
  response.end();
}

test.each(['application/json', 'text/event-stream'])(
  'an answer of the type %s that never ends fails',
  async (type) => {
    const url = await serve(type, (response) => writeLines(response, ' '));
    const response = await fetchBounded(url);
    await expect(response.text()).rejects.toThrow('the server sent a message of more than 64 MiB');
  },
);

test.each(['\n\n', '\r\n\r\n', '\r\r'])(
  'a stream of events that end with %j may have any length',
  async (end) => {
    const url = await serve('text/event-stream', (response) => writeLines(response, end));
    const response = await fetchBounded(url);
    expect([response.url, (await response.arrayBuffer()).byteLength]).toEqual([
      url,
      LINES * (LINE.length + end.length),
    ]);
  },
);

test.each(['\n', '\r\n', '\r'])('an event of many lines that end with %j fails', async (end) => {
  const url = await serve('text/event-stream', (response) => writeLines(response, end));
  const response = await fetchBounded(url);
  await expect(response.text()).rejects.toThrow('the server sent a message of more than 64 MiB');
});
