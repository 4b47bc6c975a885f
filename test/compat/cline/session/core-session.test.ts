import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ClineCore } from '../../../../src/compat/cline/cline-core.ts';
import { isSessionNotFoundError } from '../../../../src/compat/cline/errors.ts';
import type { ToolApprovalRequest } from '../../../../src/compat/cline/start-input.ts';
import { moment } from '../../../agent/scripted-session.ts';
import {
  answers,
  call,
  createSdkFixture,
  DONE,
  hooksOf,
  type SdkFixture,
  toolPlugin,
} from '../sdk-fixture.ts';

async function caught(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return null;
  } catch (error) {
    return error;
  }
}

/** A tool that reports that it runs, and ends when it is released or aborted. */
function waitingTool() {
  const runStarted = moment();
  const letGo = moment();
  const plugin = toolPlugin('wait', async () => {
    runStarted.reach();
    await letGo.reached;
    return 'waited';
  });
  return { plugin, begun: runStarted.reached, letGo: () => letGo.reach() };
}

const statuses = (fixture: SdkFixture): readonly string[] =>
  fixture.events.flatMap(({ type, payload }) =>
    type === 'status' && 'status' in payload ? [payload.status] : [],
  );

describe('start', () => {
  it('runs a prompt to its end and returns its result', async () => {
    const fixture = await createSdkFixture([call('one'), DONE]);
    const startResult = await fixture.start(
      { sessionId: 'my-session', extensions: [toolPlugin('one', () => 'ran')] },
      { sessionMetadata: { why: 'test' } },
    );
    const directory = path.join(fixture.home, '.hookline', 'sessions', 'my-session');
    const ts = expect.any(Number);
    const answered = {
      ts,
      modelInfo: { id: 'gpt-4o', provider: 'openai-compatible' },
      metrics: {
        inputTokens: 100,
        outputTokens: 10,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        cost: 0.00035,
      },
    };
    expect(startResult).toEqual({
      sessionId: 'my-session',
      manifestPath: path.join(directory, 'my-session.json'),
      messagesPath: path.join(directory, 'my-session.messages.json'),
      manifest: {
        version: 1,
        session_id: 'my-session',
        source: 'core',
        pid: process.pid,
        started_at: expect.any(String),
        status: 'running',
        interactive: false,
        provider: 'openai-compatible',
        model: 'gpt-4o',
        cwd: fixture.workspace,
        workspace_root: fixture.workspace,
        enable_tools: true,
        enable_spawn: false,
        enable_teams: false,
        prompt: 'go',
        metadata: { why: 'test' },
        messages_path: path.join(directory, 'my-session.messages.json'),
      },
      result: {
        text: 'Done.',
        usage: {
          inputTokens: 200,
          outputTokens: 20,
          totalCost: 0.0007,
        },
        messages: [
          { id: 'message-0', role: 'user', ts, content: [{ type: 'text', text: 'go' }] },
          {
            id: 'message-1',
            role: 'assistant',
            ...answered,
            content: [{ type: 'tool_use', id: 'call_0_0', name: 'one', input: {} }],
          },
          {
            id: 'message-2',
            role: 'user',
            ts,
            content: [
              { type: 'tool_result', tool_use_id: 'call_0_0', name: 'one', content: 'ran' },
            ],
          },
          {
            id: 'message-3',
            role: 'assistant',
            ...answered,
            content: [{ type: 'text', text: 'Done.' }],
          },
        ],
        toolCalls: [
          {
            id: 'call_0_0',
            name: 'one',
            input: {},
            output: 'ran',
            durationMs: expect.any(Number),
            startedAt: expect.any(Date),
            endedAt: expect.any(Date),
          },
        ],
        iterations: 2,
        finishReason: 'completed',
        model: { id: 'gpt-4o', provider: 'openai-compatible' },
        startedAt: expect.any(Date),
        endedAt: expect.any(Date),
        durationMs: expect.any(Number),
      },
    });
    expect(JSON.parse(readFileSync(startResult.manifestPath, 'utf8'))).toMatchObject({
      status: 'completed',
      exit_code: 0,
    });
    expect(JSON.parse(readFileSync(startResult.messagesPath, 'utf8'))).toMatchObject({
      sessionId: 'my-session',
      messages: startResult.result?.messages,
    });
    expect(statuses(fixture)).toEqual(['running', 'completed']);
    expect(fixture.events.at(-1)).toMatchObject({
      type: 'ended',
      payload: { reason: 'completed' },
    });
  });

  it('emits events while the agent works', async () => {
    const fixture = await createSdkFixture([call('one'), { text: 'Fine.' }]);
    await fixture.start({ extensions: [toolPlugin('one', () => 'ran')] });
    const reports = fixture.agentEvents();
    const types = reports.map(({ type }) => type).filter((type, at, all) => all[at - 1] !== type);
    expect(types).toEqual([
      'iteration_start',
      'usage',
      'content_start',
      'content_end',
      'iteration_end',
      'iteration_start',
      'content_start',
      'usage',
      'content_end',
      'iteration_end',
      'done',
    ]);
    expect(reports.at(-1)).toEqual({
      type: 'done',
      reason: 'completed',
      text: 'Fine.',
      iterations: 2,
      usage: {
        inputTokens: 200,
        outputTokens: 20,
        totalCost: 0.0007,
      },
    });
    const chunks = fixture.events.flatMap(({ type, payload }) =>
      type === 'chunk' && 'chunk' in payload ? [JSON.parse(payload.chunk)] : [],
    );
    expect(chunks).toEqual(reports);
  });

  it('goes on from messages in its options', async () => {
    const fixture = await createSdkFixture([DONE]);
    await fixture.start(
      {},
      {
        initialMessages: [
          { role: 'user', content: 'my name is Ada' },
          { role: 'assistant', content: [{ type: 'text', text: 'Hello Ada.' }] },
        ],
      },
    );
    expect(fixture.service.requests()[0]?.messages.map(({ text }) => text)).toEqual([
      'my name is Ada',
      'Hello Ada.',
      'go',
    ]);
  });

  it('takes up a stored session by its id', async () => {
    const fixture = await createSdkFixture([{ text: 'One.' }, { text: 'Two.' }]);
    await fixture.start({ sessionId: 'long-one' });
    await fixture.start({ sessionId: 'long-one' }, { prompt: 'on' });
    expect(fixture.service.requests()[1]?.messages.map(({ text }) => text)).toEqual([
      'go',
      'One.',
      'on',
    ]);
  });

  it('sends requests by the fetch and with the headers of its options', async () => {
    const records: string[] = [];
    const fixture = await createSdkFixture([DONE], {
      fetch(input, init) {
        records.push(`${new Headers(init?.headers).get('x-team')}`);
        return globalThis.fetch(input, init);
      },
    });
    await fixture.start({ headers: { 'x-team': 'blue' }, temperature: 0.25 });
    expect(records).toEqual(['blue']);
    expect(fixture.service.mock.getRequests()[0]?.body).toMatchObject({ temperature: 0.25 });
  });

  it('returns the error as the result when the model fails, and rejects when it is used wrongly', async () => {
    const fixture = await createSdkFixture([]);
    fixture.service.mock.nextRequestError(401, { message: 'no' });
    const { result } = await fixture.start();
    expect(result).toMatchObject({ finishReason: 'error', iterations: 1 });
    expect(result?.text).toContain('401');
    expect(await caught(fixture.start({ providerId: 'open-router' }))).toMatchObject({
      code: 'MODEL_UNKNOWN',
      message: 'unknown model provider "open-router"',
    });
    expect(await caught(ClineCore.create({ backendMode: 'hub' }))).toMatchObject({
      code: 'SDK_UNSUPPORTED',
      message: 'Hookline has no backend "hub"',
    });
  });

  it('ends with max_iterations when there are too many', async () => {
    const fixture = await createSdkFixture([call('one'), call('one'), DONE]);
    const { result } = await fixture.start({
      maxIterations: 1,
      extensions: [toolPlugin('one', () => 'ran')],
    });
    expect(result).toMatchObject({ finishReason: 'max_iterations', iterations: 1 });
  });
});

