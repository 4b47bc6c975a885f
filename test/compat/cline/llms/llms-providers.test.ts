import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Message } from '../../../../src/sessions/messages.ts';
import type { AgentPlugin } from '../../../../src/plugins/contract/plugin.ts';
import * as Llms from '../../../../src/compat/cline/llms/llms.ts';
import { startService } from '../../../e2e/service.ts';
import {
  clearRegisteredProviders,
  modelsWith,
  providerPlugin,
  READ_AND_ANSWER,
  runWith,
  setUp,
} from './provider-fixture.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  Llms.resetRegistry();
  clearRegisteredProviders();
});

const KEY = 'a-key-of-nobody';

describe('a provider that a plugin describes with api.registerProvider', () => {
  it.each([
    ['openai-chat', 'authorization', '/v1/chat/completions'],
    ['anthropic', 'x-api-key', '/v1/messages'],
    ['openai-responses', 'authorization', '/v1/responses'],
    ['gemini', 'x-goog-api-key', '/v1beta/models/tiny:streamGenerateContent'],
  ])('serves a whole run in the format %s', async (protocol, header, address) => {
    const service = await startService(READ_AND_ANSWER);
    const { providers, issues } = await setUp(
      providerPlugin('mine', {
        baseUrl: service.url,
        protocol,
        apiKeyEnv: 'MINE_API_KEY',
        defaultModelId: 'tiny',
        models: {
          tiny: { id: 'tiny', contextWindow: 50_000, pricing: { input: 1000, output: 10_000 } },
        },
      }),
    );
    const models = modelsWith({
      providers,
      selection: { provider: 'mine' },
      env: { MINE_API_KEY: KEY },
    });
    const model = await models.openOwn();

    const result = await runWith(model);

    expect(issues).toEqual([]);
    expect(model).toMatchObject({ provider: 'mine', id: 'tiny', contextTokens: 50_000 });
    expect(result).toMatchObject({
      status: 'completed',
      text: 'It says hello.',
      iterations: 2,
      usage: { inputTokens: 200, outputTokens: 20 },
      costUsd: 0.4,
    });
    const sentRequests = service.requests();
    expect(sentRequests.map(({ model: id }) => id)).toEqual(['tiny', 'tiny']);
    expect(JSON.stringify(sentRequests[1]?.messages)).toContain('hello from the notes');
    const [request] = service.mock.getRequests();
    expect(request?.path).toContain(address);
    expect(request?.headers).toHaveProperty(header);
  });

  it('uses chat completions by default, with its own headers', async () => {
    const service = await startService([{ text: 'Good morning.' }]);
    const { providers } = await setUp(
      providerPlugin('plain', { baseUrl: service.url, headers: { 'x-team': 'blue' } }),
    );
    const models = modelsWith({ providers, selection: { provider: 'plain', model: 'any' } });

    const result = await runWith(await models.openOwn());

    expect(result).toMatchObject({ text: 'Good morning.', costUsd: null });
    const [request] = service.mock.getRequests();
    expect(request?.path).toBe('/v1/chat/completions');
    expect(request?.headers).toMatchObject({ 'x-team': 'blue' });
    expect(request?.headers).not.toHaveProperty('authorization');
  });

  it('is reached at another address when the user names one', async () => {
    const service = await startService([{ text: 'Here.' }]);
    const { providers } = await setUp(
      providerPlugin('mine', { baseUrl: 'http://127.0.0.1:9/v1', env: ['MINE_API_KEY'] }),
    );
    const selection = { provider: 'mine', model: 'tiny', baseUrl: service.url, key: KEY };

    const result = await runWith(await modelsWith({ providers, selection }).openOwn());

    expect(result.text).toBe('Here.');
    expect(service.mock.getRequests()[0]?.headers).toHaveProperty('authorization');
  });

  it('belongs to the session whose plugin brought it', async () => {
    const brought = await setUp(providerPlugin('only-here', { baseUrl: 'http://127.0.0.1:9' }));
    const other = await setUp();
    expect(brought.providers.find('only-here')).not.toBeNull();
    expect(other.providers.find('only-here')).toBeNull();
  });
});

/** As Cline's example of a provider plugin has it: registered in both ways, under an id of its own. */
function routerPlugin(baseUrl: string): AgentPlugin {
  const models: Record<string, Llms.ModelInfo> = {
    'maker/great': {
      id: 'maker/great',
      name: 'Great',
      contextWindow: 200_000,
      maxTokens: 8192,
      capabilities: ['tools', 'streaming', 'prompt-cache', 'reasoning', 'images'],
      pricing: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    },
    'maker/small': { id: 'maker/small', contextWindow: 64_000, pricing: { input: 1, output: 2 } },
  };
  const provider: Llms.ProviderInfo = {
    id: 'router-plugin',
    name: 'Router (plugin)',
    description: 'A router that a plugin registers.',
    protocol: 'openai-chat',
    client: 'openai-compatible',
    baseUrl,
    defaultModelId: 'maker/great',
    env: ['ROUTER_API_KEY'],
    capabilities: ['tools', 'streaming', 'prompt-cache', 'reasoning', 'vision'],
    source: 'file',
  };
  const collection: Llms.ModelCollection = { provider, models };
  return {
    name: 'router-provider',
    manifest: { capabilities: ['providers'], providerIds: ['router-plugin'] },
    setup(api) {
      Llms.registerProvider(collection);
      api.registerProvider({
        name: 'router-plugin',
        description: 'a router',
        metadata: {
          baseUrl,
          apiKeyEnv: 'ROUTER_API_KEY',
          defaultModelId: 'maker/great',
          modelIds: Object.keys(models),
          clineModelCollection: collection,
        },
      });
    },
  };
}

