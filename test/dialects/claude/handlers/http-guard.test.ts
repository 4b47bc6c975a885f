import { execFile } from 'node:child_process';
import { createServer as createTlsServer } from 'node:https';
import path from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ResolveHost } from '../../../../src/base/network-addresses.ts';
import { isWildcardMatch } from '../../../../src/dialects/claude/handlers/http-rules.ts';
import { createDirectory, write } from '../../../base/directory.ts';
import { runHttp, serve, serveWith } from './handler-runs.ts';
import { createSelfSigned } from './self-signed.ts';

const BLOCKED = 'HTTP hook blocked: ';
const HINT =
  'is a private or reserved address; to allow it, name its URL, without a wildcard in the host, in allowedHttpHookUrls of your own settings';

function rules(allowedUrls: readonly string[] | null, ownUrls: readonly string[] = []) {
  return { rules: { allowedUrls, ownUrls, allowedEnvVars: null } };
}

function at(...addresses: readonly string[]): { resolve: ResolveHost } {
  const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return { resolve: (_name, found) => found(null, all) };
}

describe('the list of allowed URLs', () => {
  test.each([
    ['https://hooks.example.com/a/b', 'https://hooks.example.com/*'],
    ['https://hooks.example.com/a/b?c', 'https://hooks.example.com/*'],
    ['https://hooks.example.com/a', 'https://*.example.com/*'],
    ['https://hooks.example.com/a', 'https://*'],
    ['https://hooks.example.com/a', '*'],
    ['https://hooks.example.com/a', '*.example.com/*'],
    ['https://hooks.example.com/a', '*://hooks.example.com/a'],
    ['https://hooks.example.com', 'https://hooks.example.com'],
    ['https://hooks.example.com/', 'HTTPS://HOOKS.example.com:443/'],
    ['https://hooks.example.com:8443/x', 'https://hooks.example.com:*/x'],
    ['https://me:secret@hooks.example.com/x', 'https://hooks.example.com/x'],
  ])('lets %s through by %s', async (url, pattern) => {
    const { failure } = await runHttp({ url }, { ...rules([pattern]), ...at('10.0.0.1') });
    expect(failure?.message).toContain('is at 10.0.0.1');
  });

  test.each([
    ['https://hooks.example.com/a', 'https://other.example.com/*'],
    ['https://hooks.example.com/a', 'http://hooks.example.com/*'],
    ['https://hooks.example.com/a', 'https://hooks.example.com'],
    ['https://hooks.example.com/a', 'hooks.example.com/*'],
    ['https://hooks.example.com.evil.example/a', 'https://hooks.example.com/*'],
    ['https://evil.example/x.example.com/y', 'https://*.example.com/*'],
    ['https://evil.example/?x=.example.com/', 'https://*.example.com/*'],
    ['https://hooks.example.com@evil.example/a', 'https://hooks.example.com/*'],
    ['https://hooks.example.com/a/../b', 'https://hooks.example.com/a/*'],
    ['https://hooks.example.com:8443/a', 'https://hooks.example.com/*'],
    ['https://hooks.example.com/a', ''],
    ['https://hooks.example.com/a', 'https://[*'],
  ])('keeps %s out of %s', async (url, pattern) => {
    const { origin, pathname } = new URL(url);
    expect(await runHttp({ url }, rules([pattern]))).toEqual({
      failure: {
        kind: 'spawn',
        message: `${BLOCKED}${origin}${pathname} does not match any pattern in allowedHttpHookUrls`,
      },
    });
  });

  test('lets nothing through when it is empty', async () => {
    const origin = await serve((_request, response) => response.end());
    expect((await runHttp({ url: origin }, rules([]))).failure?.message).toBe(
      `${BLOCKED}${origin}/ does not match any pattern in allowedHttpHookUrls`,
    );
  });

  test('needs only one pattern that fits', async () => {
    const origin = await serve((_request, response) => response.end('{}'));
    const patterns = ['https://a.example/*', `${origin}/ok*`];
    expect((await runHttp({ url: `${origin}/ok1` }, rules(patterns))).decision).toEqual({
      context: '{}',
    });
    expect((await runHttp({ url: `${origin}/bad` }, rules(patterns))).failure).toEqual({
      kind: 'spawn',
      message: `${BLOCKED}${origin}/bad does not match any pattern in allowedHttpHookUrls`,
    });
  });

  test('reads wildcards as a plain regular expression would', () => {
    const piece = fc.stringMatching(/^[ab*]{0,8}$/);
    fc.assert(
      fc.property(piece, fc.stringMatching(/^[ab]{0,12}$/), (pattern, text) => {
        const expression = new RegExp(`^${pattern.replaceAll(/\*+/g, '.*')}$`);
        expect(isWildcardMatch(pattern, text)).toBe(expression.test(text));
      }),
    );
  });
});

