import { MODEL_SERVICES } from '../../../src/base/model-services.ts';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type CustomChoice,
  RegisteredProviders,
  registeredProviders,
} from '../../../src/agent/models/custom-provider.ts';
import { parseModels } from '../../../src/agent/models/model-details.ts';
import { parseService, createServiceProvider } from '../../../src/agent/models/service-provider.ts';
import { PROVIDER_NAMES } from '../../../src/agent/models/providers.ts';
import { isHooklineError } from '../../../src/base/errors.ts';
import { modelsWith, providerPlugin, setUp } from '../../compat/cline/llms/provider-fixture.ts';
import { collect, KEY, rawService, request } from './services.ts';

afterEach(() => void registeredProviders.takeRefused());

type Fields = Readonly<Record<string, unknown>>;

function service(fields: Fields) {
  const parsed = parseService('mine', fields);
  if (!parsed.ok) throw new Error(parsed.why);
  return createServiceProvider(parsed.service, 'the plugin "bringer"');
}

function choice(wanted: Partial<CustomChoice> = {}): CustomChoice {
  return {
    provider: 'mine',
    model: 'tiny',
    baseUrl: null,
    key: null,
    env: {},
    passedKeys: [],
    ...wanted,
  };
}

async function refusal(opening: Promise<unknown>): Promise<unknown> {
  const error: unknown = await opening.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!isHooklineError(error)) throw new Error(`no refusal: ${String(error)}`);
  return { code: error.code, message: error.message, hint: error.hint };
}

/** The headers and bodies of what a service is asked. */
async function listening() {
  const sentRequests: { headers: Fields; body: Fields; url: string }[] = [];
  const baseUrl = await rawService((response, { headers, body, url }) => {
    sentRequests.push({ headers, body: JSON.parse(body) as Fields, url });
    response.writeHead(500).end();
  });
  return { asked: sentRequests, baseUrl };
}

describe('a service that a plugin describes', () => {
  it.each([
    [{}, 'chat'],
    [{ protocol: 'openai-chat', client: 'openai-compatible' }, 'chat'],
    [{ protocol: 'openai-compatible' }, 'chat'],
    [{ client: 'openai-compatible' }, 'chat'],
    [{ protocol: 'ai-sdk', client: 'openai-compatible' }, 'chat'],
    [{ protocol: 'anthropic' }, 'anthropic'],
    [{ client: 'anthropic' }, 'anthropic'],
    [{ protocol: 'openai-responses', client: 'openai' }, 'openai'],
    [{ protocol: 'gemini' }, 'google'],
  ])('%j is read as the format %s', (fields, wire) => {
    expect(parseService('mine', fields)).toMatchObject({ ok: true, service: { wire } });
  });

  it.each([
    [{ client: 'bedrock' }, 'it speaks "bedrock"'],
    [{ protocol: 'ai-sdk', client: 'ai-sdk' }, 'it speaks "ai-sdk"'],
    [{ protocol: 7 }, 'it speaks 7'],
    [{ baseUrl: 'localhost:8080' }, 'must begin with http:// or https://, found "localhost:8080"'],
    [{ baseUrl: 5 }, 'must begin with http:// or https://, found number'],
    [{ baseUrl: 'http://' }, 'must begin with http:// or https://'],
  ])('%j is refused with a reason', (fields, why) => {
    expect(parseService('mine', fields)).toEqual({ ok: false, why: expect.stringContaining(why) });
  });

  it.each(['', 'a b', 'maker/model', ' '])('the id %j is invalid', (id) => {
    expect(parseService(id, {})).toEqual({
      ok: false,
      why: `the id of a provider has no blank and no slash, found ${JSON.stringify(id)}`,
    });
  });

  it('uses the valid fields and names the others', () => {
    const parsed = parseService('mine', {
      name: ' Mine ',
      baseUrl: 'https://models.example/v1',
      defaultModelId: 'a',
      apiKeyEnv: 'MINE_KEY',
      env: ['MINE_KEY', 'OTHER_KEY', 5],
      headers: { 'x-a': 'b', 'x-c': 5 },
      models: {
        a: { contextWindow: 1000, maxTokens: 100, pricing: { input: 1, output: 2 } },
        b: { contextWindow: -5, maxTokens: 'many', pricing: { input: 1 } },
        c: null,
      },
    });
    expect(parsed).toEqual({
      ok: true,
      service: {
        id: 'mine',
        label: 'Mine',
        wire: 'chat',
        baseUrl: 'https://models.example/v1',
        defaultModel: 'a',
        keyVariables: ['MINE_KEY', 'OTHER_KEY'],
        headers: { 'x-a': 'b' },
        models: new Map([
          [
            'a',
            {
              contextTokens: 1000,
              maxOutputTokens: 100,
              prices: { input: 1, output: 2, cacheRead: 1, cacheWrite: 1 },
            },
          ],
          ['b', { contextTokens: null, maxOutputTokens: null, prices: null }],
          ['c', { contextTokens: null, maxOutputTokens: null, prices: null }],
        ]),
      },
      warnings: [
        'contextWindow of its model b cannot be used',
        'maxTokens of its model b cannot be used',
        'pricing of its model b cannot be used',
        'its header x-c is not a string',
      ],
    });
  });

  it.each([
    [['a', 'b'], ['a', 'b'], []],
    [[{ id: 'a', maxInputTokens: 10, contextWindow: 20 }], ['a'], []],
    [[{ name: 'nameless' }, 'b'], ['b'], ['one of its models has no id']],
    ['a', [], ['its models are string, expected them by id']],
    [undefined, [], []],
  ])('models may be written as %j', (input, ids, problems) => {
    const parsed = parseModels(input);
    expect({ ids: [...parsed.models.keys()], problems: parsed.problems }).toEqual({
      ids,
      problems,
    });
  });
});

