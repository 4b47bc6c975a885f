import { afterEach, describe, expect, it, vi } from 'vitest';
import { registeredProviders } from '../../../../src/agent/models/custom-provider.ts';
import { HooklineError } from '../../../../src/base/errors.ts';
import * as Llms from '../../../../src/compat/cline/llms/llms.ts';
import { resolveProviderId } from '../../../../src/compat/cline/llms/catalog.ts';
import { startService } from '../../../e2e/service.ts';
import { KEY, rawService } from '../../../agent/models/services.ts';
import { clearRegisteredProviders, setUp } from './provider-fixture.ts';

afterEach(() => {
  Llms.resetRegistry();
  clearRegisteredProviders();
  registeredProviders.takeRefused();
  vi.unstubAllEnvs();
});

const MINE: Llms.ModelCollection = {
  provider: {
    id: 'mine',
    name: 'Mine',
    client: 'openai-compatible',
    baseUrl: 'http://127.0.0.1:9/v1',
    defaultModelId: 'tiny',
  },
  models: { tiny: { id: 'tiny', contextWindow: 1000 } },
};

describe('the catalogue', () => {
  it('has Hookline’s own providers under Cline’s ids, then the services known by name', async () => {
    expect(Llms.getProviderIds().slice(0, 6)).toEqual([
      'anthropic',
      'openai-native',
      'gemini',
      'openai-compatible',
      'openrouter',
      'ollama',
    ]);
    expect(Llms.BUILT_IN_PROVIDER_IDS).toEqual(Llms.getProviderIds());
    expect(Llms.isBuiltInProviderId('anthropic')).toBe(true);
    expect(await Llms.getProvider('groq')).toEqual({
      id: 'groq',
      name: 'Groq',
      protocol: 'openai-chat',
      client: 'openai-compatible',
      baseUrl: 'https://api.groq.com/openai/v1',
      defaultModelId: '',
      env: ['GROQ_API_KEY'],
      source: 'system',
    });
    expect(await Llms.getProvider('anthropic')).toEqual({
      id: 'anthropic',
      name: 'Anthropic',
      description: 'Claude models through the Messages API.',
      protocol: 'anthropic',
      client: 'anthropic',
      baseUrl: 'https://api.anthropic.com/v1',
      defaultModelId: 'claude-sonnet-5-5',
      env: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
      source: 'system',
    });
    expect((await Llms.getModelsForProvider('openai-native'))['gpt-4.1']).toEqual({
      id: 'gpt-4.1',
      contextWindow: 1_000_000,
      pricing: { input: 2, output: 8, cacheRead: 0.5, cacheWrite: 2 },
    });
    expect(await Llms.getModelsForProvider('ollama')).toEqual({});
  });

  it('has what is registered until it is unregistered', async () => {
    Llms.registerProvider(MINE);
    Llms.registerModel('mine', 'more', { id: 'ignored', contextWindow: 2000 });
    expect(Llms.hasProvider('mine')).toBe(true);
    expect(Llms.getProviderIds().at(-1)).toBe('mine');
    expect((await Llms.getAllProviders()).at(-1)).toEqual(MINE.provider);
    expect(await Llms.getModelsForProvider('mine')).toEqual({
      tiny: { id: 'tiny', contextWindow: 1000 },
      more: { id: 'more', contextWindow: 2000 },
    });
    expect(Llms.getProviderCollectionSync('mine')).toEqual(
      await Llms.getProviderCollection('mine'),
    );
    expect(Llms.unregisterModel('mine', 'more')).toBe(true);
    expect(Llms.unregisterModel('mine', 'more')).toBe(false);
    expect(Object.keys(await Llms.getModelsForProvider('mine'))).toEqual(['tiny']);
    expect(Llms.unregisterProvider('mine')).toBe(true);
    expect(Llms.unregisterProvider('mine')).toBe(false);
    expect(Llms.hasProvider('mine')).toBe(false);
    expect(await Llms.getProvider('mine')).toBeUndefined();
  });

  it.each([undefined, null, 5, {}, { provider: {} }, { provider: { id: ' ' } }])(
    'refuses %j as a collection',
    (input) => {
      expect(() => Llms.registerProvider(input as never)).toThrow(
        /^Llms.registerProvider expects \{ provider: \{ id, … \}, models \}, found /,
      );
    },
  );

  it('accepts a provider whose protocol Hookline lacks, and reports it when it is chosen', async () => {
    const provider = { ...MINE.provider, id: 'cloud', client: 'bedrock' } as const;
    Llms.registerProvider({ provider, models: {} });
    const { providers } = await setUp();
    const choice = { provider: 'cloud', model: 'm', baseUrl: null, key: null, env: {} };
    await expect(async () =>
      providers.find('cloud')?.open({ ...choice, passedKeys: [] }),
    ).rejects.toThrow(
      'provider "cloud" of Llms.registerProvider cannot be used: it speaks "bedrock"',
    );
  });
});

