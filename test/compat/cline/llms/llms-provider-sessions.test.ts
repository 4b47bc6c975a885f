import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as Llms from '../../../../src/compat/cline/llms/llms.ts';
import { clearRegisteredProviders, providerPlugin } from './provider-fixture.ts';
import { call, createSdkFixture, DONE, type SdkFixture, toolPlugin } from '../sdk-fixture.ts';

afterEach(() => {
  Llms.resetRegistry();
  clearRegisteredProviders();
});

/** A plugin on disk that registers its provider in both ways, as Cline's example does. */
function writePlugin({ home, service }: SdkFixture): void {
  const directory = path.join(home, '.cline', 'plugins');
  mkdirSync(directory, { recursive: true });
  const text = `
import { type AgentPlugin, Llms } from '@cline/core';

const models: Record<string, Llms.ModelInfo> = {
  'maker/great': {
    id: 'maker/great',
    contextWindow: 200_000,
    capabilities: ['tools', 'streaming'],
    pricing: { input: 1000, output: 10_000 },
  },
};

function collect(): Llms.ModelCollection {
  const provider: Llms.ProviderInfo = {
    id: 'router-on-disk',
    name: 'Router',
    protocol: 'openai-chat',
    client: 'openai-compatible',
    baseUrl: ${JSON.stringify(service.url)},
    defaultModelId: 'maker/great',
    env: ['ROUTER_ON_DISK_KEY'],
  };
  return { provider, models };
}

const plugin: AgentPlugin = {
  name: 'router-on-disk',
  manifest: { capabilities: ['providers'], providerIds: ['router-on-disk'] },
  setup(api) {
    Llms.registerProvider(collect());
    api.registerProvider({
      name: 'router-on-disk',
      metadata: { baseUrl: ${JSON.stringify(service.url)}, clineModelCollection: collect() },
    });
  },
};

export default plugin;
`;
  writeFileSync(path.join(directory, 'router.ts'), text);
}

const elsewhere = { baseUrl: undefined } as unknown as { baseUrl: string };

describe('a session is served', () => {
  it('by a provider that one of its plugins describes', async () => {
    const fixture = await createSdkFixture([call('one'), DONE]);
    const models = { tiny: { pricing: { input: 1000, output: 10_000 } } };
    const { result } = await fixture.start({
      ...elsewhere,
      providerId: 'mine',
      modelId: 'tiny',
      extensions: [
        providerPlugin('mine', { baseUrl: fixture.service.url, models }),
        toolPlugin('one', () => 'ran'),
      ],
    });
    expect(result).toMatchObject({
      text: 'Done.',
      iterations: 2,
      usage: { inputTokens: 200, outputTokens: 20, totalCost: 0.4 },
    });
  });

  it('by a provider of a plugin on disk, which is loaded because the session asks for it', async () => {
    const fixture = await createSdkFixture([DONE]);
    writePlugin(fixture);
    const { result } = await fixture.start({
      ...elsewhere,
      providerId: 'router-on-disk',
      modelId: 'maker/great',
    });
    expect(result).toMatchObject({ text: 'Done.', usage: { totalCost: 0.2 } });
    expect(fixture.service.requests()[0]?.model).toBe('maker/great');
  });

  it('by a provider of a plugin on disk to which it switches', async () => {
    const fixture = await createSdkFixture([DONE, DONE]);
    writePlugin(fixture);
    const { sessionId } = await fixture.start({}, { interactive: true });
    vi.stubEnv('ROUTER_ON_DISK_KEY', 'k');
    const states = (): unknown => fixture.core.plugins(sessionId).map(({ state }) => state);
    expect(states()).toEqual(['skipped']);
    await fixture.core.updateSessionModel(sessionId, 'router-on-disk/maker/great');
    const result = await fixture.core.send({ sessionId, prompt: 'again' });
    expect(result).toMatchObject({ finishReason: 'completed', usage: { totalCost: 0.2 } });
    expect([states(), fixture.service.requests().at(-1)?.model]).toEqual([
      ['ready'],
      'maker/great',
    ]);
  });

  it('by a handler that the program registered before', async () => {
    const fixture = await createSdkFixture([]);
    Llms.registerHandler('registered-before', ({ modelId: id }) => ({
      getMessages: (_system, messages) => messages,
      getModel: () => ({ id, info: { id } }),
      async *createMessage(system) {
        yield { type: 'text', text: `${id} was told ${system}`, id: 'x' };
      },
    }));
    const { result } = await fixture.start({ providerId: 'registered-before', modelId: 'm' });
    expect(result?.text).toContain('m was told SYS');
  });

  it('by no plugin, when none registers the provider either', async () => {
    const fixture = await createSdkFixture([DONE]);
    const extensions = [providerPlugin('mine', { baseUrl: fixture.service.url })];
    await expect(fixture.start({ providerId: 'mime', extensions })).rejects.toMatchObject({
      code: 'MODEL_UNKNOWN',
      hint: expect.stringContaining('Did you mean "mine"?'),
    });
  });
});