describe('the key of a plugin’s provider', () => {
  const fields = { baseUrl: 'https://models.example/v1', env: ['MINE_KEY', 'OTHER_KEY'] };

  it('that is missing is one sentence with the variable', async () => {
    expect(await refusal(service(fields).open(choice()))).toEqual({
      code: 'MODEL_KEY_MISSING',
      message: 'no API key found for mine (MINE_KEY)',
      hint: 'Set MINE_KEY, or "model.key" in the configuration, or pass --key; -P NAME chooses another provider.',
    });
  });

  it.each([
    [{ env: { OTHER_KEY: 'second' } }, 'Bearer second'],
    [{ env: { MINE_KEY: 'first', OTHER_KEY: 'second' } }, 'Bearer first'],
    [{ env: { MINE_KEY: 'first' }, key: 'given' }, 'Bearer given'],
  ])('is found in %j', async (input, authorization) => {
    const { asked, baseUrl } = await listening();
    const model = await service({ ...fields, baseUrl }).open(choice(input));
    await collect(model, request('hello'));
    expect(asked.map(({ headers }) => headers['authorization'])).toEqual([authorization]);
  });

  it('is not that of Hookline’s own provider, when it would go elsewhere', async () => {
    const { asked, baseUrl } = await listening();
    const taking = service({ baseUrl, env: ['OPENAI_API_KEY'] });
    const env = { OPENAI_API_KEY: KEY };
    expect(await refusal(taking.open(choice({ env })))).toEqual({
      code: 'MODEL_KEY_MISSING',
      message: `provider "mine" of the plugin "bringer" requests OPENAI_API_KEY, the key for OpenAI, and would send it to ${baseUrl}; it is withheld`,
      hint: 'Pass a key with --key, or list OPENAI_API_KEY in "env.pass" of your own configuration.',
    });
    const allowed = [
      { env, passedKeys: ['OPENAI_API_KEY'] },
      { env, baseUrl },
      { env, key: KEY },
    ];
    for (const each of allowed) await collect(await taking.open(choice(each)), request('hello'));
    expect(asked.map(({ headers }) => headers['authorization'])).toEqual(
      allowed.map(() => `Bearer ${KEY}`),
    );
  });

  it('is that of Hookline’s own provider, when it goes there', async () => {
    const router = service({
      baseUrl: 'https://openrouter.ai/api/v1',
      env: ['OPENROUTER_API_KEY'],
    });
    const model = await router.open(choice({ env: { OPENROUTER_API_KEY: KEY } }));
    expect(model.provider).toBe('mine');
  });

  it('comes from the configuration, where the provider is the configured one', async () => {
    const { asked, baseUrl } = await listening();
    const { providers } = await setUp(providerPlugin('mine', { baseUrl, env: ['MINE_KEY'] }));
    const settings = { 'model.provider': 'mine', 'model.id': 'tiny', 'model.key': 'configured' };
    const model = await modelsWith({ providers, selection: {}, settings }).openOwn();
    await collect(model, request('hello'));
    expect(asked.map(({ headers }) => headers['authorization'])).toEqual(['Bearer configured']);
  });
});

