import { describe, expect, it } from 'vitest';
import { runProgram } from './sdk-program.ts';

/** Reports each event of a session without its id, its times and its snapshots. */
const WATCHING = `
import { ClineCore, createTool } from 'hookline';
const strip = (key, value) => {
  if (['sessionId', 'ts', 'durationMs'].includes(key)) return undefined;
  return value instanceof Error ? { message: value.message } : value;
};
const watch = async (session, more) => {
  const core = await ClineCore.create({ backendMode: 'local' });
  core.subscribe(({ type, payload }) => {
    if (type === 'session_snapshot' || type === 'hook') return;
    if (payload.event?.type === 'content_update' || payload.chunk?.includes('content_update')) return;
    console.log(JSON.stringify([type, payload], strip));
  });
  await core.start({ config: config(session), prompt: 'go', ...more });
  await core.dispose();
};
`;

interface Reported {
  readonly type: string;
  readonly contentType?: string;
  readonly text?: string;
  readonly parentAgentId?: string;
}

type Event = readonly [type: string, payload: { event?: Reported; chunk?: string }];

const agentEvents = (reports: readonly Event[]): readonly Reported[] =>
  reports.flatMap(([, { event }]) => event ?? []);

const withoutDuration = (key: string, value: unknown): unknown =>
  key === 'durationMs' ? undefined : value;

describe('a subscriber of a session without plugins', () => {
  it('hears text, tools, usage and the end, each also as a chunk', async () => {
    const { reports, workspace } = await runProgram<Event>(`${WATCHING} await watch({});`, [
      { text: 'Let me look.', tools: [{ name: 'run_commands', input: { commands: ['pwd'] } }] },
      { text: 'All done' },
    ]);
    const tool = { contentType: 'tool', toolName: 'run_commands', toolCallId: 'call_0_0' };
    const turn = { inputTokens: 100, outputTokens: 10, cost: 0.00035 };
    const output = [{ query: 'pwd', result: workspace.repo, success: true }];
    const texts = agentEvents(reports).filter(
      (event) => event.type !== 'content_start' || event.contentType !== 'text',
    );
    expect(texts).toEqual([
      { type: 'iteration_start', iteration: 1 },
      { type: 'usage', ...turn, totalInputTokens: 100, totalOutputTokens: 10, totalCost: 0.00035 },
      { type: 'content_end', contentType: 'text', text: 'Let me look.' },
      { type: 'content_start', ...tool, input: { commands: ['pwd'] } },
      { type: 'content_end', ...tool, output },
      { type: 'iteration_end', iteration: 1, hadToolCalls: true, toolCallCount: 1 },
      { type: 'iteration_start', iteration: 2 },
      { type: 'usage', ...turn, totalInputTokens: 200, totalOutputTokens: 20, totalCost: 0.0007 },
      { type: 'content_end', contentType: 'text', text: 'All done' },
      { type: 'iteration_end', iteration: 2, hadToolCalls: false, toolCallCount: 0 },
      {
        type: 'done',
        reason: 'completed',
        text: 'All done',
        iterations: 2,
        usage: { inputTokens: 200, outputTokens: 20, totalCost: 0.0007 },
      },
    ]);
    const chunks = reports.flatMap(([, { chunk }]): readonly unknown[] =>
      chunk === undefined ? [] : [JSON.parse(chunk, withoutDuration)],
    );
    expect(chunks).toEqual(agentEvents(reports));
    const streamed = agentEvents(reports)
      .filter((event) => event.type === 'content_start' && event.contentType === 'text')
      .map((event) => event.text);
    expect(streamed.join('')).toBe('Let me look.All done');
    expect(reports.filter(([type]) => type === 'status' || type === 'ended')).toEqual([
      ['status', { status: 'running' }],
      ['status', { status: 'completed' }],
      ['ended', { reason: 'completed' }],
    ]);
  });

  it('hears an error instead of the end when the model fails', async () => {
    const { reports } = await runProgram<Event>(
      `${WATCHING} await watch({ baseUrl: 'http://127.0.0.1:9' , fetch: async () =>
        new Response('{"error":{"message":"no such key"}}', { status: 401 }) });`,
      [],
    );
    expect(agentEvents(reports)).toEqual([
      { type: 'iteration_start', iteration: 1 },
      {
        type: 'error',
        error: { message: expect.stringContaining('rejected the API key') },
        errorClass: 'auth',
        recoverable: false,
        iteration: 1,
      },
    ]);
    expect(reports.slice(-2)).toEqual([
      ['status', { status: 'failed' }],
      ['ended', { reason: 'error' }],
    ]);
  });

  it('hears of a turn whose calls all failed as an error that the run survives', async () => {
    const { reports } = await runProgram<Event>(
      `${WATCHING}
      const fail = createTool({
        name: 'fail',
        description: 'fails',
        inputSchema: { type: 'object' },
        execute: async () => { throw new Error('broken'); },
      });
      const work = createTool({ ...fail, name: 'work', execute: async () => 'done' });
      await watch({ extraTools: [fail, work] });`,
      [
        { tools: [{ name: 'fail', input: {} }] },
        {
          tools: [
            { name: 'fail', input: { a: 1 } },
            { name: 'work', input: {} },
          ],
        },
        { text: 'Done.' },
      ],
    );
    const problems = agentEvents(reports).filter((event) => event.type === 'error');
    expect(problems).toEqual([
      {
        type: 'error',
        error: { message: '1 tool call(s) failed: [fail] {"error":"broken"}' },
        recoverable: true,
        iteration: 1,
      },
    ]);
  });

  it('hears sub-agents, with the id of their parent', async () => {
    const { reports } = await runProgram<Event>(
      `${WATCHING} await watch({ sessionId: 'lead', enableSpawnAgent: true });`,
      [
        { tools: [{ name: 'spawn_agent', input: { systemPrompt: 'sub', task: 'count' } }] },
        { text: 'one' },
        { text: 'There is one.' },
      ],
    );
    const texts = agentEvents(reports).flatMap((event) =>
      event.type === 'content_end' && event.contentType === 'text'
        ? [[event.text, event.parentAgentId ?? null]]
        : [],
    );
    expect(texts).toEqual([
      ['one', 'lead'],
      ['There is one.', null],
    ]);
  });
});

it('a session that waits is idle, and has the status of its last run when it is stopped', async () => {
  const { reports } = await runProgram(
    `
    import { ClineCore } from 'hookline';
    const core = await ClineCore.create();
    core.subscribe(({ type, payload }) => {
      if (type === 'status') report(payload.status);
      if (type === 'session_snapshot') report(['snapshot', payload.snapshot.status, payload.snapshot.usage?.inputTokens]);
      if (type === 'ended') report(['ended', payload.reason]);
    });
    const { sessionId } = await core.start({ config: config(), interactive: true });
    await core.send({ sessionId, prompt: 'go' });
    await core.stop(sessionId);
    report((await core.get(sessionId)).status);
    await core.dispose();
    `,
    [{ text: 'Done.' }],
  );
  expect(reports).toEqual([
    'idle',
    ['snapshot', 'idle', 0],
    'running',
    ['snapshot', 'running', 0],
    'idle',
    ['snapshot', 'idle', 100],
    'completed',
    ['snapshot', 'completed', 100],
    ['ended', 'stopped'],
    'completed',
  ]);
});