describe('an interactive session', () => {
  it('accepts further prompts, and adds up their usage', async () => {
    const fixture = await createSdkFixture([{ text: 'One.' }, { text: 'Two.' }]);
    const { sessionId, result } = await fixture.start({}, { interactive: true });
    expect(result?.text).toBe('One.');
    const second = await fixture.core.send({ sessionId, prompt: 'more' });
    expect(second).toMatchObject({ text: 'Two.', iterations: 1, usage: { inputTokens: 100 } });
    expect(await fixture.core.getAccumulatedUsage(sessionId)).toMatchObject({
      usage: { inputTokens: 200, outputTokens: 20, totalCost: 0.0007 },
    });
    expect((await fixture.core.get(sessionId))?.status).toBe('idle');
  });

  it('waits for its first prompt when it was started without', async () => {
    const fixture = await createSdkFixture([DONE]);
    const { sessionId, result } = await fixture.core.start({ config: fixture.config() });
    expect(result).toBeUndefined();
    expect((await fixture.core.send({ sessionId, prompt: 'hello' }))?.text).toBe('Done.');
  });

  it('is steered and given prompts for later while it works', async () => {
    const tool = waitingTool();
    const fixture = await createSdkFixture([call('wait'), { text: 'One.' }, { text: 'Two.' }]);
    const { sessionId } = await fixture.core.start({
      config: fixture.config({ extensions: [tool.plugin] }),
    });
    const { core } = fixture;
    const running = core.send({ sessionId, prompt: 'go' });
    await tool.begun;
    expect(await core.send({ sessionId, prompt: 'left', delivery: 'steer' })).toBeUndefined();
    expect(await core.send({ sessionId, prompt: 'later', delivery: 'queue' })).toBeUndefined();
    expect(await caught(core.send({ sessionId, prompt: 'now' }))).toMatchObject({
      code: 'SESSION_BUSY',
    });
    const [waiting] = await core.pendingPrompts.list({ sessionId });
    expect(waiting).toMatchObject({ prompt: 'later', delivery: 'queue' });
    const promptId = waiting?.id ?? '';
    await core.pendingPrompts.update({ sessionId, promptId, prompt: 'much later' });
    const drained = moment();
    core.subscribe(({ type, payload }) => {
      const isIdle = type === 'status' && 'status' in payload && payload.status === 'idle';
      if (isIdle && fixture.service.requests().length === 3) drained.reach();
    });
    tool.letGo();
    expect((await running)?.text).toBe('One.');
    await drained.reached;
    const texts = fixture.service
      .requests()
      .map(({ messages }) => messages.map(({ text }) => text));
    expect(texts[1]).toContain('left');
    expect(texts[2]?.at(-1)).toBe('much later');
  });

  it('is aborted: the run ends, the session goes on', async () => {
    const tool = waitingTool();
    const fixture = await createSdkFixture([call('wait'), DONE]);
    const { sessionId } = await fixture.core.start({
      config: fixture.config({ extensions: [tool.plugin] }),
    });
    const running = fixture.core.send({ sessionId, prompt: 'go' });
    await tool.begun;
    await fixture.core.abort(sessionId, 'enough');
    expect(await running).toMatchObject({ finishReason: 'aborted', stopReason: 'enough' });
    expect((await fixture.core.send({ sessionId, prompt: 'on' }))?.text).toBe('Done.');
  });

  it('is stopped: it can be read and takes no more prompts', async () => {
    const fixture = await createSdkFixture([DONE]);
    const { sessionId } = await fixture.start({}, { interactive: true });
    await fixture.core.stop(sessionId);
    const error = await caught(fixture.core.send({ sessionId, prompt: 'on' }));
    expect(isSessionNotFoundError(error)).toBe(true);
    expect(error).toMatchObject({ code: 'session_not_found', sessionId });
    expect(await fixture.core.readMessages(sessionId)).toHaveLength(2);
    expect((await fixture.core.get(sessionId))?.status).toBe('completed');
    expect(fixture.events.at(-1)).toMatchObject({ type: 'ended', payload: { reason: 'stopped' } });
  });

  it('gives up a prompt that takes too long', async () => {
    const tool = waitingTool();
    const fixture = await createSdkFixture([call('wait'), DONE]);
    const { sessionId } = await fixture.core.start({
      config: fixture.config({ extensions: [tool.plugin] }),
    });
    const result = await fixture.core.send({ sessionId, prompt: 'go', timeoutMs: 200 });
    expect(result).toMatchObject({
      finishReason: 'aborted',
      stopReason: 'it took longer than 200 ms',
    });
  });

  it('goes on with another model unless a hook refuses it', async () => {
    const fixture = await createSdkFixture([{ text: 'One.' }, { text: 'Two.' }]);
    const { sessionId } = await fixture.start({}, { interactive: true });
    await fixture.core.updateSessionModel(sessionId, 'gpt-4.1');
    const result = await fixture.core.send({ sessionId, prompt: 'on' });
    expect(result?.model).toEqual({ id: 'gpt-4.1', provider: 'openai-compatible' });
    expect(fixture.service.requests().map(({ model }) => model)).toEqual(['gpt-4o', 'gpt-4.1']);
  });
});