describe('the facts of a plugin’s model', () => {
  const models = {
    tiny: { contextWindow: 5000, maxTokens: 70, pricing: { input: 1, output: 2, cacheRead: 0.1 } },
  };

  it('reaches compaction and costs', async () => {
    const model = await service({ baseUrl: 'http://127.0.0.1:9', models }).open(choice());
    expect(model).toMatchObject({
      contextTokens: 5000,
      prices: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1 },
    });
    const other = await service({ baseUrl: 'http://127.0.0.1:9', models }).open(
      choice({ model: 'another' }),
    );
    expect(other).toMatchObject({ contextTokens: 128_000, prices: null });
  });

  it.each([
    ['anthropic', {}, { max_tokens: 70 }],
    ['anthropic', { maxOutputTokens: 20 }, { max_tokens: 20 }],
    ['openai-chat', { maxOutputTokens: 500 }, { max_tokens: 70 }],
    ['openai-chat', {}, { max_tokens: undefined }],
  ])('limits its answers in the format %s with %j', async (protocol, wanted, body) => {
    const { asked, baseUrl } = await listening();
    const model = await service({ baseUrl, protocol, models }).open(choice());
    await collect(model, request({ ...request('hello'), ...wanted }));
    expect(asked[0]?.body['max_tokens']).toBe(body.max_tokens);
  });
});

