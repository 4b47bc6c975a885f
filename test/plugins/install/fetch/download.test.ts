import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isHooklineError } from '../../../../src/base/errors.ts';
import { download } from '../../../../src/plugins/install/fetch/download.ts';
import { installPlugin } from '../../../../src/plugins/install/install.ts';
import { createDirectory, filesIn, getOwnPlugins, PLUGIN, toolsFor } from '../install-fixture.ts';

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const NEVER = new AbortController().signal;

async function refusal(
  url: string,
  limits = { timeoutMs: 30_000, maxBytes: 100 },
): Promise<string> {
  try {
    return `it worked: ${(await download(url, NEVER, limits)).toString()}`;
  } catch (error) {
    if (!isHooklineError(error)) throw error;
    return error.message.replace(url, 'URL');
  }
}

describe('installing from an address', () => {
  it('downloads one file', async () => {
    const url = await serve((_, response) => void response.end(PLUGIN));
    const home = createDirectory();
    const source = { kind: 'remote', url: `${url}/a/one.ts`, file: 'one.ts' } as const;
    const { directory, record } = await installPlugin(
      { source, place: getOwnPlugins(home), isForced: false },
      toolsFor(home),
    );
    expect(path.relative(getOwnPlugins(home).directory, directory)).toMatch(
      /^_installed\/remote\/one-[\da-f]{12}$/u,
    );
    expect(filesIn(directory)).toEqual(['hookline-install.json', 'one.ts']);
    expect(readFileSync(path.join(directory, 'one.ts'), 'utf8')).toBe(PLUGIN);
    expect(record).toMatchObject({ source: `${url}/a/one.ts`, kind: 'remote', name: 'one' });
  });

  it('follows a redirect on this machine', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/new.ts') response.end('new');
      else response.writeHead(302, { location: '/new.ts' }).end();
    });
    expect(await refusal(`${url}/old.ts`)).toBe('it worked: new');
  });

  it.each([
    ['http://example.org/x.ts', 'it leads on to http://example.org/x.ts'],
    ['file:///etc/passwd', 'it leads on to file:///etc/passwd'],
    ['/again.ts', 'it leads on more than 5 times'],
  ])('does not follow to %s', async (location, why) => {
    const url = await serve((_, response) => void response.writeHead(301, { location }).end());
    expect(await refusal(`${url}/x.ts`)).toBe(`URL cannot be downloaded: ${why}`);
  });

  it('takes no more than it may, whether the length is announced or not', async () => {
    const announced = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('x');
    });
    const streamed = await serve((_, response) => {
      const timer = setInterval(() => response.write('x'.repeat(60)), 1);
      response.on('close', () => clearInterval(timer));
    });
    const longer = 'URL cannot be downloaded: it is longer than 100 bytes';
    expect([await refusal(`${announced}/x.ts`), await refusal(`${streamed}/x.ts`)]).toEqual([
      longer,
      longer,
    ]);
  });

  it('waits no longer than it may', async () => {
    const url = await serve((_, response) => void response.write('x'));
    expect(await refusal(`${url}/x.ts`, { timeoutMs: 100, maxBytes: 100 })).toBe(
      'URL cannot be downloaded: it took longer than 100 ms',
    );
  });

  it.each([
    [404, 'text/plain', 'x', 'the server answered 404'],
    [200, 'text/html; charset=utf-8', '<html>', 'it is a web page, not a file'],
    [200, 'text/plain', '', 'it is empty'],
  ])('refuses %i %s', async (status, type, body, why) => {
    const url = await serve((_, response) => {
      response.writeHead(status, { 'content-type': type }).end(body);
    });
    expect(await refusal(`${url}/x.ts`)).toBe(`URL cannot be downloaded: ${why}`);
  });

  it('reports that no server listens', async () => {
    expect(await refusal('http://127.0.0.1:9/x.ts')).toMatch(/^URL cannot be downloaded: /u);
  });
});
