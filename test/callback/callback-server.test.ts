import { existsSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseCallbackAddress } from '../../src/callback/callback-address.ts';
import { AttachedSession } from '../../src/callback/attached-session.ts';
import { CallbackServer, type HookCall } from '../../src/callback/callback-server.ts';
import { temporaryDirectory } from '../process/programs.ts';

const HOOK = 'claude:project:PreToolUse:0.0 ü@';

function open() {
  const socket = path.join(temporaryDirectory(), 's.sock');
  const received: HookCall[] = [];
  const server = new CallbackServer(socket, (call) => {
    received.push(call);
    return { [call.call === 'abort' ? 'aborted' : 'steered']: true, messages: ['one'] };
  });
  onTestFinished(() => server.close());
  const address = server.formatAddress(HOOK);
  const session = AttachedSession.fromEnvironment({ HOOKLINE_CALLBACK: address });
  return { server, socket, received, session, token: parseCallbackAddress(address)?.token ?? '' };
}

interface Sent {
  readonly socket: string;
  readonly token?: string;
  readonly call?: string;
  readonly method?: string;
  readonly type?: string;
  readonly body?: string;
}

/** Sends a request as another client would, and gives back the status and the answer. */
function ask({ socket, token, call = 'steer', method = 'POST', type, body = 'x' }: Sent) {
  return new Promise<{ status: number | undefined; answer: string }>((resolve, reject) => {
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(type === undefined ? {} : { 'content-type': type }),
    };
    const sent = request({ socketPath: socket, path: `/${call}`, method, headers }, (response) => {
      let answer = '';
      response.on('data', (chunk: Buffer) => (answer += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode, answer }));
    });
    sent.on('error', reject);
    sent.end(method === 'GET' ? undefined : body);
  });
}

/** Connects; `ended` settles with all that was received. */
async function connectTo(socket: string) {
  const connection = connect(socket);
  let received = '';
  connection.on('data', (chunk: Buffer) => (received += chunk.toString()));
  connection.on('error', () => undefined);
  const ended = new Promise<string>((resolve) => connection.on('close', () => resolve(received)));
  await new Promise((resolve) => connection.on('connect', resolve));
  return { connection, ended };
}

describe('a session that its hooks call', () => {
  it('knows which hook calls, and answers it', async () => {
    const { session, received } = open();
    expect(await session.steer('look')).toBe(true);
    expect(await session.abort('enough')).toBe(true);
    expect(await session.messages()).toEqual(['one']);
    expect(received).toEqual([
      { hook: HOOK, call: 'steer', text: 'look' },
      { hook: HOOK, call: 'abort', text: 'enough' },
      { hook: HOOK, call: 'messages', text: null },
    ]);
  });

  it('listens on a socket that only its user can reach, and removes it', async () => {
    const { server, socket } = open();
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    await server.close();
    expect(existsSync(socket)).toBe(false);
  });

  it('takes the place of a socket that a killed process left', async () => {
    const socket = path.join(temporaryDirectory(), 's.sock');
    writeFileSync(socket, '');
    const server = new CallbackServer(socket, () => ({ steered: true }));
    onTestFinished(() => server.close());
    const env = { HOOKLINE_CALLBACK: server.formatAddress(HOOK) };
    expect(await AttachedSession.fromEnvironment(env).steer('x')).toBe(true);
  });

  it('does nothing without a token of its own', async () => {
    const { socket, received, token } = open();
    const other = open().token;
    const [name = '', signature = ''] = token.split('.');
    const forged = `${Buffer.from('another hook').toString('base64url')}.${signature}`;
    for (const each of [undefined, '', 'x', name, other, forged, `${token}A`, `.${signature}`]) {
      const sent = each === undefined ? { socket } : { socket, token: each };
      expect(await ask(sent)).toMatchObject({ status: 401 });
    }
    expect(received).toEqual([]);
  });

  it.each([
    ['an unknown call', { call: 'close' }, 404],
    ['a reading call that is posted', { call: 'state' }, 405],
    ['a call that changes something by GET', { method: 'GET' }, 405],
    ['a message without text', { body: '' }, 400],
    ['JSON without text', { type: 'application/json', body: '[]' }, 400],
    ['JSON with another type of text', { type: 'application/json', body: '{"text":1}' }, 400],
    ['broken JSON', { type: 'application/json', body: '{' }, 400],
    ['a message of 5 MB', { body: 'x'.repeat(5_000_000) }, 413],
  ])('refuses %s', async (_title, sent, status) => {
    const { socket, token, received } = open();
    const found = await ask({ socket, token, ...sent }).catch((error: unknown) => error);
    // The connection may be closed before such a large body was sent.
    if (status === 413 && found instanceof Error) expect(found.message).toMatch(/EPIPE|RESET/u);
    else expect(found).toMatchObject({ status });
    expect(received).toEqual([]);
  });

  it('reads a text from JSON, and any other body as text', async () => {
    const { socket, token, received } = open();
    await ask({ socket, token, type: 'application/json', body: '{"text":"a"}' });
    await ask({ socket, token, type: 'application/x-www-form-urlencoded', body: '{"text":"b"}' });
    expect(received.map(({ text }) => text)).toEqual(['a', '{"text":"b"}']);
  });

  it('answers every call that came before its end, and waits for no idle connection', async () => {
    const { server, socket, session, token } = open();
    const idle = await connectTo(socket);
    const asking = await Promise.all(Array.from({ length: 100 }, () => connectTo(socket)));
    const call = `GET /state HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`;
    const answers = asking.map(({ connection, ended }) => {
      connection.write(call);
      return ended;
    });
    await server.close();
    const statuses = (await Promise.all(answers)).map((answer) => answer.slice(0, 15));
    expect(statuses).toEqual(Array.from({ length: 100 }, () => 'HTTP/1.1 200 OK'));
    expect(await idle.ended).toBe('');
    await expect(session.steer('late')).rejects.toMatchObject({ code: 'SESSION_UNREACHABLE' });
  });
});

describe('a program outside of a hook', () => {
  it.each([{}, { HOOKLINE_CALLBACK: '' }, { HOOKLINE_CALLBACK: 'x' }, { HOOKLINE_CALLBACK: '@' }])(
    'is not attached by %j',
    (env) => {
      expect(() => AttachedSession.fromEnvironment(env)).toThrow(/address of a session/u);
    },
  );
});