it('runs several sessions at once, each with its own plugins, workspace and events', async () => {
  const fixture = await createSdkFixture([call('name'), call('name'), DONE, DONE]);
  const both = moment();
  let running = 0;
  const own = (name: string) =>
    toolPlugin('name', async () => {
      running += 1;
      if (running === 2) both.reach();
      await both.reached;
      return name;
    });
  const eventsBySession: Record<string, string[]> = { a: [], b: [] };
  for (const id of ['a', 'b']) {
    fixture.core.subscribe((event) => eventsBySession[id]?.push(event.payload.sessionId), {
      sessionId: id,
    });
  }
  const startResults = await Promise.all(
    ['a', 'b'].map((id) => fixture.start({ sessionId: id, extensions: [own(id)] })),
  );
  expect(startResults.map(({ result }) => result?.toolCalls.map(({ output }) => output))).toEqual([
    ['a'],
    ['b'],
  ]);
  expect([new Set(eventsBySession['a']), new Set(eventsBySession['b'])]).toEqual([
    new Set(['a']),
    new Set(['b']),
  ]);
  expect((await fixture.core.list()).map(({ sessionId }) => sessionId).toSorted()).toEqual([
    'a',
    'b',
  ]);
});

describe('stored sessions', () => {
  it('are listed, changed, read by another core, and deleted', async () => {
    const fixture = await createSdkFixture([DONE]);
    const { sessionId, manifestPath } = await fixture.start();
    expect(await fixture.core.update(sessionId, { title: 'First' })).toEqual({ updated: true });
    const other = await ClineCore.create();
    expect(await other.get(sessionId)).toMatchObject({ sessionId, metadata: { title: 'First' } });
    expect(await other.readMessages(sessionId)).toHaveLength(2);
    expect(await caught(other.readMessages('nobody'))).toMatchObject({ code: 'session_not_found' });
    expect(await other.delete(sessionId)).toBe(true);
    expect(await other.delete(sessionId)).toBe(false);
    expect(existsSync(manifestPath)).toBe(false);
    await other.dispose();
  });
});