describe('the addresses that a hook may reach', () => {
  test.each([
    'http://example.com/hook',
    'http://10.0.0.1/hook',
    'http://169.254.169.254/latest/meta-data',
    'http://0.0.0.0/hook',
    'http://[::ffff:10.0.0.1]/hook',
    'http://192.168.1.1/',
    'http://localhost.example.com/',
  ])('plain http only reaches this machine, not %s', async (url) => {
    const message = `${BLOCKED}${new URL(url).href}: expected https, or http to this machine; plain http to others is not safe`;
    const failure = { kind: 'spawn', message };
    expect(await runHttp({ url })).toEqual({ failure });
    expect(await runHttp({ url }, { allowPrivate: true, ...rules(null, [url]) })).toEqual({
      failure,
    });
  });

  test.each([
    ['https://10.0.0.1/', '10.0.0.1'],
    ['https://172.31.255.255/', '172.31.255.255'],
    ['https://192.168.0.1/', '192.168.0.1'],
    ['https://169.254.169.254/', '169.254.169.254'],
    ['https://100.100.100.200/', '100.100.100.200'],
    ['https://168.63.129.16/', '168.63.129.16'],
    ['https://0.0.0.0/', '0.0.0.0'],
    ['https://0/', '0.0.0.0'],
    ['https://0x0a000001/', '10.0.0.1'],
    ['https://255.255.255.255/', '255.255.255.255'],
    ['https://[::]/', '::'],
    ['https://[::ffff:10.0.0.1]/', '::ffff:a00:1'],
    ['https://[::10.0.0.1]/', '::a00:1'],
    ['https://[64:ff9b::10.0.0.1]/', '64:ff9b::a00:1'],
    ['https://[2002:a00:1::]/', '2002:a00:1::'],
    ['https://[fe80::1]/', 'fe80::1'],
    ['https://[fd00:ec2::254]/', 'fd00:ec2::254'],
    ['https://[ff02::1]/', 'ff02::1'],
  ])('%s is not called', async (url, address) => {
    const output = new URL(url).href;
    expect(await runHttp({ url })).toEqual({
      failure: { kind: 'spawn', message: `${BLOCKED}${output}: ${address} ${HINT}` },
    });
  });

  test.each(['10.0.0.1', '169.254.169.254', '::ffff:10.0.0.1', '0.0.0.0', '127.0.0.1', '::1'])(
    'a public name that leads to %s is not called',
    async (address) => {
      const url = 'https://hooks.example.com/hook';
      expect(await runHttp({ url }, at('93.184.215.14', address))).toEqual({
        failure: {
          kind: 'spawn',
          message: `${BLOCKED}${url}: hooks.example.com is at ${address}, which ${HINT}`,
        },
      });
    },
  );

  test.each(['localhost', 'app.localhost', 'LOCALHOST.'])(
    '%s that leads elsewhere is not called',
    async (name) => {
      const url = `http://${name}/hook`;
      const host = new URL(url).hostname;
      expect(await runHttp({ url }, { ...at('10.0.0.1'), allowPrivate: true })).toEqual({
        failure: {
          kind: 'spawn',
          message: `${BLOCKED}http://${host}/hook: ${host} is at 10.0.0.1, which is not this machine`,
        },
      });
    },
  );

  test('a name is resolved once, so that a second answer cannot lead elsewhere', async () => {
    const origin = await serve((_request, response) => response.end('{}'));
    const answers = ['127.0.0.1', '10.0.0.1'];
    const resolve: ResolveHost = (_name, found) =>
      found(null, [{ address: answers.shift() ?? '', family: 4 }]);
    const url = `http://localhost:${new URL(origin).port}/`;
    expect((await runHttp({ url }, { resolve })).decision).toEqual({ context: '{}' });
    expect(answers).toEqual(['10.0.0.1']);
  });

  test('a name without an address is a failure', async () => {
    expect((await runHttp({ url: 'https://h.example/' }, at())).failure?.message).toBe(
      `${BLOCKED}https://h.example/: h.example has no address`,
    );
  });

  test('localhost is found by the system, too', async () => {
    const origin = await serve((_request, response) => response.end('{}'));
    const url = `http://localhost:${new URL(origin).port}/`;
    expect((await runHttp({ url })).decision).toEqual({ context: '{}' });
  });

  test.each([
    ['the user allows private addresses', { allowPrivate: true }],
    ['the user names the host', rules(null, ['https://hooks.example.com:1/*'])],
  ])('a private address is called when %s', async (_when, tools) => {
    const url = 'https://hooks.example.com:1/hook';
    expect((await runHttp({ url }, { ...tools, ...at('127.0.0.1') })).failure?.message).toBe(
      `no answer from ${url}: connect ECONNREFUSED 127.0.0.1:1`,
    );
  });

  test.each([
    ['only a wildcard stands for the host', rules(null, ['https://*.example.com:1/*', '*'])],
    ['only a workspace names the host', rules(['https://hooks.example.com:1/*'])],
  ])('a private address is not called when %s', async (_when, tools) => {
    const url = 'https://hooks.example.com:1/hook';
    expect((await runHttp({ url }, { ...tools, ...at('10.0.0.1') })).failure?.message).toContain(
      'is at 10.0.0.1, which is a private or reserved address',
    );
  });
});

