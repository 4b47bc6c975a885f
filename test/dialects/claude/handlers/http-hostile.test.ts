import { execFileSync } from 'node:child_process';
import { createServer as createTcpServer, type Socket } from 'node:net';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { until } from '../../../base/directory.ts';
import { listen, runHttp, serve } from './handler-runs.ts';

/** A server that sends raw bytes; returns its URL and whether its client has gone. */
async function serveRaw(speak: (socket: Socket) => void) {
  const state = { closed: 0 };
  const server = createTcpServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('close', () => (state.closed += 1));
    socket.once('data', () => speak(socket));
  });
  return { url: `http://127.0.0.1:${await listen(server)}/hook`, state };
}

describe('a server that sends too much', () => {
  test('is cut off after a megabyte, and the connection is closed', async () => {
    const state = { sent: 0, closed: false };
    const origin = await serve((_request, response) => {
      const chunk = Buffer.alloc(1024 * 1024, 'x');
      response.on('close', () => (state.closed = true));
      const more = (): void => {
        while (state.sent < 50 && !response.destroyed) {
          state.sent += 1;
          if (!response.write(chunk)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    expect(await runHttp({ url: `${origin}/hook` })).toEqual({
      failure: {
        kind: 'output',
        message: `the answer from ${origin}/hook is longer than 1048576 bytes`,
      },
    });
    await until(() => state.closed);
    expect(state.sent).toBeLessThan(50);
  });

  test('is measured after unpacking', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    const origin = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    });
    expect(await runHttp({ url: `${origin}/hook` })).toEqual({
      failure: {
        kind: 'output',
        message: `the answer from ${origin}/hook is longer than 1048576 bytes`,
      },
    });
  });

  test('a body of exactly a megabyte is read', async () => {
    const body = `{"a":"${'x'.repeat(1024 * 1024 - 8)}"}`;
    const origin = await serve((_request, response) => response.end(body));
    expect((await runHttp({ url: origin })).decision).toEqual({ context: body });
  });

  test('endless headers are a failure', async () => {
    const { url } = await serveRaw((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${`X-Long: ${'x'.repeat(1000)}\r\n`.repeat(100)}`);
    });
    expect(await runHttp({ url })).toEqual({
      failure: {
        kind: 'output',
        message: `no answer from ${url}: Parse Error: Header overflow`,
      },
    });
  });
});

describe('a server that is too slow', () => {
  const timedOut = { failure: { kind: 'timeout', message: 'did not answer within 200 ms' } };

  test('because it never sends headers times out, and the connection is closed', async () => {
    const { url, state } = await serveRaw(() => undefined);
    expect(await runHttp({ url, timeoutMs: 200 })).toEqual(timedOut);
    await until(() => state.closed === 1);
  });

  test('because it drips its body times out, and the connection is closed', async () => {
    const { url, state } = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n{');
      const drip = setInterval(() => socket.write(' '), 5);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await runHttp({ url, timeoutMs: 200 })).toEqual(timedOut);
    await until(() => state.closed === 1);
  });

  test('is ended when the dispatch is aborted', async () => {
    const controller = new AbortController();
    const { url, state } = await serveRaw(() => controller.abort());
    expect(await runHttp({ url }, {}, controller.signal)).toEqual({
      failure: { kind: 'killed', message: 'was ended because the dispatch was aborted' },
    });
    await until(() => state.closed === 1);
  });

  test('is not called when the dispatch is aborted already', async () => {
    let calls = 0;
    const origin = await serve((_request, response) => {
      calls += 1;
      response.end();
    });
    expect(await runHttp({ url: origin }, {}, AbortSignal.abort())).toEqual({
      failure: { kind: 'killed', message: 'was ended because the dispatch was aborted' },
    });
    expect(calls).toBe(0);
  });
});

describe('a server that breaks off', () => {
  test('before it answers is a failure', async () => {
    const { url } = await serveRaw((socket) => socket.destroy());
    expect(await runHttp({ url })).toEqual({
      failure: { kind: 'output', message: `no answer from ${url}: socket hang up` },
    });
  });

  test.each([
    ['a body of known length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"continue"'],
    ['a body in chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n'],
  ])('in the middle of %s is a failure', async (_what, head) => {
    const { url } = await serveRaw((socket) => socket.end(head));
    expect(await runHttp({ url })).toEqual({
      failure: { kind: 'output', message: `the answer from ${url} broke off: aborted` },
    });
  });

  test('in the middle of a packed body is a failure', async () => {
    const half = gzipSync('{"continue":false}').subarray(0, 20);
    const origin = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(half);
    });
    expect((await runHttp({ url: origin })).failure).toEqual({
      kind: 'output',
      message: `the answer from ${origin}/ broke off: unexpected end of file`,
    });
  });

  test('with a body that is not what its encoding says is a failure', async () => {
    const origin = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('{"continue":false}');
    });
    expect((await runHttp({ url: origin })).failure?.kind).toBe('output');
  });

  test('with something that is not HTTP is a failure', async () => {
    const { url } = await serveRaw((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
    const { failure } = await runHttp({ url });
    expect(failure?.kind).toBe('output');
    expect(failure?.message).toContain(`no answer from ${url}: Parse Error`);
  });

  test('by changing the protocol is a failure', async () => {
    const { url, state } = await serveRaw((socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
    });
    expect(await runHttp({ url })).toEqual({
      failure: { kind: 'exit', message: `HTTP 101 from ${url}` },
    });
    await until(() => state.closed === 1);
  });

  test('by answering a long payload before it has read it still gives its answer', async () => {
    const { url } = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
    });
    const encode = (): string => 'x'.repeat(8 * 1024 * 1024);
    expect((await runHttp({ url }, { encode })).decision).toEqual({ context: '{}' });
  });
});

describe('a server that is not there', () => {
  test('is a failure that says so', async () => {
    expect(await runHttp({ url: 'http://127.0.0.1:1/hook' })).toEqual({
      failure: {
        kind: 'spawn',
        message: 'no answer from http://127.0.0.1:1/hook: connect ECONNREFUSED 127.0.0.1:1',
      },
    });
  });

  test('at any of several addresses is a failure that names them all', async () => {
    const { failure } = await runHttp(
      { url: 'http://localhost:1/hook' },
      {
        resolve: (_name, found) =>
          found(null, [
            { address: '127.0.0.1', family: 4 },
            { address: '::1', family: 6 },
          ]),
      },
    );
    expect(failure?.message).toMatch(
      /^no answer from http:\/\/localhost:1\/hook: connect \w+ 127\.0\.0\.1:1, connect \w+ ::1:1/,
    );
  });

  test('because its name is unknown is a failure', async () => {
    const { failure } = await runHttp(
      { url: 'https://nowhere.invalid/hook' },
      { resolve: (_name, found) => found(new Error('getaddrinfo ENOTFOUND nowhere.invalid'), []) },
    );
    expect(failure).toEqual({
      kind: 'spawn',
      message: 'no answer from https://nowhere.invalid/hook: getaddrinfo ENOTFOUND nowhere.invalid',
    });
  });
});

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308])('%i is not followed', async (status) => {
    let visits = 0;
    const elsewhere = await serve((_request, response) => {
      visits += 1;
      response.end('{"continue":false}');
    });
    const origin = await serve((_request, response) => {
      response.writeHead(status, { location: `${elsewhere}/x` }).end();
    });
    expect((await runHttp({ url: `${origin}/hook` })).failure?.message).toBe(
      `HTTP ${status} from ${origin}/hook`,
    );
    expect(visits).toBe(0);
  });
});

describe('errors on our side', () => {
  test('a codec that throws is a failure', async () => {
    const origin = await serve((_request, response) => response.end('{}'));
    const decode = (): never => {
      throw new TypeError('no');
    };
    expect(await runHttp({ url: origin }, { decode })).toEqual({
      failure: { kind: 'threw', message: 'no' },
    });
  });
});

test('nothing is left behind that keeps the process alive', () => {
  const output = execFileSync(
    process.execPath,
    ['--import', 'jiti/register', path.join(import.meta.dirname, 'fixtures/run-many-handlers.ts')],
    { encoding: 'utf8', timeout: 240_000 },
  );
  expect(JSON.parse(output)).toEqual({
    decided: 60,
    'failed: exit': 20,
    'failed: killed': 60,
    'failed: timeout': 60,
    openConnections: 0,
    listeners: 0,
  });
});
