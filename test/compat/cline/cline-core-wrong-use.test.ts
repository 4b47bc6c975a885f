import { describe, expect, it } from 'vitest';
import { createSdkFixture, DONE, type SdkFixture } from './sdk-fixture.ts';

async function caught(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return null;
  } catch (error) {
    return error;
  }
}

const config = { providerId: 'anthropic', modelId: 'm' };
const tool = { name: 'one', description: '', inputSchema: {} };

describe('wrong use is reported in a sentence', () => {
  it.each([
    [undefined, 'expected start to be an object, found nothing'],
    [{}, 'expected config to be an object, found nothing'],
    [{ config: null }, 'expected config to be an object, found null'],
    [{ config: {} }, 'expected config.providerId to be a text, found nothing'],
    [
      { config: { providerId: 'anthropic' } },
      'expected config.modelId to be a text, found nothing',
    ],
    [{ config: { ...config, cwd: 5 } }, 'expected config.cwd to be a text, found number'],
    [{ config, prompt: 5 }, 'expected prompt to be a text, found number'],
    [{ config, userFiles: 'a' }, 'expected userFiles to be a list, found string'],
    [
      { config: { ...config, extraTools: [undefined] } },
      'expected config.extraTools[0] to be an object, found nothing',
    ],
    [
      { config: { ...config, extraTools: [tool] } },
      'expected config.extraTools[0].execute to be a function, found nothing',
    ],
  ])('start(%j)', async (input, message) => {
    const fixture = await createSdkFixture([]);
    expect(await caught(fixture.core.start(input as never))).toMatchObject({
      code: 'USAGE_INVALID',
      message,
    });
  });

  it.each([
    [undefined, 'expected send to be an object, found nothing'],
    [{ sessionId: 'x' }, 'expected prompt to be a text, found nothing'],
  ])('send(%j)', async (input, message) => {
    const fixture = await createSdkFixture([]);
    expect(await caught(fixture.core.send(input as never))).toMatchObject({
      code: 'USAGE_INVALID',
      message,
    });
  });
});

const notices = (fixture: SdkFixture): readonly string[] =>
  fixture.agentEvents().flatMap((event) => (event.type === 'notice' ? [event.message] : []));

it('options without effect are reported', async () => {
  const fixture = await createSdkFixture([DONE]);
  await fixture.start(
    {
      execution: { loopDetection: false },
      compaction: { enabled: false },
      checkpoint: { enabled: true },
      providerConfig: {},
      thinkingBudgetTokens: 5,
    },
    { localRuntime: { odd: 1, pluginPaths: ['./mine'] } },
  );
  expect(notices(fixture).map((text) => text.split(' does nothing here')[0])).toEqual([
    'config.execution',
    'config.compaction',
    'config.checkpoint',
    'config.providerConfig',
    'config.thinkingBudgetTokens',
    'localRuntime.odd',
  ]);
  expect(fixture.agentEvents()).toContainEqual(
    expect.objectContaining({
      type: 'error',
      error: expect.objectContaining({
        message: expect.stringMatching(/^plugin mine: it is not loaded: .* not found/s),
      }),
    }),
  );
});

it('methods that do not exist say so', async () => {
  const { core } = await createSdkFixture([]);
  const methods = [
    () => core.updateSessionCompactionState(),
    () => core.readSessionCompactionState(),
    async () => core.featureFlags,
  ];
  const errors = await Promise.all(methods.map((each) => caught(each())));
  expect(errors).toMatchObject(methods.map(() => ({ code: 'SDK_UNSUPPORTED' })));
});
