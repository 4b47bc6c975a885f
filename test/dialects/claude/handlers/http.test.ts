import type { IncomingHttpHeaders } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { INPUT, runHttp, serve } from './handler-runs.ts';

const DENY = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}';

async function answered(status: number, body: string | Buffer, headers = {}) {
  const origin = await serve((_request, response) => {
    response.writeHead(status, headers).end(body);
  });
  return { origin, answer: await runHttp({ url: `${origin}/hook` }) };
}

function decodedAs(text: string) {
  return { program: { exitCode: null, stdout: text, stderr: '' }, decision: { context: text } };
}

describe('what an http hook sends', () => {
  test('is a POST of the payload with the headers of the format', async () => {
    const records: { method: string; url: string; headers: IncomingHttpHeaders; body: string }[] =
      [];
    const origin = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        records.push({ method, url, headers, body });
        response.end();
      });
    });
    expect(await runHttp({ url: `${origin}/hook?x=1`, headers: { 'X-Plain': 'v' } })).toEqual({});
    const body = JSON.stringify(INPUT.tool);
    expect(records).toEqual([
      {
        method: 'POST',
        url: '/hook?x=1',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/plain, */*',
          'x-plain': 'v',
          'content-length': String(body.length),
          host: origin.slice('http://'.length),
          connection: 'close',
        },
        body,
      },
    ]);
  });
});

describe('what an http hook answers', () => {
  test.each([
    [200, ''],
    [200, ' \n '],
    [204, ''],
  ])('%i with the body %j gives no decision', async (status, body) => {
    const { answer } = await answered(status, body);
    expect(answer).toEqual({});
  });

  test.each([200, 201, 299])('%i with a JSON object is decoded', async (status) => {
    const { answer } = await answered(status, DENY);
    expect(answer).toEqual(decodedAs(DENY));
  });

  test.each(['text/html', 'image/png', 'application/json; charset=utf-16', ''])(
    'a JSON object is decoded whatever its content type: %s',
    async (type) => {
      const { answer } = await answered(200, DENY, { 'content-type': type });
      expect(answer).toEqual(decodedAs(DENY));
    },
  );

  test('a byte-order mark before the object does not matter', async () => {
    const { answer } = await answered(200, `\uFEFF${DENY}`);
    expect(answer).toEqual(decodedAs(`\uFEFF${DENY}`));
  });

  test.each([
    ['hello text', ''],
    ['[1]', ''],
    ['"deny"', ''],
    ['null', ''],
    ['{"a":1} and more', ' (line 1, column 9: text after the end of the JSON)'],
    ['{"a": tru}', ' (line 1, column 7: tru is not JSON; write true)'],
    ['<html></html>', ''],
  ])('a body that is no JSON object is a failure: %s', async (body, where) => {
    const { answer } = await answered(200, body, { 'content-type': 'application/json' });
    expect(answer).toEqual({
      program: { exitCode: null, stdout: body, stderr: '' },
      failure: {
        kind: 'output',
        message: `HTTP hook must return JSON, but got non-JSON response body: ${body}${where}`,
      },
    });
  });

  test('a long body that is not JSON is cut in the message', async () => {
    const { answer } = await answered(200, 'x'.repeat(100_000));
    expect(answer.failure?.message).toHaveLength(
      'HTTP hook must return JSON, but got non-JSON response body: '.length + 501,
    );
    expect(answer.program?.stdout).toHaveLength(
      64 * 1024 + '\n[... cut: 100000 characters in all ...]'.length,
    );
  });

  test.each([300, 302, 400, 401, 403, 404, 500, 503])(
    '%i is a failure whatever the body contains',
    async (status) => {
      const { origin, answer } = await answered(status, DENY);
      expect(answer).toEqual({
        failure: { kind: 'exit', message: `HTTP ${status} from ${origin}/hook` },
      });
    },
  );

  test.each([
    ['gzip', gzipSync(DENY)],
    ['x-gzip', gzipSync(DENY)],
    ['deflate', deflateSync(DENY)],
    ['br', brotliCompressSync(DENY)],
    ['identity', Buffer.from(DENY)],
  ])('a body in %s is unpacked', async (encoding, body) => {
    const { answer } = await answered(200, body, { 'content-encoding': encoding });
    expect(answer).toEqual(decodedAs(DENY));
  });

  test('an unknown encoding that was not asked for is a failure', async () => {
    const { origin, answer } = await answered(200, DENY, { 'content-encoding': 'zip' });
    expect(answer).toEqual({
      failure: {
        kind: 'output',
        message: `expected a body in gzip, deflate, br or no encoding from ${origin}/hook, found "zip"`,
      },
    });
  });
});

describe('header variables', () => {
  async function headersSent(
    headers: Readonly<Record<string, string>>,
    allowedEnvVars: readonly string[] | null = null,
  ) {
    const records: IncomingHttpHeaders[] = [];
    const origin = await serve((request, response) => {
      records.push(request.headers);
      response.end();
    });
    const answer = await runHttp(
      { url: origin, headers, allowedEnvVars: ['TOKEN', 'OTHER', 'LINES', 'UNSET'] },
      {
        env: { TOKEN: 'tok123', OTHER: 'o', SECRET: 's', LINES: 'a\r\nX-Evil: 1\n' },
        rules: { allowedUrls: null, ownUrls: [], allowedEnvVars },
      },
    );
    return { sent: records[0] ?? {}, answer };
  }

  test('are filled in both spellings', async () => {
    const { sent, answer } = await headersSent({
      Authorization: 'Bearer $TOKEN',
      'X-Brace': 'a${TOKEN}b',
      'X-Price': '$5 and $',
    });
    expect(answer).toEqual({});
    expect([sent.authorization, sent['x-brace'], sent['x-price']]).toEqual([
      'Bearer tok123',
      'atok123b',
      '$5 and $',
    ]);
  });

  test('are empty when the hook does not list them, and a note says so', async () => {
    const { sent, answer } = await headersSent({ 'X-A': 'a${SECRET} b', 'X-B': '[$UNSET]' });
    expect([sent['x-a'], sent['x-b']]).toEqual(['a b', '[]']);
    expect(answer).toEqual({
      notes: [
        `header "X-A": $SECRET is empty because the hook's allowedEnvVars does not name it`,
        'header "X-B": $UNSET is empty because it is not set',
      ],
    });
  });

  test('are empty when the settings do not allow them', async () => {
    const { sent, answer } = await headersSent({ 'X-A': '$TOKEN|$OTHER' }, ['TOKEN']);
    expect(sent['x-a']).toBe('tok123|');
    expect(answer).toEqual({
      notes: ['header "X-A": $OTHER is empty because httpHookAllowedEnvVars does not name it'],
    });
  });

  test('cannot start another header', async () => {
    const { sent } = await headersSent({ 'X-A': '$LINES' });
    expect([sent['x-a'], sent['x-evil']]).toEqual(['aX-Evil: 1', undefined]);
  });

  test('a header that replaces one of ours does so in any spelling', async () => {
    const { sent } = await headersSent({ 'Content-Type': 'application/vnd.x+json' });
    expect(sent['content-type']).toBe('application/vnd.x+json');
  });

  test('headers that would break the message are left out, and a note says so', async () => {
    const { sent, answer } = await headersSent({
      'Content-Length': '1',
      'transfer-encoding': 'chunked',
      'bad name': 'x',
      'X-Wide': '☃',
      __proto__: 'x',
    });
    expect(sent['content-length']).toBe(String(JSON.stringify(INPUT.tool).length));
    expect(answer.notes).toEqual([
      'header "Content-Length" was left out because it belongs to the connection, not to the hook',
      'header "transfer-encoding" was left out because it belongs to the connection, not to the hook',
      'header "bad name" was left out because its name has characters that no header may have',
      'header "X-Wide" was left out because its value has characters that no header may have',
    ]);
  });
});
