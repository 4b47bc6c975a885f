import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDirectory, until, withEnoughTime } from '../base/directory.ts';
import { isAlive } from '../process/programs.ts';
import { badEntry, connectTo, exampleEntry, serveExample, started } from './servers.ts';

function createTextResult(text: string) {
  return { content: [{ type: 'text', text }] };
}

function exampleServer() {
  const env = { PATH: process.env['PATH'] ?? '' };
  return { endpoint: started(exampleEntry()), cwd: import.meta.dirname, env, roots: [] };
}

const TOOLS = [
  'echo',
  'fail',
  'environment',
  'picture',
  'big',
  'die',
  'hang',
  'grow',
  'ask',
  'ask-url',
];

describe('a connection to a server that is a program', () => {
  it('lists its tools and prompts, and calls them', async () => {
    const { connection, call, notices } = connectTo(started(exampleEntry()));
    await connection.open();
    expect({
      state: connection.state,
      tools: connection.tools.map(({ name }) => name),
      prompts: connection.prompts,
      hasResources: connection.hasResources,
      answer: await call('echo', { text: 'hi' }),
      notices,
    }).toEqual({
      state: { kind: 'connected', why: '' },
      tools: TOOLS,
      prompts: [
        {
          name: 'review',
          description: 'Looks at a file',
          arguments: [{ name: 'file', isRequired: true }],
        },
      ],
      hasResources: true,
      answer: createTextResult('echo: hi'),
      notices: [],
    });
  });

  it('is made by the first request', async () => {
    const { call } = connectTo(started(exampleEntry()));
    expect(await call('echo', { text: 'hi' })).toEqual(createTextResult('echo: hi'));
  });

  it('lists tools that the server adds later', async () => {
    const { connection, call } = connectTo(started(exampleEntry()));
    await call('grow');
    await until(() => connection.tools.some(({ name }) => name === 'grown'));
    expect(connection.tools.map(({ name }) => name)).toEqual([...TOOLS, 'grown']);
  });

  it('passes on the questions of the server, and declines when no user can be asked', async () => {
    const { call } = connectTo(started(exampleEntry()));
    const askedQuestions: unknown[] = [];
    const answered = await call('ask', {}, async (question) => {
      askedQuestions.push(question);
      return { action: 'accept', content: { username: 'bob', odd: { deep: 1 } } };
    });
    expect({ asked: askedQuestions, answered, alone: await call('ask') }).toEqual({
      asked: [
        {
          server: 'srv',
          message: 'Who are you?',
          mode: 'form',
          schema: {
            type: 'object',
            properties: { username: { type: 'string', title: 'User' } },
            required: ['username'],
          },
        },
      ],
      answered: createTextResult('elicited:{"action":"accept","content":{"username":"bob"}}'),
      alone: createTextResult('elicited:{"action":"decline"}'),
    });
  });

  it('ends the server with everything that it started', async () => {
    const file = path.join(createDirectory(), 'pids');
    const { connection } = connectTo(started(exampleEntry(file)));
    await connection.open();
    const pids = readFileSync(file, 'utf8').trim().split(' ').map(Number);
    expect(pids.map(isAlive)).toEqual([true, true]);
    await connection.close();
    await until(() => !pids.some(isAlive));
    expect(connection.state).toEqual({ kind: 'closed', why: '' });
  });

  it('ends what a server that died has left behind', async () => {
    const file = path.join(createDirectory(), 'pids');
    const { call } = connectTo(started(exampleEntry(file)));
    await expect(call('die')).rejects.toThrow('exit code 7');
    const pids = readFileSync(file, 'utf8').trim().split(' ').map(Number);
    await until(() => !pids.some(isAlive));
  });
});

describe('a server that dies during a call', () => {
  it('fails the call, is reported, and is back for the next one', async () => {
    const { connection, call, notices } = connectTo(started(exampleEntry()));
    const why = 'it ended with exit code 7; stderr: the example server is up';
    await expect(call('die')).rejects.toThrow(
      `the MCP server srv was lost while it worked: ${why}`,
    );
    expect({ state: connection.state, tools: connection.tools.length, notices }).toEqual({
      state: { kind: 'failed', why },
      tools: TOOLS.length,
      notices: [`MCP server srv: lost: ${why}`],
    });
    expect(await call('echo', { text: 'again' })).toEqual(createTextResult('echo: again'));
  });

  it('is restarted without being called', async () => {
    const { connection, call } = connectTo(started(exampleEntry()));
    await expect(call('die')).rejects.toThrow('exit code 7');
    await until(() => connection.state.kind === 'connected');
  });
});