describe('a name of Hookline’s own', () => {
  it('is not given to others, and the next session reports it once', async () => {
    const { factory } = echoing();
    Llms.registerHandler('anthropic', factory);
    Llms.registerProvider({ ...MINE, provider: { ...MINE.provider, id: 'openai-native' } });
    const { providers, issues } = await setUp();
    const message = (id: string): string =>
      `the provider "${id}" is left out: this name is Hookline's own, and the key for it must not go elsewhere; register it under another`;
    expect(issues).toEqual([
      {
        plugin: 'Llms.registerHandler',
        phase: 'provider',
        level: 'warning',
        message: message('anthropic'),
      },
      {
        plugin: 'Llms.registerProvider',
        phase: 'provider',
        level: 'warning',
        message: message('openai-native'),
      },
    ]);
    expect(providers.find('anthropic')).toBeNull();
    expect(Llms.hasRegisteredHandler('anthropic')).toBe(false);
    expect((await Llms.getProvider('openai-native'))?.baseUrl).toBe('https://api.openai.com/v1');
    expect((await setUp()).issues).toEqual([]);
  });
});

function echoing() {
  const createdConfigs: Llms.ProviderConfig[] = [];
  const factory = (config: Llms.ProviderConfig): Llms.ApiHandler => {
    createdConfigs.push(config);
    return {
      getMessages: (_system, messages) => messages,
      getModel: () => ({ id: config.modelId, info: { id: config.modelId } }),
      async *createMessage(system) {
        yield { type: 'text', text: system, id: 'x' };
      },
    };
  };
  return { factory, made: createdConfigs };
}

async function chunksOf(handler: Llms.ApiHandler, prompt = 'hello'): Promise<unknown[]> {
  const chunks: unknown[] = [];
  const messages = [{ role: 'user', content: prompt } as const];
  const tool = { name: 'Read', description: 'Reads.', inputSchema: { type: 'object' } };
  for await (const chunk of handler.createMessage('SYS', messages, [tool])) chunks.push(chunk);
  return chunks;
}

