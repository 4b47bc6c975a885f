import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import {
  Agent,
  type AgentModelEvent,
  type AgentModelRequest,
  type AgentPlugin,
  AgentRuntime,
  type AgentRuntimeConfig,
  type AgentRuntimeEvent,
  type AgentTool,
  createAgent,
  createAgentRuntime,
} from '../../../../src/index.ts';

const ADD: AgentTool<{ a: number; b: number }> = {
  name: 'add',
  description: 'Adds.',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  execute: ({ a, b }) => a + b,
};

function open(config: AgentRuntimeConfig): Agent {
  const agent = new Agent(config);
  onTestFinished(() => agent.dispose());
  return agent;
}

/** A model of the test's own that answers with these events, one list for each request. */
function ownModel(answers: readonly (readonly AgentModelEvent[])[]) {
  const requests: AgentModelRequest[] = [];
  return {
    requests,
    async *stream(request: AgentModelRequest): AsyncGenerator<AgentModelEvent> {
      requests.push(request);
      yield* answers[requests.length - 1] ?? [];
    },
  };
}

const SAID: readonly AgentModelEvent[] = [
  { type: 'text-delta', text: 'It is ' },
  { type: 'text-delta', text: '3.' },
  { type: 'usage', usage: { inputTokens: 10, outputTokens: 4 } },
  { type: 'finish', reason: 'stop' },
];
const CALLED: readonly AgentModelEvent[] = [
  { type: 'reasoning-delta', text: 'hm' },
  { type: 'tool-call-delta', index: 0, toolCallId: 'c1', toolName: 'add', inputText: '{"a":1,' },
  { type: 'tool-call-delta', index: 0, inputText: '"b":2}' },
  { type: 'finish', reason: 'tool-calls' },
];

