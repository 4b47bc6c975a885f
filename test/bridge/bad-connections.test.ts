import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listenOnLoopback } from '../../src/bridge/listen.ts';
import { createServer as createHttpServer } from 'node:http';
import { openBridge, send } from './open-bridge.ts';
import { getPort, listen } from './temp-home.ts';

function open(port: number, text = ''): Socket {
  const socket = connect(port, '127.0.0.1', () => socket.write(text));
  socket.on('error', () => undefined);
  socket.resume();
  onTestFinished(() => void socket.destroy());
  return socket;
}

describe('a bridge', () => {
  it('answers while thousands of connections do nothing, and closes the oldest of them', async () => {
    const { port } = await openBridge();
    let closed = 0;
    for (let at = 0; at < 2000; at++) open(port).on('close', () => closed++);
    expect((await send(port, { body: '{}' })).status).toBe(200);
    await expect.poll(() => closed).toBeGreaterThan(1400);
    expect((await send(port, { body: '{}' })).status).toBe(200);
  });

  it('answers while many connections never end their request', async () => {
    const { port, store } = await openBridge();
    const head =
      'POST /claude-hook HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n';
    for (let at = 0; at < 300; at++) {
      open(port, head);
      open(port, `${head.replace('127.0.0.1', `127.0.0.1:${port}`)}Content-Length: 100\r\n\r\n{"a`);
    }
    for (let at = 0; at < 20; at++) expect((await send(port, { body: '{}' })).status).toBe(200);
    expect([...store.list()]).toHaveLength(20);
  });

  it('answers what is no HTTP with an error and goes on', async () => {
    const { port } = await openBridge();
    const socket = open(port, 'nonsense\r\n\r\n');
    const answer = await new Promise<string>((resolve) =>
      socket.once('data', (data) => resolve(String(data))),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect((await send(port, { body: '{}' })).status).toBe(200);
  });

  it('stores nothing of a request that is cut off', async () => {
    const { port, store } = await openBridge();
    const head = `POST /claude-hook HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n`;
    const socket = open(port, `${head}Content-Length: 100\r\n\r\n{"a":1}`);
    await new Promise((resolve) => socket.on('connect', resolve));
    socket.end();
    await new Promise((resolve) => socket.on('close', resolve));
    expect((await send(port, { body: '{}' })).status).toBe(200);
    expect([...store.list()]).toHaveLength(1);
  });
});

describe('a port', () => {
  const create = () => createHttpServer();

  it.each(['127.0.0.1', '::1'])(
    'that is taken on %s is left out, or an error when it was named',
    async (host) => {
      const taken = getPort(await listen(createServer(), host));
      const listening = await listenOnLoopback(null, create, taken);
      onTestFinished(() => listening.servers.forEach((server) => server.close()));
      expect(listening.port).toBeGreaterThan(taken);
      expect(listening.port).toBeLessThanOrEqual(taken + 10);
      await expect(listenOnLoopback(taken, create)).rejects.toThrow(`port ${taken} is in use`);
    },
  );
});