describe('handlers', () => {
  it('are made by the factory that was registered', async () => {
    const { factory, made } = echoing();
    Llms.registerHandler(' echo ', factory);
    expect(Llms.hasRegisteredHandler('echo')).toBe(true);
    expect(Llms.isRegisteredHandlerAsync('echo')).toBe(false);
    const config = { providerId: 'echo', modelId: 'm', apiKey: 'k' };
    expect(await chunksOf(Llms.createHandler(config))).toEqual([
      { type: 'text', text: 'SYS', id: 'x' },
    ]);
    expect(made).toEqual([config]);
  });

  it('that are made asynchronously are awaited', async () => {
    const { factory } = echoing();
    Llms.registerAsyncHandler('slow-echo', async (config) => factory(config));
    expect(Llms.isRegisteredHandlerAsync('slow-echo')).toBe(true);
    const config = { providerId: 'slow-echo', modelId: 'm' };
    expect(() => Llms.createHandler(config)).toThrow(HooklineError);
    expect(await chunksOf(await Llms.createHandlerAsync(config))).toHaveLength(1);
  });

  it.each([
    ['', echoing().factory],
    [5, echoing().factory],
    ['mine', undefined],
  ])('are refused for %j and %o', (id, factory) => {
    expect(() => Llms.registerHandler(id as never, factory as never)).toThrow(
      'Llms.registerHandler expects an id and a function',
    );
  });

  it.each([
    ['anthropic', undefined],
    ['openai-native', undefined],
    ['openai-compatible', undefined],
    ['mine', undefined],
    ['something-else', 'gemini'],
  ])('of Hookline’s own models answer for %s', async (providerId, routingProviderId) => {
    const service = await startService([
      { text: 'I look.', tools: [{ name: 'Read', input: { file_path: '/a' } }] },
    ]);
    Llms.registerProvider(MINE);
    const handler = Llms.createHandler({
      providerId,
      modelId: 'gpt-4.1',
      apiKey: KEY,
      baseUrl: service.url,
      ...(routingProviderId === undefined ? {} : { routingProviderId }),
    });
    const chunks = await chunksOf(handler);
    expect(handler.getModel().id).toBe('gpt-4.1');
    const id = expect.any(String);
    expect(chunks.slice(-3)).toEqual([
      {
        type: 'tool_calls',
        id,
        tool_call: {
          call_id: id,
          function: { id, name: 'Read', arguments: '{"file_path":"/a"}' },
        },
      },
      {
        type: 'usage',
        id,
        inputTokens: 100,
        outputTokens: 10,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
      },
      { type: 'done', success: true, id },
    ]);
    const [asked] = service.requests();
    expect(asked).toMatchObject({ system: 'SYS', model: 'gpt-4.1', tools: ['Read'] });
    expect(asked?.messages).toEqual([{ role: 'user', text: 'hello', calls: [] }]);
  });

  it('of Hookline’s own models fail with what happened', async () => {
    const service = await startService([]);
    service.mock.nextRequestError(429, { message: 'slow down' });
    const config = { providerId: 'anthropic', modelId: 'm', apiKey: KEY, baseUrl: service.url };
    expect(await chunksOf(Llms.createHandler(config))).toEqual([
      {
        type: 'done',
        success: false,
        id: expect.any(String),
        error: expect.stringContaining('429'),
        failure: expect.objectContaining({ class: 'rate_limit', isRetryable: true }),
      },
    ]);
  });

  it('of Hookline’s own models send the user’s key only to its provider', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', KEY);
    const sentHeaders: unknown[] = [];
    const baseUrl = await rawService((response, { headers }) => {
      sentHeaders.push(headers);
      response.writeHead(500).end();
    });
    const handler = Llms.createHandler({ providerId: 'anthropic', modelId: 'm', baseUrl });
    await expect(chunksOf(handler)).rejects.toMatchObject({ code: 'MODEL_KEY_MISSING' });
    expect(sentHeaders).toEqual([]);
  });

  it('of Hookline’s own models end when they are aborted', async () => {
    const service = await startService([]);
    service.mock.onMessage('slow', { content: 'word '.repeat(500) }, { chunkSize: 4, latency: 50 });
    const config = { providerId: 'openai-compatible', modelId: 'm', baseUrl: `${service.url}/v1` };
    const handler = Llms.createHandler(config);
    const kinds: string[] = [];
    for await (const chunk of handler.createMessage('', [{ role: 'user', content: 'slow' }])) {
      kinds.push(chunk.type === 'done' ? `done ${String(chunk.success)}` : chunk.type);
      handler.abort?.();
    }
    expect(kinds.at(-1)).toBe('done false');
    expect(kinds.length).toBeLessThan(20);
  });

  it('refuse invalid messages', async () => {
    const handler = Llms.createHandler({ providerId: 'anthropic', modelId: 'm', apiKey: KEY });
    const stream = handler.createMessage('', [5 as never]);
    await expect(stream.next()).rejects.toMatchObject({ code: 'USAGE_INVALID' });
  });
});

describe('ids of providers', () => {
  it.each([
    [' anthropic ', 'anthropic'],
    ['openai', 'openai-compatible'],
    ['togetherai', 'together'],
    ['mine', 'mine'],
  ])('%j is normalised to %j', (input, expected) => {
    expect(Llms.normalizeProviderId(input)).toBe(expected);
  });

  it.each([
    ['anthropic', 'anthropic'],
    ['claude', 'anthropic'],
    ['openai-native', 'openai'],
    ['openai', 'openai-compatible'],
    ['groq', 'groq'],
    ['scripted', 'scripted'],
    ['router-plugin', 'router-plugin'],
    ['constructor', 'constructor'],
  ])('%j stands for %j here', (input, expected) => {
    expect(resolveProviderId(input)).toBe(expected);
  });
});