describe('approvals', () => {
  it('are asked of the program, in the words of the call', async () => {
    const approvalRequests: ToolApprovalRequest[] = [];
    const fixture = await createSdkFixture(
      [
        call('run_commands', { commands: ['echo one'] }),
        call('run_commands', { commands: ['echo two'] }),
        DONE,
      ],
      {
        toolPolicies: { run_commands: { autoApprove: false } },
        capabilities: {
          requestToolApproval(request) {
            approvalRequests.push(request);
            const approved = JSON.stringify(request.input).includes('one');
            return approved ? { approved } : { approved, reason: 'not two' };
          },
        },
      },
    );
    const { sessionId } = await fixture.start();
    expect(approvalRequests).toEqual(
      ['one', 'two'].map((word, index) => ({
        sessionId,
        agentId: sessionId,
        conversationId: sessionId,
        iteration: index + 1,
        toolCallId: `call_${index}_0`,
        toolName: 'run_commands',
        input: { commands: [`echo ${word}`] },
        policy: { autoApprove: false },
      })),
    );
    expect(answers(fixture)).toEqual(['one', 'The user denied this call: not two']);
  });

  it('are denied when no user is present; disabled tools are not offered', async () => {
    const fixture = await createSdkFixture([
      call('run_commands', { commands: ['echo one'] }),
      DONE,
    ]);
    await fixture.start({
      toolPolicies: { '*': { autoApprove: false }, read_files: { enabled: false } },
    });
    expect(answers(fixture)).toEqual(['Tool "run_commands" needs an approval by policy']);
    expect(fixture.service.requests()[0]?.tools).not.toContain('read_files');
  });

  it('of questions go to the program, too', async () => {
    const fixture = await createSdkFixture([
      call('ask_question', { question: 'Which?', options: ['a', 'b'] }),
      DONE,
    ]);
    await fixture.start(
      {},
      {
        capabilities: { toolExecutors: { askQuestion: (_question, options) => options[1] ?? '' } },
      },
    );
    expect(answers(fixture)[0]).toContain('b');
  });
});