describe('a server', () => {
  it('that never answers a call costs the time that a call has', async () => {
    const answer = await withEnoughTime(
      300,
      async (callTimeoutMs) => {
        const { connection, call } = connectTo(started(exampleEntry()), { callTimeoutMs });
        await connection.open();
        await expect(call('hang')).rejects.toThrow(`no answer within ${callTimeoutMs} ms`);
        return call('echo', { text: 'still here' }).catch((error: unknown) => error);
      },
      (input) => !(input instanceof Error),
    );
    expect(answer).toEqual(createTextResult('echo: still here'));
  });

  it('may wait longer than that for the user', async () => {
    const answer = await withEnoughTime(
      300,
      async (callTimeoutMs) => {
        const { connection, call } = connectTo(started(exampleEntry()), { callTimeoutMs });
        await connection.open();
        const answered = call('ask', {}, async () => {
          await new Promise((resolve) => setTimeout(resolve, 1.5 * callTimeoutMs));
          return { action: 'cancel' };
        });
        return answered.catch((error: unknown) => error);
      },
      (input) => !(input instanceof Error),
    );
    expect(answer).toEqual(createTextResult('elicited:{"action":"cancel"}'));
  });

  it('that never shakes hands fails after the start limit', async () => {
    const { connection } = connectTo(started(badEntry('hang')), { startTimeoutMs: 500 });
    await connection.open();
    expect(connection.state).toEqual({ kind: 'failed', why: 'it did not answer within 500 ms' });
  });

  it('that ends at once gives the reason', async () => {
    const { connection } = connectTo(started(badEntry('exit')));
    await connection.open();
    expect(connection.state).toEqual({
      kind: 'failed',
      why: 'it ended with exit code 3; stderr: cannot find my settings',
    });
  });

  it('that fails at first is tried again', async () => {
    const missing = 'untrusted: it was never trusted here';
    let isTrusted = false;
    const { connection } = connectTo(started(exampleEntry()), {
      prepare: () => (isTrusted ? exampleServer() : missing),
    });
    await connection.open();
    expect(connection.state).toEqual({ kind: 'failed', why: missing });
    isTrusted = true;
    await until(() => connection.state.kind === 'connected');
  });

  it('that has just failed is left to its next attempt, however often it is called', async () => {
    let attempts = 0;
    const { connection } = connectTo(started(exampleEntry()), {
      prepare() {
        attempts += 1;
        return 'not now';
      },
    });
    await connection.openIfDue();
    await connection.openIfDue();
    expect(attempts).toBe(1);
  });

  it('that is not there is named', async () => {
    const { connection } = connectTo(started({ command: 'no-such-program', args: [] }));
    await connection.open();
    expect(connection.state).toEqual({
      kind: 'failed',
      why: 'Could not start no-such-program: no program of this name is on the PATH.',
    });
  });

  it('is not reached when its owner forbids it', async () => {
    const { connection, call } = connectTo(started(exampleEntry()), {
      prepare: () => 'untrusted: it was never trusted here',
    });
    await expect(call('echo')).rejects.toThrow(
      'the MCP server srv is not connected: untrusted: it was never trusted here',
    );
    expect(connection.state.kind).toBe('failed');
  });

  it('may print lines that are no messages', async () => {
    const { connection } = connectTo(started(badEntry('chatty')));
    await connection.open();
    expect(connection.state).toEqual({ kind: 'connected', why: '' });
  });

  it('that floods its output with garbage is given up', async () => {
    const { connection, notices } = connectTo(started(badEntry('flood')));
    await connection.open();
    await until(
      () => notices.some((text) => text.includes('lost')) || connection.state.kind === 'failed',
    );
    expect(connection.state).toEqual({
      kind: 'failed',
      why: 'it keeps printing invalid messages on its standard output',
    });
  });

  it('that sends a message without end is given up', async () => {
    const { connection } = connectTo(started(badEntry('long-line')));
    await connection.open();
    expect(connection.state).toEqual({
      kind: 'failed',
      why: 'it sent a message of more than 64 MiB',
    });
  });

  it('that lies about schemas keeps its tools, with an open schema and a notice', async () => {
    const { connection, call, notices } = connectTo(started(badEntry('lie')));
    await connection.open();
    const open = { type: 'object', properties: {} };
    expect({
      tools: connection.tools.map(({ name, schema }) => ({ name, schema })),
      notices,
      answer: await call('good'),
    }).toEqual({
      tools: ['no-schema', 'text-schema', 'array-schema', 'good'].map((name) => ({
        name,
        schema: open,
      })),
      notices: [
        'MCP server srv: its tool no-schema has no usable input schema: expected an object',
        'MCP server srv: its tool text-schema has no usable input schema: expected an object',
        'MCP server srv: its tool array-schema has no usable input schema: expected "type" to be "object", found "array"',
      ],
      answer: { content: [{ type: 'text', text: 'fine' }, { type: 'odd' }, 'no block'] },
    });
  });

  it('whose schemas are invalid loses these, with a notice, and keeps the valid ones', async () => {
    const { connection, notices } = connectTo(started(badEntry('odd-tools')));
    await connection.open();
    const properties = { a: { $ref: '#/$defs/a' } };
    expect({
      schemas: connection.tools.map(({ schema }) => schema['properties']),
      notices,
    }).toEqual({
      schemas: [undefined, {}, {}, {}, properties],
      notices: [
        'MCP server srv: its tool wrong-type has no usable input schema: /properties/a/type must be equal to one of the allowed values',
        'MCP server srv: its tool wrong-property has no usable input schema: /properties/a must be object,boolean',
        'MCP server srv: its tool wrong-part has no usable input schema: /definitions/a/required must be array',
      ],
    });
  });

  it('that sends ever more requests without reading is given up, and soon gone', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    const { connection } = connectTo(started(badEntry('deaf')));
    await connection.open();
    await until(() => connection.state.kind === 'failed');
    const { state } = connection;
    await connection.close();
    expect({ state, warnings }).toEqual({
      state: { kind: 'failed', why: 'it does not read its standard input' },
      warnings: [],
    });
  });

  it('that is closed while it connects has not failed', async () => {
    const { connection, notices } = connectTo(started(badEntry('hang')));
    const opening = connection.open();
    await connection.close();
    await opening;
    expect({ state: connection.state, notices }).toEqual({
      state: { kind: 'closed', why: '' },
      notices: [],
    });
  });

  it('that answers with 50 MB is read to the end', async () => {
    const { call } = connectTo(started(exampleEntry()));
    const bytes = 50_000_000;
    expect(await call('big', { bytes })).toEqual(createTextResult('x'.repeat(bytes)));
  });
});

