import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isAllowedHost, startHostProxy } from '../../../src/process/sandbox/host-proxy.ts';
import { createSandboxFixture } from './fixture.ts';

async function startWebServer(): Promise<number> {
  const server = createHttpServer((_request, response) => response.end('served'));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
  onTestFinished(() => void server.close());
  return toPort(server.address());
}

async function startRawServer(): Promise<number> {
  const server = createServer((socket) => socket.end('raw'));
  await new Promise<void>((resolve) => void server.listen(0, '0.0.0.0', () => resolve()));
  onTestFinished(() => void server.close());
  return toPort(server.address());
}

function toPort(address: string | AddressInfo | null): number {
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

describe('a list of hosts', () => {
  async function createNetwork(hosts: readonly string[]) {
    const fixture = await createSandboxFixture();
    const socket = path.join(fixture.profile.temporaryDirectory, 'proxy.socket');
    const proxy = await startHostProxy(socket, (host, port) => isAllowedHost(host, port, hosts));
    onTestFinished(() => proxy.close());
    return { ...fixture, network: { socket } };
  }

  test('is reached through the proxy, and nothing else is', async () => {
    const port = await startWebServer();
    const { run, network } = await createNetwork(['localhost']);
    const fetch = (url: string): string => `NO_PROXY= no_proxy= curl -s -m 20 ${url}; echo`;
    const { text } = await run(
      `${fetch(`http://localhost:${port}/`)}; ${fetch(`http://127.0.0.1:${port}/`)}; ${fetch(`-p http://localhost:${port}/`)}; exit 7`,
      { network },
    );
    expect(text.split('\n').filter((line) => line !== '')).toEqual([
      'served',
      'The network of the sandbox does not include 127.0.0.1.',
      'served',
    ]);
  });

  test('keeps the exit code and the input of the command', async () => {
    const { run, network } = await createNetwork([]);
    expect(await run('exit 7', { network })).toMatchObject({ exitCode: 7 });
    expect(await run('kill -9 $$', { network })).toMatchObject({ exitCode: 137 });
  });

  test.each(['off', 'list'] as const)('%s stops raw sockets and DNS', async (kind) => {
    const port = await startRawServer();
    const { run, network } = await createNetwork(['localhost']);
    const python = (code: string): string => `python3 -c '${code}' 2>&1 | tail -1`;
    const { text } = await run(
      [
        python(`import socket; print(socket.create_connection(("127.0.0.1", ${port}), 5).recv(3))`),
        python(
          'import socket; s=socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b"x", ("8.8.8.8", 53)); print("sent")',
        ),
        python('import socket; print(socket.gethostbyname("example.com"))'),
        python('import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); print("raw")'),
        python(
          'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3); print("packet")',
        ),
        `ls /sys/class/net /proc/net/dev >/dev/null; grep -c : /proc/net/dev`,
      ].join('; '),
      { network: kind === 'off' ? 'off' : network },
    );
    const lines = text.split('\n');
    expect(lines.slice(0, 5).every((line) => /error/i.test(line))).toBe(true);
    expect(lines.at(-1)).toBe('1');
  });

  test('the network is shared when it is on', async () => {
    const port = await startRawServer();
    const { run } = await createSandboxFixture();
    const { text } = await run(
      `python3 -c 'import socket; print(socket.create_connection(("127.0.0.1", ${port})).recv(3))'`,
    );
    expect(text).toBe("b'raw'");
  });
});

test.each([
  ['a.com', ['a.com'], true],
  ['A.com.', ['a.com'], true],
  ['b.a.com', ['a.com'], false],
  ['b.a.com', ['*.a.com'], true],
  ['a.com', ['*.a.com'], false],
  ['xa.com', ['*.a.com'], false],
  ['evil-a.com', ['a.com'], false],
  ['a.com.evil.com', ['a.com', '*.a.com'], false],
  ['127.0.0.1', ['localhost'], false],
])('%s in %j is %s', (host, hosts, isAllowed) => {
  expect(isAllowedHost(host, 443, hosts)).toBe(isAllowed);
});

test.each([
  ['a.test', 443, ['a.test:443'], true],
  ['a.test', 80, ['a.test:443'], false],
  ['x.a.test', 443, ['*.a.test:443'], true],
  ['[::1]', 443, ['[::1]'], true],
  ['[::1]', 443, ['[::1]:443'], true],
  ['[::1]', 80, ['[::1]:443'], false],
  ['[::1]', 80, ['::1'], true],
])('%s on port %d in %j is %s', (host, port, hosts, isAllowed) => {
  expect(isAllowedHost(host, port, hosts)).toBe(isAllowed);
});

describe('a request that no client would send', () => {
  /** What the proxy answers, with all hosts below example.test allowed. */
  async function request(head: string): Promise<string> {
    const fixture = await createSandboxFixture();
    const socket = path.join(fixture.profile.temporaryDirectory, 'proxy.socket');
    const proxy = await startHostProxy(socket, (host, port) =>
      isAllowedHost(host, port, ['*.example.test']),
    );
    onTestFinished(() => proxy.close());
    const client = connect(socket);
    client.write(`${head} HTTP/1.1\r\n\r\n`, 'latin1');
    return (await readText(client)).split('\r\n')[0] ?? '';
  }

  test.each([
    ['a host that ends early for the system', (port: number) => `127.0.0.1\0.example.test:${port}`],
    ['a host in another alphabet', (port: number) => `127.0.0.1\u00AD.example.test:${port}`],
    ['a host with a path', (port: number) => `127.0.0.1/.example.test:${port}`],
    ['a port that does not exist', () => 'a.example.test:99999'],
    ['no port', () => 'a.example.test:0'],
  ])('is refused: %s', async (_what, name) => {
    const port = await startWebServer();
    expect(await request(`CONNECT ${name(port)}`)).toBe('HTTP/1.1 400 Bad Request');
  });

  test('is refused: an address with a port that does not exist', async () => {
    expect(await request('GET http://a.example.test:99999/')).toBe('HTTP/1.1 400 Bad Request');
    expect(await request('GET http://a.example.test:0/')).toBe('HTTP/1.1 400 Bad Request');
  });
});