describe('the URL in a failure', () => {
  const secret = '://me:hunter2@127.0.0.1:1/hook?token=hunter2#hunter2';

  test.each([
    ['no server listens', `http${secret}`, {}],
    ['it is not allowed', `http${secret}`, rules([])],
    ['its scheme is wrong', `ftp${secret}`, {}],
    ['it is private', `https${secret.replace('127.0.0.1', '10.0.0.1')}`, {}],
    ['it cannot be read', `http${secret.replace('127.0.0.1', '[')}`, {}],
  ])('has no credentials when %s', async (_when, url, tools) => {
    const { failure } = await runHttp({ url }, tools);
    expect(failure?.kind).toBe('spawn');
    expect(failure?.message).not.toContain('hunter2');
  });

  test('has no secrets when the server refuses, which gets them', async () => {
    const records: (string | undefined)[] = [];
    const origin = await serve((request, response) => {
      records.push(request.headers.authorization);
      response.writeHead(401).end();
    });
    const url = `${origin.replace('://', '://me:hunter2@')}/hook?token=hunter2`;
    expect((await runHttp({ url })).failure?.message).toBe(`HTTP 401 from ${origin}/hook`);
    expect(records).toEqual([`Basic ${Buffer.from('me:hunter2').toString('base64')}`]);
  });

  test('a scheme other than http and https is refused', async () => {
    expect((await runHttp({ url: 'file:///etc/passwd' })).failure?.message).toBe(
      `${BLOCKED}expected a url that starts with https:, found file:`,
    );
  });
});

describe('TLS', () => {
  const run = promisify(execFile);
  const script = path.join(import.meta.dirname, 'fixtures/run-one-http-hook.ts');

  async function serveTls(certificate: ReturnType<typeof createSelfSigned>) {
    const server = createTlsServer(certificate, (_request, response) => response.end('{}'));
    return serveWith(server, 'https');
  }

  async function runElsewhere(url: string, env: Readonly<Record<string, string>>) {
    const args = ['--import', 'jiti/register', script, url];
    const { stdout } = await run(process.execPath, args, { env: { ...process.env, ...env } });
    return JSON.parse(stdout);
  }

  test('a self-signed certificate is refused', async () => {
    const origin = await serveTls(createSelfSigned());
    expect(await runHttp({ url: `${origin}/hook` })).toEqual({
      failure: {
        kind: 'spawn',
        message: `no answer from ${origin}/hook: self-signed certificate`,
      },
    });
  });

  test('the environment cannot switch the check off', async () => {
    const origin = await serveTls(createSelfSigned());
    expect(await runElsewhere(`${origin}/hook`, { NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual({
      failure: {
        kind: 'spawn',
        message: `no answer from ${origin}/hook: self-signed certificate`,
      },
    });
  });

  test('a certificate that the user trusts is accepted', async () => {
    const certificate = createSelfSigned();
    const authority = write(path.join(createDirectory(), 'authority.pem'), certificate.cert);
    const origin = await serveTls(certificate);
    expect(await runElsewhere(`${origin}/hook`, { NODE_EXTRA_CA_CERTS: authority })).toEqual({
      program: { exitCode: null, stdout: '{}', stderr: '' },
      decision: { context: '{}' },
    });
  });

  test('a certificate for another name is refused', async () => {
    const certificate = createSelfSigned();
    const authority = write(path.join(createDirectory(), 'authority.pem'), certificate.cert);
    const { port } = new URL(await serveTls(certificate));
    const { failure } = await runElsewhere(`https://app.localhost:${port}/hook`, {
      NODE_EXTRA_CA_CERTS: authority,
    });
    expect(failure.message).toContain("does not match certificate's altnames");
  });

  test('plain http where TLS is expected is a failure', async () => {
    const origin = (await serve((_request, response) => response.end('{}'))).replace(
      'http:',
      'https:',
    );
    expect((await runHttp({ url: origin })).failure?.message).toContain(
      `no answer from ${origin}/`,
    );
  });
});
