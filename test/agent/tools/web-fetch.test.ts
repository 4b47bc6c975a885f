import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ToolOutput } from '../../../src/agent/tools/tool.ts';
import { webFetchTool } from '../../../src/agent/tools/web-fetch.ts';
import type { ToolContext } from '../../../src/agent/tools/tool-context.ts';
import { createToolFixture, use, type Watching } from './fixture.ts';

async function serve(answer: RequestListener): Promise<string> {
  const server: Server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address: AddressInfo | string | null = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

function page(type: string, body: string | Buffer): RequestListener {
  return (_request, response) => response.setHeader('content-type', type).end(body);
}

interface Fetching extends Watching {
  readonly ports?: ToolContext['ports'];
}

function fetchUrl(url: string, { ports = {}, ...watching }: Fetching = {}): Promise<ToolOutput> {
  const { toolContext } = createToolFixture({ canFetchPrivate: true, ports });
  return use(webFetchTool, toolContext, { url, prompt: 'What is it about?' }, watching);
}

const ARTICLE = `<!doctype html><html><head><title>On herons</title><style>x{}</style></head>
<body><nav><a href="/">Home</a></nav><article><h1>On herons</h1>
<p>Herons stand <a href="/still">still</a> for hours.</p><script>alert(1)</script>
<table><tr><th>bird</th></tr><tr><td>heron</td></tr></table></article></body></html>`;
const MARKDOWN =
  '# On herons\n\nHerons stand [still](ORIGIN/still) for hours.\n\n| bird |\n| --- |\n| heron |';

describe('a page', () => {
  test('of HTML is returned as markdown, in Claude’s shape', async () => {
    const origin = await serve(page('text/html; charset=utf-8', ARTICLE));
    const result = MARKDOWN.replace('ORIGIN', origin);
    const output = await fetchUrl(`${origin}/birds`);
    expect(output).toEqual({
      response: {
        bytes: ARTICLE.length,
        code: 200,
        codeText: 'OK',
        result,
        durationMs: expect.any(Number),
        url: `${origin}/birds`,
      },
      text: result,
      success: true,
    });
    expect(Object.keys(Object(output.response))).toEqual([
      'bytes',
      'code',
      'codeText',
      'result',
      'durationMs',
      'url',
    ]);
  });

  test('answers the prompt when there is a model to ask', async () => {
    const origin = await serve(page('text/plain', 'All about herons.'));
    const requestedPaths: string[] = [];
    const askModel = async (prompt: string) => {
      requestedPaths.push(prompt);
      return 'Herons.';
    };
    expect((await fetchUrl(origin, { ports: { askModel } })).text).toBe('Herons.');
    expect(requestedPaths).toHaveLength(1);
    expect(requestedPaths[0]).toMatch(/---\nAll about herons\.\n---\n\nWhat is it about\?/);
  });

  test('is returned itself when the model fails', async () => {
    const origin = await serve(page('text/plain', 'All about herons.'));
    const askModel = () => Promise.reject(new Error('overloaded'));
    const { text, success } = await fetchUrl(origin, { ports: { askModel } });
    expect({ text, success }).toEqual({
      text: '[No answer to the prompt: overloaded]\n\nAll about herons.',
      success: true,
    });
  });

  test.each([
    ['plain text', 'text/plain', 'a < b', 'a < b'],
    ['JSON', 'application/json', '{"a":1}', '{"a":1}'],
    ['an own kind of JSON', 'application/vnd.api+json', '[]', '[]'],
    ['no type', '', 'just text', 'just text'],
    ['no type but HTML', '', '<!doctype html><p>Hello there', 'Hello there'],
    ['HTML without a body', 'text/html', '<p>one</p><p>two</p>', 'one\n\ntwo'],
    ['empty HTML', 'text/html', '', ''],
    ['broken HTML', 'text/html', '<html><body><div><p>a <b>b</p></i><<<', 'a **b**\n\n<<<'],
    ['another alphabet', 'text/plain; charset=windows-1251', Buffer.from([0xcf, 0xf0]), 'Пр'],
    [
      'an alphabet named inside',
      'text/html',
      Buffer.from('<meta charset="latin1"><p>\xe9</p>', 'latin1'),
      'é',
    ],
    ['an unknown alphabet', 'text/plain; charset=nope', 'é', 'é'],
  ])('may have %s', async (_what, type, body, text) => {
    const origin = await serve((_request, response) => {
      if (type !== '') response.setHeader('content-type', type);
      response.end(body);
    });
    expect((await fetchUrl(origin)).text).toBe(text);
  });

  test.each([
    ['an image', 'image/png', Buffer.from([137, 80, 78, 71, 0, 1])],
    ['a PDF', 'application/pdf', '%PDF-1.7'],
    ['bytes without a type', 'application/octet-stream', Buffer.from([0xff, 0xfe, 0, 1])],
    ['bytes declared as text', 'text/plain', Buffer.from([65, 0, 1, 2])],
  ])('that is %s is refused', async (_what, type, body) => {
    const origin = await serve(page(type, body));
    const { error, success } = await fetchUrl(origin);
    expect(success).toBe(false);
    expect(error).toBe(`expected a page of text, found ${type} that is not text at ${origin}/`);
  });

  test('that is long is cut', async () => {
    const origin = await serve(page('text/plain', 'x'.repeat(150_000)));
    expect((await fetchUrl(origin)).text).toBe(
      `${'x'.repeat(100_000)}\n\n[Cut here: the page has 150000 characters]`,
    );
  });

  test('may be compressed, but not with more inside than the limit', async () => {
    const origin = await serve((request, response) => {
      response.setHeader('content-type', 'text/plain').setHeader('content-encoding', 'gzip');
      response.end(gzipSync(request.url === '/bomb' ? Buffer.alloc(50_000_000, 'x') : 'small'));
    });
    expect((await fetchUrl(origin)).text).toBe('small');
    expect((await fetchUrl(`${origin}/bomb`)).error).toBe(
      `${origin}/bomb could not be fetched: the page is longer than 10485760 bytes`,
    );
  });
});

describe('a redirect', () => {
  test('on the same host is followed', async () => {
    const origin = await serve((request, response) => {
      if (request.url === '/new') return void response.end('here');
      response.writeHead(301, { location: '/new' }).end();
    });
    expect((await fetchUrl(`${origin}/old`)).text).toBe('here');
  });

  test('to another host is left to the model', async () => {
    const origin = await serve((_request, response) =>
      response.writeHead(302, { location: 'http://other.example/x' }).end(),
    );
    const output = await fetchUrl(origin);
    const result = `REDIRECT DETECTED: The URL redirects to a different host.

Original URL: ${origin}/
Redirect URL: https://other.example/x
Status: 302 Found

To go on there, call WebFetch again with:
- url: "https://other.example/x"
- prompt: "What is it about?"`;
    expect(output).toEqual({
      response: {
        bytes: 0,
        code: 302,
        codeText: 'Found',
        result,
        durationMs: expect.any(Number),
        url: `${origin}/`,
      },
      text: result,
      success: true,
    });
  });

  test.each([
    ['another port', 'http://127.0.0.1:1/x'],
    ['a name for the same machine', 'http://localhost/x'],
  ])('to %s is one to another host', async (_what, location) => {
    const origin = await serve((_request, response) => response.writeHead(307, { location }).end());
    expect((await fetchUrl(origin)).text).toMatch(/^REDIRECT DETECTED/);
  });

  test.each([
    ['in a circle', '/again', 'it redirects more than 10 times'],
    ['to a file', 'file:///etc/passwd', 'it redirects to "file:///etc/passwd", no web page'],
    ['to nowhere', 'http://', 'it redirects to "http://", no web page'],
  ])('%s ends', async (_what, location, why) => {
    const origin = await serve((_request, response) => response.writeHead(302, { location }).end());
    expect((await fetchUrl(origin)).error).toBe(`${origin}/ could not be fetched: ${why}`);
  });
});

describe('a server that misbehaves', () => {
  test.each([
    ['has no such page', 404, 'the server answered 404 Not Found'],
    ['fails', 500, 'the server answered 500 Internal Server Error'],
    ['redirects without a location', 302, 'the server answered 302 Found'],
  ])('because it %s is reported', async (_what, status, why) => {
    const origin = await serve((_request, response) => response.writeHead(status).end('no'));
    expect((await fetchUrl(origin)).error).toBe(`${origin}/ could not be fetched: ${why}`);
  });

  test('because it sends 50 MB is cut off', async () => {
    let sentBytes = 0;
    const origin = await serve((_request, response) => {
      const chunk = Buffer.alloc(1_000_000, 'x');
      const send = (): void => {
        if (sentBytes++ < 50 && !response.destroyed) response.write(chunk, send);
        else response.end();
      };
      send();
    });
    expect((await fetchUrl(origin)).error).toBe(
      `${origin}/ could not be fetched: the page is longer than 10485760 bytes`,
    );
    expect(sentBytes).toBeLessThan(50);
  });

  test('because it promises more than it sends is reported', async () => {
    const origin = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '1000' });
      response.write('short', () => response.destroy());
    });
    expect((await fetchUrl(origin)).error).toBe(
      `${origin}/ could not be fetched: the page broke off: aborted`,
    );
  });

  test('because it hangs up is reported', async () => {
    const origin = await serve((request) => request.socket.destroy());
    expect((await fetchUrl(origin)).error).toBe(
      `${origin}/ could not be fetched: no answer: socket hang up`,
    );
  });

  test('because it cannot be reached is reported', async () => {
    expect((await fetchUrl('http://127.0.0.1:1/')).error).toBe(
      'http://127.0.0.1:1/ could not be fetched: no answer: connect ECONNREFUSED 127.0.0.1:1',
    );
  });

  test('because it never answers can be interrupted', async () => {
    const stopping = new AbortController();
    const origin = await serve(() => stopping.abort());
    expect(await fetchUrl(origin, { signal: stopping.signal })).toMatchObject({
      success: false,
      interrupted: true,
    });
  });
});

