import { createServer, type RequestListener, type Server } from 'node:http';
import type { Server as TcpServer } from 'node:net';
import { onTestFinished } from 'vitest';
import type { HttpEntry, Limited } from '../../../../src/dialects/claude/entry.ts';
import { type HttpTools, createHttpRun } from '../../../../src/dialects/claude/handlers/http.ts';
import type { Answer, Handler, HandlerInput } from '../../../../src/hooks/handler.ts';
import { bash, MOMENT } from '../../../hooks/handlers.ts';
import { HTTP_TOOLS, httpEntry } from './handler-entries.ts';

export const INPUT: HandlerInput = {
  event: { ...MOMENT, ...bash('ls'), transcriptPath: '/home/me/t.jsonl' },
  tool: { name: 'Bash', input: { command: 'ls' }, part: null },
};

/** Runs an http hook; other fields have harmless defaults. */
export function runHttp(
  entry: Partial<Limited<HttpEntry>>,
  tools: Partial<HttpTools> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<Answer> {
  return runOnce(createHttpRun(httpEntry(entry), { ...HTTP_TOOLS, ...tools }), signal);
}

export async function runOnce(
  run: Handler['run'],
  signal: AbortSignal = new AbortController().signal,
): Promise<Answer> {
  return (await run(INPUT, signal)) ?? {};
}

/** A server on loopback for one test; answers with its origin. */
export async function serve(listener: RequestListener): Promise<string> {
  return serveWith(createServer(listener));
}

export async function serveWith(server: Server, scheme = 'http'): Promise<string> {
  return `${scheme}://127.0.0.1:${await listen(server)}`;
}

export async function listen(server: TcpServer): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    if ('closeAllConnections' in server && typeof server.closeAllConnections === 'function') {
      server.closeAllConnections();
    }
    server.close();
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
