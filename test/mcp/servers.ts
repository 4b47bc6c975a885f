import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type ConnectionOptions, ServerConnection } from '../../src/mcp/server-connection.ts';
import type { ServerEndpoint } from '../../src/mcp/server-config.ts';

const FIXTURES = path.resolve(import.meta.dirname, '../fixtures/mcp');

/** The entry of the example server, whose tools are in `example-tools.mjs`. */
export function exampleEntry(...args: readonly string[]) {
  return { command: process.execPath, args: [path.join(FIXTURES, 'stdio-server.mjs'), ...args] };
}

/** The entry of a server that breaks the protocol in one way. */
export function badEntry(how: string) {
  return { command: process.execPath, args: [path.join(FIXTURES, 'bad-server.mjs'), how] };
}

export function started({ command, args }: ReturnType<typeof exampleEntry>): ServerEndpoint {
  return { type: 'stdio', command, args, env: {}, cwd: null };
}

export interface OpenedConnection {
  readonly connection: ServerConnection;
  readonly notices: string[];
  call(tool: string, input?: object, ask?: AskOption): Promise<unknown>;
}

type AskOption = Parameters<ServerConnection['request']>[0]['ask'];

/** A connection that is closed with the test. */
export function connectTo(
  endpoint: ServerEndpoint,
  more: Partial<ConnectionOptions> = {},
): OpenedConnection {
  const notices: string[] = [];
  const connection = new ServerConnection({
    name: 'srv',
    prepare: () => ({
      endpoint,
      cwd: path.dirname(FIXTURES),
      env: { PATH: process.env['PATH'] ?? '' },
      roots: ['/work'],
    }),
    startTimeoutMs: 200_000,
    callTimeoutMs: 200_000,
    notice: (text) => notices.push(text),
    ...more,
  });
  onTestFinished(() => connection.close());
  const { signal } = new AbortController();
  return {
    connection,
    notices,
    call: (tool, input = {}, ask) =>
      connection.request({
        method: 'tools/call',
        params: { name: tool, arguments: input },
        signal,
        ...(ask === undefined ? {} : { ask }),
      }),
  };
}

export interface ExampleService {
  readonly url: string;
  readonly seen: readonly Readonly<Record<string, string>>[];
  readonly methods: readonly string[];
  forget(): void;
}

/** The example server over http, closed with the test; requests named here are answered with these events. */
export async function serveExample(
  events: Readonly<Record<string, string>> = {},
): Promise<ExampleService> {
  const { serveExample: serve } = await import('../fixtures/mcp/http-server.mjs');
  const service = await serve(events);
  onTestFinished(() => service.close());
  return service;
}