describe('a connection over http', () => {
  it('calls tools, sends its headers and answers questions', async () => {
    const { url, seen: records } = await serveExample();
    const { connection, call } = connectTo({ type: 'http', url, headers: { 'x-team': 'blue' } });
    await connection.open();
    const answer = await call('ask', {}, async () => ({
      action: 'accept',
      content: { username: 'eve' },
    }));
    expect({ tools: connection.tools.map(({ name }) => name), answer }).toEqual({
      tools: TOOLS,
      answer: createTextResult('elicited:{"action":"accept","content":{"username":"eve"}}'),
    });
    expect(records.every((headers) => headers['x-team'] === 'blue')).toBe(true);
  });

  it('comes back after the service has forgotten it', async () => {
    const service = await serveExample();
    const { call } = connectTo({ type: 'http', url: service.url, headers: {} });
    expect(await call('echo', { text: '1' })).toEqual(createTextResult('echo: 1'));
    service.forget();
    await expect(call('echo', { text: '2' })).rejects.toThrow('was lost while it worked');
    expect(await call('echo', { text: '3' })).toEqual(createTextResult('echo: 3'));
  });

  it('reports that no server listens, and why', async () => {
    const url = 'http://127.0.0.1:9/mcp';
    const { connection } = connectTo({ type: 'http', url, headers: {} });
    await connection.open();
    expect(connection.state.kind).toBe('failed');
    expect(connection.state.why).toMatch(/^fetch failed: ./);
  });

  it('deletes its session at the service when it is closed', async () => {
    const service = await serveExample();
    const { connection } = connectTo({ type: 'http', url: service.url, headers: {} });
    await connection.open();
    await connection.close();
    expect(service.methods.at(-1)).toBe('DELETE');
  });

  it.each([
    ['an unreadable event', 'data: {"no json\n\n', 'the server sent an invalid protocol message'],
    ['what is no message', 'data: {"a":1}\n\n', 'the server sent an invalid protocol message'],
    [
      'an event that never ends',
      `id: 1\ndata: \n\n${`data: ${'x'.repeat(1024 * 1024)}\n`.repeat(65)}`,
      'the server sent a message of more than 64 MiB',
    ],
  ])('fails a call that is answered with %s', async (_what, events, why) => {
    const service = await serveExample({ 'tools/call': events });
    const { call, connection } = connectTo({ type: 'http', url: service.url, headers: {} });
    await expect(call('echo', { text: 'x' })).rejects.toThrow(why);
    expect(connection.state.kind).toBe('connected');
  });
});
