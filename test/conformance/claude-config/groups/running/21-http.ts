import { expect } from 'vitest';
import { bash, expectVerdict, type Group, hooks, type OpenFixture, type VerdictSummary } from '../../fixture.ts';
import { type Reply, serve } from '../../server.ts';

const answer = (fields: object): string =>
  JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields } });
const denial = (reason: string): string =>
  answer({ permissionDecision: 'deny', permissionDecisionReason: reason });

interface Exchange {
  readonly reply: Reply;
  readonly expected: VerdictSummary;
  /** `URL` stands for the hook's address. */
  readonly failure?: string;
}

const TYPE_FAILURE = 'HTTP hook must return JSON, but got non-JSON response body:';

const EXCHANGES: Readonly<Record<string, Exchange>> = {
  deny: {
    reply: { status: 200, body: denial('http deny') },
    expected: { effect: 'deny', reasons: ['http deny'] },
  },
  empty: { reply: { status: 200 }, expected: {} },
  text: {
    reply: { status: 200, body: 'hello text' },
    expected: { failures: ['output'] },
    failure: `${TYPE_FAILURE} hello text`,
  },
  s500: {
    reply: { status: 500, body: denial('not read') },
    expected: { failures: ['exit'] },
    failure: 'HTTP 500 from URL',
  },
  s404json: {
    reply: { status: 404, body: denial('not read') },
    expected: { failures: ['exit'] },
    failure: 'HTTP 404 from URL',
  },
  allowupd: {
    reply: {
      status: 200,
      body: answer({
        permissionDecision: 'allow',
        updatedInput: { command: 'echo HTTP_REPLACED' },
        additionalContext: 'http ctx',
      }),
    },
    expected: {
      effect: 'allow',
      input: { command: 'echo HTTP_REPLACED' },
      context: ['http ctx'],
    },
  },
  redirect: {
    reply: { status: 302, headers: { location: '/hook/deny' } },
    expected: { failures: ['exit'] },
    failure: 'HTTP 302 from URL',
  },
  arr: {
    reply: { status: 200, body: '[1]' },
    expected: { failures: ['output'] },
    failure: `${TYPE_FAILURE} [1]`,
  },
  s201deny: {
    reply: { status: 201, body: denial('201 deny') },
    expected: { effect: 'deny', reasons: ['201 deny'] },
  },
  badschema: {
    reply: { status: 200, body: '{"decision":"zzz"}' },
    expected: { failures: ['output'] },
    failure: 'expected "decision" to be "approve" or "block", found "zzz"',
  },
  s204: { reply: { status: 204 }, expected: {} },
};

export const http: Group = {
  name: '21-http',
  cases: [
    ...Object.entries(EXCHANGES).map(([name, exchange]) => ({
      name,
      run: (openFixture: OpenFixture) => asks(openFixture, name, exchange),
    })),
    { name: 'refused', run: isRefused },
    { name: 'first', run: sendsPayload },
    { name: 'stop', run: asksAtStop },
  ],
};

async function asks(openFixture: OpenFixture, name: string, exchange: Exchange): Promise<void> {
  const { reply, expected, failure } = exchange;
  const server = await serve(() => reply);
  const url = `${server.url}/hook/${name}`;
  const { fire } = await openFixture({ project: hooks('PreToolUse', [{ type: 'http', url }]) });
  const verdict = await fire('PreToolUse', bash(`echo ${name}`));
  await server.close();
  expectVerdict(verdict, expected);
  expect(server.requests.map((request) => request.url)).toEqual([`/hook/${name}`]);
  const message = verdict.outcomes[0]?.failure?.message.replace(url, 'URL');
  expect(message).toBe(failure);
}

/** No server listens at an address whose server has just been closed. */
async function isRefused(openFixture: OpenFixture): Promise<void> {
  const server = await serve(() => ({ status: 200 }));
  await server.close();
  const { fire } = await openFixture({
    project: hooks('PreToolUse', [{ type: 'http', url: `${server.url}/hook/refused` }]),
  });
  const verdict = await fire('PreToolUse', bash('echo refused'));
  expectVerdict(verdict, { failures: [expect.any(String)] });
  expect(verdict.outcomes[0]?.failure?.message).toContain('ECONNREFUSED');
}

async function sendsPayload(openFixture: OpenFixture): Promise<void> {
  const server = await serve(() => ({ status: 200 }));
  const { fire, root } = await openFixture({
    project: hooks('PreToolUse', [
      {
        type: 'http',
        url: `${server.url}/hook/deny`,
        headers: {
          authorization: 'Bearer $TOK',
          'x-brace': '${TOK}',
          'x-unlisted': 'a$OTHER b',
          'x-plain': 'v',
        },
        allowedEnvVars: ['TOK'],
      },
    ]),
    env: { TOK: 'tok123', OTHER: 'secret' },
  });
  await fire('PreToolUse', { ...bash('echo deny'), permissionMode: 'bypassPermissions' });
  await server.close();
  const [request] = server.requests;
  expect(request).toMatchObject({
    method: 'POST',
    url: '/hook/deny',
    headers: {
      accept: 'application/json, text/plain, */*',
      'content-type': 'application/json',
      authorization: 'Bearer tok123',
      'x-brace': 'tok123',
      'x-unlisted': 'a b',
      'x-plain': 'v',
    },
  });
  expect(JSON.parse(request?.body ?? '')).toMatchObject({
    session_id: expect.any(String),
    transcript_path: expect.any(String),
    cwd: root,
    permission_mode: 'bypassPermissions',
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'echo deny' },
    tool_use_id: 'toolu_mock0001',
  });
}

async function asksAtStop(openFixture: OpenFixture): Promise<void> {
  const server = await serve(() => ({ status: 200, body: '{}' }));
  const { fire } = await openFixture({
    project: {
      hooks: {
        Stop: [{ hooks: [{ type: 'http', url: `${server.url}/hook/stop` }] }],
        SessionStart: [{ hooks: [{ type: 'http', url: `${server.url}/hook/start` }] }],
      },
    },
  });
  expectVerdict(await fire('Stop'), {});
  await fire('SessionStart');
  await server.close();
  expect(server.requests.map(({ url }) => url)).toEqual(['/hook/stop']);
}
