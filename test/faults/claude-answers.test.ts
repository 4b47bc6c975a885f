import { createServer as createTcpServer, type Socket } from 'node:net';
import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { AskModel, CallMcp, HookPorts } from '../../src/dialects/ports.ts';
import { createHost } from '../../src/host/create-host.ts';
import { createTempWorkspace, write } from '../cli/temp-workspace.ts';
import { listen, serve } from '../dialects/claude/handlers/handler-runs.ts';

const DENY = { type: 'command', command: 'echo no >&2; exit 2' };
const EVENT = { name: 'PreToolUse', tool: { callId: '1', name: 'Bash', input: {} } } as const;

/** Fires an event at this handler of the user's, with a guard beside it that refuses, through a whole host. */
async function fire(handler: object, ports: HookPorts = {}) {
  const workspace = createTempWorkspace();
  const hooks = { PreToolUse: [{ hooks: [handler, DENY] }] };
  write(workspace.home, '.claude/settings.json', JSON.stringify({ hooks }));
  const env = { PATH: process.env['PATH'], HOME: workspace.home };
  const { home, repo: cwd } = workspace;
  const { platform, execPath: nodePath } = process;
  const surroundings = { cwd, env, platform, home, nodePath };
  const host = await createHost({ cwd, surroundings, ports });
  const verdict = await host.engine.dispatch(EVENT);
  await host.dispose();
  return verdict;
}

/** A failure that is reported, and a neighbour that still refuses. */
async function expectFailure(
  handler: object,
  kind: string,
  ports: HookPorts = {},
): Promise<string> {
  const verdict = await fire(handler, ports);
  expect(verdict).toMatchObject({
    effect: 'deny',
    outcomes: [
      { status: 'failed', failure: { kind } },
      { status: 'decided', effect: 'deny' },
    ],
  });
  return verdict.outcomes[0]?.failure?.message ?? '';
}

async function serveRaw(speak: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => speak(socket));
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

/** For what is meant to answer, however busy the machine is. */
const PATIENCE_S = 200;

describe('a server that a hook asks', () => {
  const http = (url: string, timeout = PATIENCE_S) => ({ type: 'http', url, timeout });
  const MEBI = 1024 * 1024;

  it.each<readonly [string, string, RequestListener]>([
    ['never answers', 'timeout', () => undefined],
    [
      'stops in the middle',
      'timeout',
      (_request, response) => void response.writeHead(200).write('{"decision":'),
    ],
    [
      'answers with 50 MB',
      'output',
      (_request, response) => void response.end(Buffer.alloc(50 * MEBI, ' ')),
    ],
    [
      'redirects to another',
      'exit',
      (_request, response) =>
        void response.writeHead(302, { location: 'https://other.example/' }).end(),
    ],
    [
      'redirects to itself for ever',
      'exit',
      (_request, response) => void response.writeHead(307, { location: '/again' }).end(),
    ],
    ['answers 500', 'exit', (_request, response) => void response.writeHead(500).end('{}')],
    ['sends a page', 'output', (_request, response) => void response.end('<html>ok</html>')],
    ['sends an array', 'output', (_request, response) => void response.end('[]')],
    [
      'sends bytes that are no text',
      'output',
      (_request, response) => void response.end(Buffer.from([0xff, 0xfe, 0x00])),
    ],
    [
      'sends a decision of the wrong type',
      'output',
      (_request, response) => void response.end('{"decision": 5}'),
    ],
    [
      'nests 100,000 deep',
      'output',
      (_request, response) =>
        void response.end(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
    ],
    [
      'claims to be packed and is not',
      'output',
      (_request, response) =>
        void response.writeHead(200, { 'content-encoding': 'gzip' }).end('{"decision":"block"}'),
    ],
  ])('and that %s is a failure of its kind', async (_name, kind, listener) => {
    const limit = kind === 'timeout' ? 1 : PATIENCE_S;
    expect(await expectFailure(http(await serve(listener), limit), kind)).not.toBe('');
  });

  it.each<readonly [string, (socket: Socket) => void]>([
    ['closes at once', (socket) => socket.destroy()],
    ['closes in the headers', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Le')],
    [
      'closes in the body',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"decision":"app'),
    ],
    ['speaks no HTTP', (socket) => socket.end('220 mail.example ESMTP\r\n')],
  ])('and that %s is a failure', async (_name, speak) => {
    const verdict = await fire(http(await serveRaw(speak)));
    expect(verdict).toMatchObject({ effect: 'deny', outcomes: [{ status: 'failed' }, {}] });
  });

  it('and that does not exist is a failure to start', async () => {
    await expectFailure(http('http://127.0.0.1:1/'), 'spawn');
  });
});

describe('a model that a hook asks', () => {
  const prompt = { type: 'prompt', prompt: 'Is this fine? $ARGUMENTS', timeout: PATIENCE_S };
  const saying =
    (text: string): AskModel =>
    () =>
      Promise.resolve(text);

  it.each([
    ['nothing', ''],
    ['prose', 'Yes, that looks fine to me.'],
    ['an array', '[true]'],
    ['null', 'null'],
    ['no "ok"', '{"reason": "fine"}'],
    ['an "ok" of the wrong type', '{"ok": "true"}'],
    ['JSON that breaks off', '{"ok": tru'],
    ['10 MB', 'x'.repeat(10 * 1024 * 1024)],
    ['lone surrogates', '\uD800'],
  ])('and that answers with %s has not approved', async (_name, text) => {
    const message = await expectFailure(prompt, 'output', { askModel: saying(text) });
    expect(message.length).toBeLessThan(2000);
  });

  it('and that fails is a failure with its message', async () => {
    const askModel: AskModel = () => Promise.reject(new TypeError('the model is overloaded'));
    const verdict = await fire(prompt, { askModel });
    expect(verdict.outcomes[0]).toMatchObject({
      status: 'failed',
      failure: { message: expect.stringContaining('the model is overloaded') },
    });
    expect(verdict.effect).toBe('deny');
  });

  it('and that never answers is a time-out, also when it does not heed the signal', async () => {
    const askModel: AskModel = () => new Promise(() => undefined);
    await expectFailure({ ...prompt, timeout: 1 }, 'timeout', { askModel });
  });

  it('and that does not exist is a failure to start', async () => {
    await expectFailure(prompt, 'spawn');
    await expectFailure({ ...prompt, type: 'agent' }, 'spawn');
  });
});

describe('an MCP tool that a hook calls', () => {
  const tool = { type: 'mcp_tool', server: 'guard', tool: 'check', timeout: PATIENCE_S };

  it('fails with a message when there is no such server, when it errs, throws or never answers', async () => {
    const never: CallMcp = () => new Promise(() => undefined);
    await expectFailure(tool, 'spawn');
    await expectFailure(tool, 'spawn', { callMcp: () => Promise.resolve(null) });
    await expectFailure({ ...tool, timeout: 1 }, 'timeout', { callMcp: never });
    const loud: readonly HookPorts[] = [
      { callMcp: () => Promise.resolve({ text: 'broken', isError: true }) },
      { callMcp: () => Promise.reject(new TypeError('gone')) },
      { callMcp: () => Promise.resolve({ text: '{"decision": 5}', isError: false }) },
    ];
    for (const ports of loud) {
      expect((await fire(tool, ports)).outcomes).toMatchObject([{ status: 'failed' }, {}]);
    }
  });
});
