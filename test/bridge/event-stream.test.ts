import { request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openBridge, type OpenedBridge, send } from './open-bridge.ts';

/** Reads `GET /events` until it is closed. */
function readStream(
  { port, bridge }: OpenedBridge,
  headers: Readonly<Record<string, string>> = {},
) {
  const events: { id: string; data: string }[] = [];
  let rest = '';
  const authorization = `Bearer ${bridge.running.token}`;
  const sent = request({
    port,
    path: '/events',
    headers: { authorization, ...headers },
    agent: false,
  });
  sent.on('error', () => undefined);
  const opened = new Promise<number>((resolve) => {
    sent.on('response', (response) => {
      resolve(response.statusCode ?? 0);
      response.on('error', () => undefined);
      response.on('data', (chunk: Buffer) => {
        const blocks = (rest + chunk.toString()).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) {
          const [, id, data] = /^id: (\d+)\nevent: hook\ndata: (.*)$/.exec(block) ?? [];
          if (id !== undefined && data !== undefined) events.push({ id, data });
        }
      });
    });
  });
  sent.end();
  onTestFinished(() => void sent.destroy());
  return { events, opened, close: () => sent.destroy() };
}

async function post({ port }: OpenedBridge, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await send(port, { body: '{}', headers: { 'X-Hookline-Event-Id': id } });
  }
}

const idsOf = (events: readonly { data: string }[]) =>
  events.map(({ data }) => JSON.parse(data).id);

describe('a reader of the events', () => {
  it('gets what is stored from then on, also by other processes', async () => {
    const opened = await openBridge();
    await post(opened, 'before');
    const stream = readStream(opened);
    expect(await stream.opened).toBe(200);
    await post(opened, 'a', 'b');
    await expect.poll(() => idsOf(stream.events)).toEqual(['a', 'b']);
    const [event] = [...opened.store.list({ limit: 1 })];
    if (event === undefined) expect.fail('nothing is stored');
    await opened.store.append([{ ...event, id: 'from-elsewhere' }]);
    await expect.poll(() => idsOf(stream.events)).toEqual(['a', 'b', 'from-elsewhere']);
  });

  it('goes on behind the last event that it got', async () => {
    const opened = await openBridge();
    const first = readStream(opened);
    await first.opened;
    await post(opened, 'a', 'b', 'c');
    await expect.poll(() => first.events.length).toBe(3);
    first.close();
    await post(opened, 'd', 'e');
    const second = readStream(opened, { 'last-event-id': first.events[1]?.id ?? '' });
    await expect.poll(() => idsOf(second.events)).toEqual(['c', 'd', 'e']);
  });

  it('gets a long history page by page, each event once and in order', async () => {
    const opened = await openBridge();
    const body = JSON.stringify(Array.from({ length: 1050 }, (_, n) => ({ n })));
    await send(opened.port, { body, headers: { 'X-Hookline-Event-Id': 'x' } });
    const stream = readStream(opened, { 'last-event-id': '0' });
    await expect.poll(() => stream.events.length).toBe(1050);
    expect(idsOf(stream.events)).toEqual(Array.from({ length: 1050 }, (_, n) => `x.${n}`));
  });

  it('is refused with an id that is none', async () => {
    const opened = await openBridge();
    const headers = {
      authorization: `Bearer ${opened.bridge.running.token}`,
      'last-event-id': 'x',
    };
    const answer = await send(opened.port, { method: 'GET', path: '/events', headers });
    expect(answer.status).toBe(400);
  });

  it('is ended when the bridge stops', async () => {
    const opened = await openBridge();
    const stream = readStream(opened);
    await stream.opened;
    await opened.bridge.close();
    await expect(send(opened.port, { body: '{}' })).rejects.toThrow('ECONNREFUSED');
  });
});
