import { describe, expect, it, test } from 'vitest';
import { type Ask, CallLimit } from '../../src/mcp/pending-calls.ts';
import { until, withEnoughTime } from '../base/directory.ts';
import { badEntry, connectTo, serveExample, started } from './servers.ts';
import { getEventListeners } from 'node:events';

describe('a question of a server while several calls are under way', () => {
  it('is not asked when it may be about the call of another agent, and a notice says so', async () => {
    const { connection, call, notices } = connectTo(started(badEntry('ask-late')));
    await connection.open();
    const questions: string[] = [];
    const askOf =
      (agent: string): Ask =>
      async () => {
        questions.push(agent);
        return { action: 'accept', content: { password: agent } };
      };
    const answers = await Promise.all([call('one', {}, askOf('A')), call('two', {}, askOf('B'))]);
    expect({ asked: questions, answers, notices: notices.slice(-1) }).toEqual({
      asked: [],
      answers: [{ action: 'decline' }, { action: 'decline' }],
      notices: [
        'MCP server srv: its question was declined: several agents have calls in progress, and it is not known which one it is for',
      ],
    });
  });

  it('is asked in the agent that made all of them, and costs none of them time', async () => {
    const answers = await withEnoughTime(
      300,
      async (callTimeoutMs) => {
        const { connection, call } = connectTo(started(badEntry('ask-late')), { callTimeoutMs });
        await connection.open();
        const ask: Ask = async () => {
          await new Promise((resolve) => setTimeout(resolve, 2 * callTimeoutMs));
          return { action: 'accept', content: { password: 'p' } };
        };
        const answered = Promise.all([call('one', {}, ask), call('two', {}, ask)]);
        return answered.catch((error: unknown) => error);
      },
      (input) => !(input instanceof Error),
    );
    const answer = { action: 'accept', content: { password: 'p' } };
    expect(answers).toEqual([answer, answer]);
  });

  it('is asked, over http, in the call that it came with', async () => {
    const params = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } };
    const question = { jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params };
    const { url } = await serveExample({
      'tools/call': `data: ${JSON.stringify(question)}\n\n`,
      'prompts/get': ': please wait\n\n',
    });
    const { connection, call } = connectTo({ type: 'http', url, headers: {} });
    await connection.open();
    const questions: string[] = [];
    const askOf =
      (agent: string): Ask =>
      async () => {
        questions.push(agent);
        return { action: 'cancel' };
      };
    const { signal } = new AbortController();
    const other = { method: 'prompts/get', params: { name: 'review' }, signal, ask: askOf('B') };
    const pending = [
      connection.request(other),
      call('ask', {}, askOf('A')),
      connection.request(other),
    ];
    await until(() => questions.length > 0);
    await Promise.all([connection.close(), Promise.allSettled(pending)]);
    expect(questions).toEqual(['A']);
  });
});

function timers(): number {
  return process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
}

test('a call that is done leaves nothing behind, also when its question is answered later', () => {
  const caller = new AbortController();
  const before = timers();
  const limit = new CallLimit(caller.signal, 600_000);
  const resume = limit.pause();
  limit.clear();
  resume();
  limit.restart();
  expect([timers(), getEventListeners(caller.signal, 'abort').length]).toEqual([before, 0]);
});

test('time stands still until every question is answered, whatever the server sends meanwhile', async () => {
  const limit = new CallLimit(new AbortController().signal, 10);
  const resumes = [limit.pause(), limit.pause()];
  limit.restart();
  resumes[0]?.();
  const other = new CallLimit(new AbortController().signal, 50);
  await until(() => other.hasExpired());
  const whileAsked = limit.hasExpired();
  resumes[1]?.();
  await until(() => limit.hasExpired());
  expect(whileAsked).toBe(false);
});

test('a call that fails does so with the reason', () => {
  const limit = new CallLimit(new AbortController().signal, 600_000);
  const reason = new TypeError('unreadable');
  limit.fail(reason);
  expect([limit.signal.reason, limit.hasExpired()]).toEqual([reason, false]);
  limit.clear();
});