it('changes files with the tools of Cline’s SDK, and rules of the user still hold', async () => {
  const fixture = await createSdkFixture([
    call('editor', { path: 'a.txt', new_text: 'hello\n' }),
    call('run_commands', { commands: ['cat a.txt'] }),
    DONE,
  ]);
  writeFileSync(path.join(fixture.workspace, 'AGENTS.md'), 'Be kind.\n');
  const { result } = await fixture.start({ extensions: [hooksOf({})] });
  expect(readFileSync(path.join(fixture.workspace, 'a.txt'), 'utf8')).toBe('hello\n');
  expect(result?.toolCalls.map(({ name, output }) => [name, output])).toMatchObject([
    ['editor', { success: true }],
    ['run_commands', [{ query: 'cat a.txt', result: 'hello', success: true }]],
  ]);
  expect(fixture.service.requests()[0]?.system).toMatch(/^SYS\n\n# Instructions[\s\S]*Be kind\./);
});

it('ends what runs when the core is disposed, and stores its state', async () => {
  const tool = waitingTool();
  const fixture = await createSdkFixture([call('wait'), DONE]);
  const starting = fixture.start({ sessionId: 'short', extensions: [tool.plugin] });
  await tool.begun;
  const endedSessions: string[] = [];
  fixture.core.subscribe(({ type, payload }) => {
    if (type === 'ended' && 'reason' in payload) endedSessions.push(payload.reason);
  });
  await fixture.core.dispose('closing');
  expect((await starting).result).toMatchObject({ finishReason: 'aborted', stopReason: 'closing' });
  expect(endedSessions).toEqual(['closing']);
  expect(await fixture.core.getAccumulatedUsage('short')).toMatchObject({
    usage: { inputTokens: 100 },
  });
});

it('rejects clearly what it does not support', async () => {
  const fixture = await createSdkFixture([]);
  expect(await caught(fixture.core.restore())).toMatchObject({ code: 'SDK_UNSUPPORTED' });
  expect(() => fixture.core.automation).toThrow('Hookline has no automation yet');
  expect(await caught(ClineCore.create({ automation: true }))).toMatchObject({
    code: 'SDK_UNSUPPORTED',
  });
});