describe('addresses that may not be fetched', () => {
  test.each([
    ['http://127.0.0.1:1/', '127.0.0.1'],
    ['https://localhost/', 'localhost is at'],
    ['http://[::1]/', '::1'],
    ['http://0.0.0.0/', '0.0.0.0'],
    ['http://2130706433/', '127.0.0.1'],
    ['http://0x7f.1/', '127.0.0.1'],
    ['http://10.1.2.3/', '10.1.2.3'],
    ['http://169.254.169.254/latest/meta-data/', '169.254.169.254'],
    ['http://[::ffff:169.254.169.254]/', '::ffff:a9fe:a9fe'],
    ['http://[fd00::1]/', 'fd00::1'],
    ['http://192.168.1.1/', '192.168.1.1'],
  ])('%s', async (url, place) => {
    const { toolContext } = createToolFixture();
    const { success, error } = await use(webFetchTool, toolContext, { url, prompt: 'x' });
    expect(success).toBe(false);
    expect(error).toContain(place);
    expect(error).toContain('is a private or reserved address');
  });

  test.each([
    ['ftp://example.com/'],
    ['file:///etc/passwd'],
    ['https://me:secret@example.com/'],
    ['example.com'],
    [`https://example.com/${'x'.repeat(2000)}`],
  ])('%s', (url) => {
    expect(webFetchTool.prepare({ url, prompt: 'x' }, createToolFixture().toolContext)).toBe(
      'expected "url" to be an http or https URL of at most 2000 characters, without user name and password',
    );
  });

  test('a page without a question', () => {
    expect(
      webFetchTool.prepare({ url: 'https://example.com/' }, createToolFixture().toolContext),
    ).toBe('expected "prompt" to be text, found nothing');
  });
});