describe('a provider that is registered with Llms.registerProvider', () => {
  it('serves a whole run, as the official example has it', async () => {
    const service = await startService(READ_AND_ANSWER);
    const { providers, issues } = await setUp(routerPlugin(`${service.url}/v1`));
    const models = modelsWith({
      providers,
      selection: { provider: 'router-plugin' },
      env: { ROUTER_API_KEY: KEY },
    });

    const result = await runWith(await models.openOwn());

    expect(issues).toEqual([]);
    expect(result).toMatchObject({
      text: 'It says hello.',
      usage: { inputTokens: 200, outputTokens: 20 },
      costUsd: 0.0009,
    });
    expect(service.requests()[0]?.model).toBe('maker/great');
    expect(service.mock.getRequests()[0]?.headers).toHaveProperty('authorization');
  });

  it('is found by later sessions, with models that were registered after it', async () => {
    const service = await startService([{ text: 'Later.' }]);
    await setUp(routerPlugin(`${service.url}/v1`));
    Llms.registerModel('router-plugin', 'maker/new', {
      id: 'maker/new',
      maxInputTokens: 5000,
      pricing: { input: 100, output: 100 },
    });
    const { providers } = await setUp();
    const models = modelsWith({
      providers,
      selection: { provider: 'router-plugin', model: 'maker/new', key: KEY },
    });

    const model = await models.openOwn();
    const result = await runWith(model);

    expect(model.contextTokens).toBe(5000);
    expect(result).toMatchObject({ text: 'Later.', costUsd: 0.011 });
  });

  it('is gone once it is unregistered', async () => {
    await setUp(routerPlugin('http://127.0.0.1:9/v1'));
    expect(Llms.unregisterProvider('router-plugin')).toBe(true);
    expect((await setUp()).providers.find('router-plugin')).toBeNull();
  });
});

/** A handler that plays these turns, whoever asks, and keeps what it was asked. */
function playing(turns: readonly Llms.ApiStreamChunk[][]) {
  const sentRequest: {
    config: Llms.ProviderConfig;
    system: string;
    messages: unknown;
    tools: string[];
  }[] = [];
  let next = 0;
  const factory = (config: Llms.ProviderConfig): Llms.ApiHandler => ({
    getMessages: (_system, messages) => messages,
    getModel: () => ({
      id: config.modelId === '' ? 'own-model' : config.modelId,
      info: { id: config.modelId, contextWindow: 9000, pricing: { input: 10, output: 100 } },
    }),
    async *createMessage(system, messages, tools = []) {
      sentRequest.push({ config, system, messages, tools: tools.map(({ name }) => name) });
      yield* turns[next++] ?? [];
    },
  });
  return { factory, asked: sentRequest };
}

const HANDLER_TURNS: Llms.ApiStreamChunk[][] = [
  [
    { type: 'reasoning', reasoning: 'I should look.', id: 'r' },
    { type: 'text', text: 'I look.', id: 'r' },
    {
      type: 'tool_calls',
      id: 'r',
      tool_call: { call_id: 'c1', function: { name: 'Read', arguments: '{"file_path":' } },
    },
    { type: 'tool_calls', id: 'r', tool_call: { function: { arguments: '"notes.txt"}' } } },
    { type: 'usage', inputTokens: 100, outputTokens: 10, cacheReadTokens: 40, id: 'r' },
    { type: 'done', success: true, id: 'r' },
  ],
  [
    { type: 'text', text: 'It says ', id: 's' },
    { type: 'text', text: 'hello.', id: 's' },
    { type: 'usage', inputTokens: 100, outputTokens: 10, id: 's' },
  ],
];