describe('the name of a provider', () => {
  it('that is unknown is an error that lists those of plugins as well', async () => {
    const { providers } = await setUp(providerPlugin('mine', { baseUrl: 'http://127.0.0.1:9' }));
    const names = [...PROVIDER_NAMES, 'mine'].join(', ');
    const expectedHint = `Known providers: ${names}, and ${MODEL_SERVICES.length} services by name (docs/reference/models.md).`;
    expect(
      await refusal(modelsWith({ providers, selection: { provider: 'mime' } }).openOwn()),
    ).toEqual({
      code: 'MODEL_UNKNOWN',
      message: 'unknown model provider "mime"',
      hint: `Did you mean "mine"? ${expectedHint}`,
    });
  });

  it('that a plugin brings later is found then', async () => {
    const brought = (await setUp(providerPlugin('late', { baseUrl: 'http://127.0.0.1:9' })))
      .providers;
    let isLoaded = false;
    const providers = {
      find: (id: string) => (isLoaded ? brought.find(id) : null),
      ids: () => [],
    };
    const models = modelsWith({ providers, selection: { provider: 'late', model: 'tiny' } });
    expect(await refusal(models.openOwn())).toMatchObject({ code: 'MODEL_UNKNOWN' });
    isLoaded = true;
    expect(await models.openOwn()).toMatchObject({ provider: 'late', id: 'tiny' });
  });

  it('is looked for in the session whose plugin brought it, and a script is shared by all', async () => {
    const { providers } = await setUp(providerPlugin('mine', { baseUrl: 'http://127.0.0.1:9' }));
    const nobody = { find: () => null, ids: () => [] };
    const custom = modelsWith({
      providers: nobody,
      selection: { provider: 'mine', model: 'tiny' },
    });
    const session = custom.forSession(providers);
    expect(await refusal(custom.openOwn())).toMatchObject({ code: 'MODEL_UNKNOWN' });
    expect(await session.openOwn()).toMatchObject({ provider: 'mine', id: 'tiny' });
    expect(await session.openOwn()).toBe(await session.openOwn());
    const script = [{ text: 'one' }, { text: 'two' }];
    const scripted = modelsWith({ providers: nobody, selection: { script } });
    expect(await scripted.forSession(providers).openOwn()).toBe(await scripted.openOwn());
  });

  it.each(['anthropic', 'claude', 'openai', 'openai-native', 'google', 'scripted'])(
    '%s stays Hookline’s own, with a warning',
    async (name) => {
      const { providers, issues } = await setUp(
        providerPlugin(name, { baseUrl: 'https://elsewhere.example/v1' }),
      );
      expect(issues).toEqual([
        {
          plugin: 'bringer',
          phase: 'provider',
          level: 'warning',
          message: `the provider "${name}" is left out: this name is Hookline's own, and the key for it must not go elsewhere; register it under another`,
        },
      ]);
      expect(providers.find(name)).toBeNull();
    },
  );

  it('stays reserved whatever a port returns', async () => {
    const mine = service({ baseUrl: 'http://127.0.0.1:9' });
    const providers = { find: () => mine, ids: () => ['anthropic'] };
    const models = modelsWith({ providers, selection: { provider: 'anthropic', key: KEY } });
    expect(await models.openOwn()).toMatchObject({
      provider: 'anthropic',
      id: 'claude-sonnet-5-5',
    });
  });

  it('belongs to the first of two plugins', async () => {
    const { providers, issues } = await setUp(
      providerPlugin('mine', { baseUrl: 'http://127.0.0.1:9' }, 'one'),
      providerPlugin('mine', { baseUrl: 'http://127.0.0.1:9' }, 'other'),
    );
    expect(providers.find('mine')?.from).toBe('the plugin "one"');
    expect(issues).toEqual([
      {
        plugin: 'other',
        phase: 'provider',
        level: 'warning',
        message:
          'the provider "mine" is left out: the plugin "one" registered one of this name before',
      },
    ]);
  });
});

it.each([
  [undefined, 'warning', 'the provider "mine" serves nothing: metadata.baseUrl says where'],
  [{ baseUrl: 'nowhere' }, 'error', 'the provider "mine" is left out: its baseUrl must begin'],
  [{ baseUrl: 'http://a', client: 'vertex' }, 'error', 'is left out: it speaks "vertex"'],
  [
    {
      get baseUrl(): string {
        throw new Error('no getter today');
      },
    },
    'error',
    'one of its providers cannot be read: no getter today',
  ],
])(
  'a provider that cannot be used is left out, and its neighbour is not',
  async (bad, level, message) => {
    const { providers, issues } = await setUp(
      providerPlugin('mine', bad, 'bad'),
      providerPlugin('good', { baseUrl: 'http://127.0.0.1:9' }, 'good'),
    );
    expect(issues).toEqual([
      { plugin: 'bad', phase: 'provider', level, message: expect.stringContaining(message) },
    ]);
    expect(providers.ids()).toContain('good');
    expect(providers.find('mine')).toBeNull();
  },
);

it('of what is registered twice for the process the last counts, and a handler before a service', () => {
  const registered = new RegisteredProviders();
  const make = (kind: 'service' | 'handler', from: string) => ({
    ...service({ baseUrl: 'http://127.0.0.1:9' }),
    kind,
    from,
  });
  registered.add(make('service', 'one'));
  registered.add(make('service', 'two'));
  expect(registered.find('mine')?.from).toBe('two');
  registered.add(make('handler', 'three'));
  registered.add(make('service', 'four'));
  expect(registered.find('mine')?.from).toBe('three');
  expect(registered.ids()).toEqual(['mine']);
  expect(registered.remove('handler', 'mine')).toBe(true);
  expect(registered.find('mine')?.from).toBe('four');
  registered.add({ ...make('handler', 'five'), id: 'anthropic' });
  expect(registered.find('anthropic')).toBeNull();
  expect(registered.takeRefused().map(({ from }) => from)).toEqual(['five']);
  expect(registered.takeRefused()).toEqual([]);
});
