import { describe, expect, it } from 'vitest';
import { AGENTS } from '../../src/bridge/protocol.ts';
import { openEventStore } from '../../src/store/event-store.ts';
import { temporaryDirectory } from '../process/programs.ts';
import { openBridge, send } from './open-bridge.ts';
import { readPayloads } from './temp-home.ts';

const EVENT = '{ "hook_event_name": "PreToolUse",  "session_id": "s1" }';
const OK = { success: true, provider: 'claude', message: 'Event processed successfully' };

describe('a posted event', () => {
  it.each(AGENTS)('of %s is stored byte for byte before it is answered', async (agent) => {
    const { port, store } = await openBridge();
    const { status, headers, body } = await send(port, { path: `/${agent}-hook`, body: EVENT });
    expect({ status, body }).toEqual({ status: 200, body: { ...OK, provider: agent } });
    expect(headers['content-type']).toBe('application/json');
    const events = [...store.list()];
    expect(readPayloads(events)).toEqual([EVENT]);
    expect(events).toMatchObject([{ agent, origin: 'bridge', isVerified: false }]);
  });

  it('needs no session id, and may have a byte order mark', async () => {
    const { port, store } = await openBridge();
    for (const body of ['{}', '\uFEFF{"taskId":"t"}']) {
      expect((await send(port, { body })).status).toBe(200);
    }
    expect(readPayloads([...store.list()])).toEqual(['{}', '\uFEFF{"taskId":"t"}']);
  });

  it('is stored once for each post without an id, and once in all with one', async () => {
    const { port, store } = await openBridge();
    await send(port, { body: EVENT });
    await send(port, { body: EVENT });
    const headers = { 'X-Hookline-Event-Id': 'my-id' };
    for (let time = 0; time < 3; time++) {
      expect(await send(port, { body: EVENT, headers })).toMatchObject({ status: 200, body: OK });
    }
    expect([...store.list()].map(({ id }) => id).filter((id) => id === 'my-id')).toHaveLength(1);
    expect([...store.list()]).toHaveLength(3);
  });

  it('is verified with the client’s secret, and only then the answer carries the server’s', async () => {
    const { port, store, bridge } = await openBridge();
    const { clientSecret, serverSecret } = bridge.running;
    const secret = { 'X-Hookline-Client-Secret': clientSecret };
    const verified = await send(port, { body: EVENT, headers: secret });
    expect(verified.headers['x-hookline-server-secret']).toBe(serverSecret);
    const wrong = { 'X-Hookline-Client-Secret': `${clientSecret}0` };
    for (const headers of [{}, wrong]) {
      const answer = await send(port, { body: EVENT, headers });
      expect(answer.headers).not.toHaveProperty('x-hookline-server-secret');
    }
    expect([...store.list()].map(({ isVerified }) => isVerified)).toEqual([true, false, false]);
  });
});

describe('an array', () => {
  it('is stored event by event, each with its own bytes and id', async () => {
    const { port, store } = await openBridge();
    const headers = { 'X-Hookline-Event-Id': 'a' };
    const answer = await send(port, { body: '[ {"n": 1} , {"n":2}]', headers });
    expect(answer).toMatchObject({
      status: 200,
      body: { success: true, message: '2 events processed' },
    });
    const events = [...store.list()];
    expect(readPayloads(events)).toEqual(['{"n": 1}', '{"n":2}']);
    expect(events.map(({ id }) => id)).toEqual(['a.0', 'a.1']);
  });

  it('with bad elements stores the good ones and lists the others', async () => {
    const { port, store } = await openBridge();
    const { status, body } = await send(port, { body: '[1,{"n":2},null,{"n":4}]' });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        success: true,
        provider: 'claude',
        message: '2 events processed',
        failed: [
          { index: 0, error: 'expected an object, found number' },
          { index: 2, error: 'expected an object, found null' },
        ],
      },
    });
    expect(readPayloads([...store.list()])).toEqual(['{"n":2}', '{"n":4}']);
  });

  it('may be empty', async () => {
    const { port } = await openBridge();
    expect((await send(port, { body: '[]' })).status).toBe(200);
  });
});