describe('a provider whose handler is registered', () => {
  it.each([
    ['registerHandler', false],
    ['registerAsyncHandler', true],
  ])('with Llms.%s serves a whole run', async (_method, isAsync) => {
    const id = `code-${String(isAsync)}`;
    const { factory, asked } = playing(HANDLER_TURNS);
    const plugin: AgentPlugin = {
      name: 'coder',
      manifest: { capabilities: ['providers'] },
      setup(api) {
        if (isAsync) Llms.registerAsyncHandler(id, async (config) => factory(config));
        else Llms.registerHandler(id, factory);
        api.registerProvider({ name: id, description: 'made by code' });
      },
    };
    const { providers, issues } = await setUp(plugin);
    const models = modelsWith({ providers, selection: { provider: id, key: KEY } });

    const model = await models.openOwn();
    const result = await runWith(model);

    expect(issues).toEqual([]);
    expect(model).toMatchObject({ provider: id, id: 'own-model', contextTokens: 9000 });
    expect(result).toMatchObject({
      text: 'It says hello.',
      iterations: 2,
      usage: { inputTokens: 160, outputTokens: 20, cacheReadTokens: 40 },
      costUsd: 0.004,
    });
    expect(asked).toHaveLength(2);
    expect(asked[0]).toMatchObject({
      config: { providerId: id, apiKey: KEY, abortSignal: expect.any(AbortSignal) },
      tools: expect.arrayContaining(['Read']),
    });
    const texts = asked[1]?.messages as readonly Message[];
    expect(texts.at(-2)).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I should look.' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'c1', name: 'Read', input: { file_path: 'notes.txt' } },
      ],
    });
    expect(JSON.stringify(texts.at(-1))).toContain('hello from the notes');
  });

  it('may delegate to one of Hookline’s own providers', async () => {
    const service = await startService(READ_AND_ANSWER);
    Llms.registerHandler('delegating', (config) =>
      Llms.createHandler({ ...config, providerId: 'anthropic', clientType: 'anthropic' }),
    );
    Llms.registerProvider({
      provider: {
        id: 'delegating',
        name: 'Delegating',
        client: 'anthropic',
        baseUrl: service.url,
        defaultModelId: 'm1',
        env: ['DELEGATING_KEY'],
      },
      models: { m1: { id: 'm1', contextWindow: 7000, pricing: { input: 1000, output: 1000 } } },
    });
    const { providers } = await setUp();
    const models = modelsWith({
      providers,
      selection: { provider: 'delegating' },
      env: { DELEGATING_KEY: KEY },
    });

    const model = await models.openOwn();
    const result = await runWith(model);

    expect(model).toMatchObject({ provider: 'delegating', id: 'm1', contextTokens: 7000 });
    expect(result).toMatchObject({ text: 'It says hello.', iterations: 2, costUsd: 0.22 });
    const requests = service.mock.getRequests();
    expect(requests.map(({ path }) => path)).toEqual(['/v1/messages', '/v1/messages']);
    expect(requests[0]?.headers).toHaveProperty('x-api-key');
  });

  it('reports the cost of an answer itself, which counts more than any list', async () => {
    const { factory } = playing([
      [
        { type: 'text', text: 'Dear.', id: 'x' },
        { type: 'usage', inputTokens: 10, outputTokens: 1, totalCost: 0.25, id: 'x' },
      ],
    ]);
    Llms.registerHandler('priced', factory);
    const { providers } = await setUp();
    const models = modelsWith({ providers, selection: { provider: 'priced', model: 'm' } });

    expect(await runWith(await models.openOwn())).toMatchObject({ costUsd: 0.25 });
  });
});

it.each(['service', 'handler'])('a run with a %s is aborted in the middle', async (kind) => {
  const controller = new AbortController();
  const service = await startService([]);
  service.mock.prependFixture({
    match: {},
    response: { content: 'word '.repeat(500) },
    chunkSize: 4,
    latency: 30,
  });
  const reads: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    controller.abort();
    return response;
  };
  Llms.registerHandler('endless', () => ({
    getMessages: () => [],
    getModel: () => ({ id: 'm', info: { id: 'm' } }),
    async *createMessage() {
      yield { type: 'text', text: 'Begun.', id: 'x' };
      controller.abort();
      await new Promise(() => {});
    },
  }));
  const { providers } = await setUp(providerPlugin('mine', { baseUrl: service.url }));
  const provider = kind === 'service' ? 'mine' : 'endless';
  const selection = { provider, model: 'm', transport: { fetch: reads } };

  const result = await runWith(
    await modelsWith({ providers, selection }).openOwn(),
    controller.signal,
  );

  expect(result).toMatchObject({ status: 'aborted', iterations: 1 });
});

it('a session’s model is switched to a plugin’s provider and back', async () => {
  const service = await startService([{ text: 'From the plugin.' }]);
  const { providers } = await setUp(
    providerPlugin('mine', { baseUrl: service.url, models: ['maker/tiny'] }),
  );
  const models = modelsWith({
    providers,
    selection: { provider: 'anthropic', model: 'claude-haiku-4-5', key: KEY },
  });

  const other = await models.openOther('mine/maker/tiny');

  expect({ provider: other.provider, id: other.id }).toEqual({
    provider: 'mine',
    id: 'maker/tiny',
  });
  expect((await runWith(other)).text).toBe('From the plugin.');
  expect((await models.openOwn()).provider).toBe('anthropic');
  const fromPlugin = modelsWith({
    providers,
    selection: { provider: 'mine', model: 'maker/tiny' },
    env: { ANTHROPIC_API_KEY: KEY },
  });
  expect((await fromPlugin.openOther('anthropic/claude-haiku-4-5')).provider).toBe('anthropic');
  expect((await fromPlugin.openNamed('maker/other')).id).toBe('maker/other');
});
