import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type Delivery, deliverEvent } from '../../../src/bridge/forward/deliver-event.ts';
import { findListeners } from '../../../src/bridge/forward/listeners.ts';
import { readProcess } from '../../../src/process/process-table.ts';
import { findClosedPort, getPort, listen } from '../temp-home.ts';

interface Received {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server as those that exist: it knows nothing of ours. */
async function openForeignBridge({
  status = 200,
  health = { status: 'ok', timestamp: 'T', message: 'm', processedEvents: 0, errors: 0, uptime: 1 },
}: { status?: number; health?: object | null } = {}) {
  const received: Received[] = [];
  const server = createHttpServer((request, response) => {
    if (request.url === '/health' && health !== null) {
      response.end(JSON.stringify(health));
      return;
    }
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      received.push({ url: request.url ?? '', headers: request.headers, body });
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end('{"success":true}');
    });
  });
  await listen(server);
  return { port: getPort(server), received };
}

async function deliver(more: Partial<Delivery>) {
  return deliverEvent({
    agent: 'claude',
    eventId: 'an-id',
    body: Buffer.from('{"a": 1}'),
    waitMs: 60_000,
    ports: [],
    knownPorts: [await findClosedPort()],
    bridge: null,
    ...more,
  });
}

describe('an event', () => {
  it('goes to the first known port whose health has a known shape', async () => {
    const unknown = await openForeignBridge({ health: { hello: 'world' } });
    const refusing = await openForeignBridge({ health: null });
    const bridge = await openForeignBridge();
    const knownPorts = [await findClosedPort(), unknown.port, refusing.port, bridge.port];
    expect(await deliver({ knownPorts })).toBeNull();
    expect(unknown.received).toEqual([]);
    expect(refusing.received.map(({ url }) => url)).toEqual(['/health']);
    expect(bridge.received).toMatchObject([
      {
        url: '/claude-hook',
        body: '{"a": 1}',
        headers: { 'content-type': 'application/json', 'content-length': '8' },
      },
    ]);
  });

  it('knows the health of the older servers, too', async () => {
    const health = { status: 'ok', timestamp: 'T', message: 'm', providers: [], eventCounts: {} };
    const { port } = await openForeignBridge({ health });
    expect(await deliver({ knownPorts: [port] })).toBeNull();
  });

  it('goes to a named port without a look at its health, the first that takes it', async () => {
    const failing = await openForeignBridge({ status: 500, health: null });
    const taking = await openForeignBridge({ status: 201, health: null });
    const ports = [await findClosedPort(), failing.port, taking.port];
    expect(await deliver({ ports })).toBeNull();
    expect(taking.received.map(({ url }) => url)).toEqual(['/claude-hook']);
  });

  it.each([202, 204, 302, 400, 413, 503])('was not taken when the answer is %i', async (status) => {
    const { port } = await openForeignBridge({ status });
    expect(await deliver({ ports: [port] })).toEqual([{ message: `HTTP ${status}`, code: null }]);
  });

  it('is given up when nobody answers, and when the answer is no HTTP', async () => {
    const silent = await listen(createServer(() => undefined));
    expect(await deliver({ ports: [getPort(silent)], waitMs: 50 })).toEqual([
      { message: expect.stringContaining('did not answer'), code: 'ETIMEDOUT' },
    ]);
    const other = await listen(createServer((socket) => socket.end('SSH-2.0-x\r\n\r\n')));
    expect(await deliver({ ports: [getPort(other)] })).toEqual([
      { message: 'the answer is not HTTP', code: 'EPROTO' },
    ]);
  });

  it('does not count as taken when whoever answers does not know the secret of the run file', async () => {
    const { port, received } = await openForeignBridge();
    const bridge = {
      ...(readProcess('self') ?? { pid: process.pid, startedAt: '' }),
      port,
      namespace: '',
      version: '1',
      clientSecret: 'c',
      serverSecret: 's',
      token: 't',
    };
    expect(await deliver({ bridge })).toEqual([
      { message: expect.stringContaining('was not answered by the bridge'), code: null },
    ]);
    expect(received).toHaveLength(1);
    // The process of the run file has ended: the port may be anybody's, and gets nothing.
    await deliver({ bridge: { ...bridge, startedAt: '1' } });
    expect(received).toHaveLength(process.platform === 'linux' ? 1 : 2);
  });
});

describe('a listener', () => {
  const line = (address: string, uid: number, state = '0A') =>
    `   0: ${address}:0BE3 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 1 1`;
  const V6_ALL = '0'.repeat(32);

  it.each([
    ['127.0.0.1', '0100007F', ['127.0.0.1']],
    ['0.0.0.0', '00000000', ['127.0.0.1']],
    ['::1', '00000000000000000000000001000000', ['::1']],
    ['::', V6_ALL, ['127.0.0.1', '::1']],
    ['another address', '0101A8C0', []],
  ])('on %s is found with its user', (_name, address, hosts) => {
    const expected = hosts.map((host) => ({ host, uid: 1000 }));
    expect(findListeners(3043, [line(address, 1000), line(address, 7, '01')])).toEqual(expected);
    expect(findListeners(3044, [line(address, 1000)])).toEqual([]);
  });

  it('may be anybody where the system does not show it', () => {
    expect(findListeners(3043, null)).toEqual([
      { host: '127.0.0.1', uid: null },
      { host: '::1', uid: null },
    ]);
  });

  it('of this process is found as one of this user', async () => {
    const port = getPort(await listen());
    const uid = process.platform === 'linux' ? process.getuid?.() : null;
    expect(findListeners(port)).toContainEqual({ host: '127.0.0.1', uid });
  });
});