describe('an agent by itself', () => {
  it('asks the program’s own model, and runs the program’s own tools', async () => {
    const model = ownModel([CALLED, SAID]);
    const agent = open({
      model,
      tools: [ADD],
      systemPrompt: 'SYS',
      modelOptions: { temperature: 0 },
    });
    const events: AgentRuntimeEvent[] = [];
    agent.subscribe((event) => events.push(event));
    const result = await agent.run('How much is 1 and 2?');
    expect(result).toMatchObject({
      status: 'completed',
      iterations: 2,
      outputText: 'It is 3.',
      usage: { inputTokens: 10, outputTokens: 4 },
    });
    expect(model.requests[0]).toMatchObject({
      systemPrompt: 'SYS',
      tools: [{ name: 'add', description: 'Adds.' }],
      options: { temperature: 0 },
      messages: [{ role: 'user', content: [{ type: 'text', text: 'How much is 1 and 2?' }] }],
    });
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'add', output: 3 }],
    });
    expect(events[0]?.type).toBe('run-started');
    expect(events.at(-1)?.type).toBe('run-finished');
    expect(agent.snapshot()).toMatchObject({ status: 'completed', iteration: 2 });
    expect(agent.snapshot().messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
  });

  it('goes on with its conversation, or with another one', async () => {
    const model = ownModel([SAID, SAID, SAID, SAID]);
    const agent = open({ model });
    expect(agent.snapshot()).toMatchObject({ status: 'idle', messages: [] });
    await agent.run('one');
    await agent.continue('two');
    expect(model.requests[1]?.messages).toHaveLength(3);
    const text = (id: string, role: 'user' | 'assistant', text: string) => ({
      id,
      role,
      content: [{ type: 'text' as const, text }],
      createdAt: 0,
    });
    const saved = [text('1', 'user', 'before'), text('2', 'assistant', 'yes')];
    agent.restore(saved);
    expect(agent.snapshot().messages).toEqual(saved);
    await agent.run('three');
    expect(model.requests[2]?.messages.map(({ content }) => content)).toEqual([
      [{ type: 'text', text: 'before' }],
      [{ type: 'text', text: 'yes' }],
      [{ type: 'text', text: 'three' }],
    ]);
    await agent.run([
      text('3', 'user', 'aside'),
      text('4', 'assistant', 'ok'),
      text('5', 'user', 'four'),
    ]);
    expect(model.requests[3]?.messages).toHaveLength(7);
    await expect(agent.run([saved[1]!])).rejects.toThrow('the last one is the user’s');
  });

  it('has hooks, and plugins of its own shape or of sessions', async () => {
    const events: string[] = [];
    const session: AgentPlugin = {
      name: 'of-sessions',
      manifest: { capabilities: ['tools'] },
      setup: (api) => api.registerTool({ ...ADD, name: 'other' }),
    };
    const model = ownModel([CALLED, SAID]);
    const agent = open({
      model,
      agentId: 'me',
      agentRole: 'adder',
      hooks: { beforeRun: () => void events.push('beforeRun') },
      plugins: [
        {
          name: 'own',
          setup: ({ agentId, agentRole }) => {
            events.push(`setup ${agentId} ${agentRole}`);
            return {
              tools: [ADD],
              hooks: {
                beforeTool: ({ toolCall }) => ({ skip: true, reason: `no ${toolCall.toolName}` }),
              },
            };
          },
        },
        session,
      ],
    });
    const result = await agent.run('go');
    expect(result.agentId).toBe('me');
    expect(events).toEqual(['setup me adder', 'beforeRun']);
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['add', 'other']);
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('no add');
  });

  it('may be aborted, and its result says so', async () => {
    const model = {
      async *stream({ signal }: AgentModelRequest): AsyncGenerator<AgentModelEvent> {
        yield { type: 'text-delta', text: 'well ' };
        await new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }));
      },
    };
    const agent = open({ model });
    agent.subscribe((event) => {
      if (event.type === 'assistant-text-delta') agent.abort('enough');
    });
    expect(await agent.run('go')).toMatchObject({ status: 'aborted', stopReason: 'enough' });
    await expect(
      Promise.all([agent.run('a').finally(() => undefined), agent.run('b')]),
    ).rejects.toThrow('is working on another prompt');
  });

  it('fails by value when its model does, and asks before tools where a policy wants it', async () => {
    const failing = open({
      model: ownModel([[{ type: 'finish', reason: 'error', error: 'the api key was refused' }]]),
    });
    expect(await failing.run('go')).toMatchObject({
      status: 'failed',
      error: expect.objectContaining({
        message: expect.stringContaining('the api key was refused'),
      }),
    });
    const askedTools: string[] = [];
    const model = ownModel([CALLED, SAID]);
    const careful = open({
      model,
      tools: [ADD],
      toolPolicies: { add: { autoApprove: false } },
      requestToolApproval: ({ toolName }) => {
        askedTools.push(toolName);
        return { approved: false, reason: 'not now' };
      },
    });
    await careful.run('go');
    expect(askedTools).toEqual(['add']);
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('not now');
  });

  it('accepts a provider by name instead', async () => {
    const agent = createAgent({
      providerId: 'scripted',
      modelId: 'x',
      script: [{ tools: [{ name: 'add', input: { a: 1, b: 1 } }] }, { text: 'two' }],
      tools: [ADD],
      maxIterations: 5,
    });
    onTestFinished(() => agent.dispose());
    expect(await agent.run('go')).toMatchObject({ outputText: 'two', iterations: 2 });
    expect(createAgentRuntime({ providerId: 'scripted', modelId: 'x' })).toBeInstanceOf(
      AgentRuntime,
    );
    expectTypeOf<Agent>().toEqualTypeOf<AgentRuntime>();
  });

  it('reports what is wrong with its options', () => {
    expect(() => new Agent(JSON.parse('{}'))).toThrow(
      'expected providerId to be a text, found nothing',
    );
    expect(() => new Agent(JSON.parse('{"model":{}}'))).toThrow('an object with stream(request)');
    expect(
      () => new Agent({ providerId: 'a', modelId: 'b', prepareTurn: () => undefined }),
    ).toThrow('Hookline has no prepareTurn for standalone agents');
  });
});
