import { createServer, type IncomingHttpHeaders } from 'node:http';

export interface Reply {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface TestServer {
  /** Such as `http://127.0.0.1:41234`. */
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  close(): Promise<void>;
}

/** A real server on this machine that answers each path with the result of `reply`. */
export async function serve(reply: (path: string) => Reply): Promise<TestServer> {
  const requests: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      requests.push({ method, url, headers, body: Buffer.concat(chunks).toString('utf8') });
      const { status, body = '', headers: sent = {} } = reply(url);
      response.writeHead(status, sent).end(body);
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
