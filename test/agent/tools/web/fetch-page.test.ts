import { getEventListeners } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { fetchPage } from '../../../../src/agent/tools/web/fetch-page.ts';
import type { ResolveHost } from '../../../../src/base/network-addresses.ts';

const never = new AbortController().signal;

async function listen(
  answer: string,
): Promise<{ readonly url: URL; readonly calls: () => number }> {
  let calls = 0;
  const server = createServer((socket) => {
    calls += 1;
    socket.on('error', () => {});
    socket.write(answer);
    onTestFinished(() => void socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return { url: new URL(`http://127.0.0.1:${port}/`), calls: () => calls };
}

test.each([
  ['says nothing', ''],
  ['stops in its head', 'HTTP/1.1 200 OK\r\ncontent-'],
  ['stops in its page', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegin'],
])('a server that %s is not waited for', async (_what, answer) => {
  const { url } = await listen(answer);
  expect(await fetchPage(url, { mayBePrivate: true, timeoutMs: 300 }, never)).toEqual({
    kind: 'failed',
    message: `${url.href} could not be fetched: it did not answer completely within 0.3 s`,
  });
});

test('a server that does not speak HTTP is reported', async () => {
  const { url } = await listen('220 mail.example ESMTP\r\n');
  expect(await fetchPage(url, { mayBePrivate: true }, never)).toMatchObject({
    kind: 'failed',
    message: expect.stringContaining('could not be fetched: no answer: Parse Error'),
  });
});

test('a body shorter than the server announced counts as far as it came', async () => {
  const { url } = await listen('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n1234567890');
  expect(await fetchPage(url, { mayBePrivate: true }, never)).toMatchObject({
    kind: 'page',
    reply: { body: Buffer.from('12345') },
  });
});

test.each([
  ['127.0.0.1', 4],
  ['169.254.169.254', 4],
  ['::1', 6],
])('a name that turns out to be %s is not called', async (address, family) => {
  const { url, calls } = await listen('HTTP/1.1 200 OK\r\n\r\n');
  const resolve: ResolveHost = (_name, found) => found(null, [{ address, family }]);
  const namedUrl = new URL(`https://pages.example:${url.port}/`);
  expect(await fetchPage(namedUrl, { mayBePrivate: false, resolve }, never)).toEqual({
    kind: 'failed',
    message: `${namedUrl.href} could not be fetched: no answer: pages.example is at ${address}, which is a private or reserved address`,
  });
  expect(calls()).toBe(0);
});

test('a name is looked up anew for each redirect, and refused when it has moved inside', async () => {
  const { url } = await listen(
    'HTTP/1.1 302 Found\r\nlocation: /next\r\ncontent-length: 0\r\n\r\n',
  );
  let lookups = 0;
  const resolve: ResolveHost = (_name, found) => {
    lookups += 1;
    found(null, [{ address: '127.0.0.1', family: 4 }]);
  };
  const namedUrl = new URL(`http://pages.localhost:${url.port}/`);
  const fetched = await fetchPage(namedUrl, { mayBePrivate: true, resolve }, never);
  expect(fetched).toMatchObject({ kind: 'failed' });
  expect(lookups).toBe(11);
});

test('no request is sent to a server without encryption', async () => {
  const { url } = await listen('HTTP/1.1 200 OK\r\n\r\n');
  const resolve: ResolveHost = (_name, found) => found(null, [{ address: '127.0.0.1', family: 4 }]);
  const namedUrl = new URL(`http://pages.example:${url.port}/`);
  const fetched = await fetchPage(namedUrl, { mayBePrivate: true, resolve }, never);
  expect(fetched).toMatchObject({
    kind: 'failed',
    message: expect.stringContaining(`https://pages.example:${url.port}/ could not be fetched`),
  });
});

test('the listener on the caller’s signal is removed, also when something unexpected fails', async () => {
  const { signal } = new AbortController();
  const rules = {
    mayBePrivate: true,
    get maxBytes(): number {
      throw new TypeError('unreadable');
    },
  };
  await expect(fetchPage(new URL('http://127.0.0.1/'), rules, signal)).rejects.toThrow(
    'unreadable',
  );
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