describe('a refused post', () => {
  it.each([
    ['broken JSON', { body: '{"a":' }, 400],
    ['an empty body', { body: '' }, 400],
    ['a number', { body: '42' }, 400],
    ['an array without an object', { body: '[1,2]' }, 400],
    ['another content type', { body: '{}', headers: { 'content-type': 'text/plain' } }, 415],
    [
      'a form',
      { body: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
    ],
    [
      'a type that only begins like JSON',
      { body: '{}', headers: { 'content-type': 'application/json5' } },
      415,
    ],
    ['an id that is none', { body: '{}', headers: { 'X-Hookline-Event-Id': 'a b' } }, 400],
    ['an unknown agent', { path: '/nobody-hook', body: '{}' }, 404],
    ['an unknown route', { path: '/', body: '{}' }, 404],
    ['another method', { method: 'DELETE' }, 405],
    ['a body that is too large', { body: Buffer.alloc(33 * 1024 * 1024, 0x20) }, 413],
    ['a body of 100 MB', { body: Buffer.alloc(100 * 1024 * 1024, 0x20) }, 413],
  ] as const)('because of %s says so in JSON and stores nothing', async (_name, sent, status) => {
    const { port, store } = await openBridge();
    const answer = await send(port, sent);
    expect(answer).toMatchObject({ status, body: { success: false, error: expect.any(String) } });
    expect([...store.list()]).toEqual([]);
    expect((await send(port, { body: EVENT })).status).toBe(200);
  });

  it('because the store takes nothing is a 503, so that the client stores the event', async () => {
    const store = await openEventStore({ directory: temporaryDirectory() });
    Object.assign(store, { append: () => Promise.reject(new TypeError('disk full')) });
    const { port, problems } = await openBridge({ store });
    const answer = await send(port, { body: EVENT });
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(problems).toEqual(['disk full']);
  });
});

describe('a web page', () => {
  const routes = [
    { path: '/claude-hook', body: EVENT },
    { method: 'GET', path: '/claude-hook' },
    { method: 'GET', path: '/health' },
    { method: 'GET', path: '/events' },
    { path: '/stop', body: '{}' },
    { method: 'OPTIONS', path: '/claude-hook' },
    { method: 'GET', path: '/unknown' },
  ];

  it.each([
    ['another origin', { origin: 'https://evil.example' }, 403],
    ['another port of this machine', { origin: 'http://localhost:8080' }, 403],
    ['no origin that has a name', { origin: 'null' }, 403],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['the same site', { 'sec-fetch-site': 'same-site' }, 403],
    ['a name of its own that points here', { host: 'evil.example' }, 421],
    ['this machine without the port', { host: 'localhost' }, 421],
  ])('of %s gets nothing on any route', async (_name, headers, status) => {
    const { port, store } = await openBridge();
    for (const route of routes) {
      const answer = await send(port, { ...route, headers: { ...headers } });
      expect(answer.status).toBe(status);
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    }
    expect([...store.list()]).toEqual([]);
  });

  it('of the bridge itself may ask it', async () => {
    const { port } = await openBridge();
    const headers = { origin: `http://localhost:${port}`, 'sec-fetch-site': 'same-origin' };
    expect((await send(port, { body: EVENT, headers })).status).toBe(200);
  });
});

describe('a question', () => {
  it('is answered on both loopback addresses, by all their names', async () => {
    const { port, bridge } = await openBridge();
    expect(bridge.addresses).toContain(`http://127.0.0.1:${port}`);
    for (const address of bridge.addresses) {
      expect((await fetch(`${address}/health`)).status).toBe(200);
    }
    const headers = { host: `LOCALHOST:${port}` };
    expect((await send(port, { method: 'GET', path: '/health', headers })).status).toBe(200);
  });

  it('for the health has the fields that clients of other bridges know, and no payload', async () => {
    const { port } = await openBridge();
    await send(port, { body: '[{"a":"SECRET"},{}]' });
    await send(port, { body: 'broken' });
    const { body } = await send(port, { method: 'GET', path: '/health?x=1' });
    expect(body).toMatchObject({
      status: 'ok',
      timestamp: expect.any(String),
      message: expect.any(String),
      processedEvents: 2,
      errors: 1,
      uptime: expect.any(Number),
      providers: [...AGENTS],
      eventCounts: { claude: 2, cline: 0 },
    });
    expect(JSON.stringify(body)).not.toContain('SECRET');
  });

  it('for an agent’s route says that it is ready', async () => {
    const { port } = await openBridge();
    await send(port, { body: EVENT });
    const { status, body } = await send(port, { method: 'GET', path: '/claude-hook' });
    expect({ status, body }).toEqual({
      status: 200,
      body: { provider: 'claude', status: 'ready', processedEvents: 1 },
    });
  });

  it('for an agent that is registered is answered, too', async () => {
    const { port, store } = await openBridge({ agents: [...AGENTS, 'my-agent'] });
    expect((await send(port, { path: '/my-agent-hook', body: EVENT })).status).toBe(200);
    expect([...store.list()].map(({ agent }) => agent)).toEqual(['my-agent']);
  });

  it.each([
    { method: 'GET', path: '/events' },
    { method: 'POST', path: '/stop' },
  ])('$method $path needs the token', async (route) => {
    const { port, bridge } = await openBridge();
    const { clientSecret } = bridge.running;
    for (const token of [
      '',
      'Bearer x',
      `Bearer ${clientSecret}`,
      `Basic ${bridge.running.token}`,
    ]) {
      const headers = token === '' ? {} : { authorization: token };
      const answer = await send(port, { ...route, headers });
      expect(answer).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
    }
  });
});
