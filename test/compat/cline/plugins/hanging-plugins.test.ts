import { describe, expect, it } from 'vitest';
import type {
  AgentExtensionApi,
  AgentPlugin,
  PluginSetupContext,
} from '../../../../src/plugins/contract/plugin.ts';
import { moment } from '../../../agent/scripted-session.ts';
import { createSdkFixture, DONE, type SdkFixture } from '../sdk-fixture.ts';

/** Work that begins and never ends. */
function endless() {
  const started = moment();
  return {
    begun: started.reached,
    work(): Promise<never> {
      started.reach();
      return new Promise(() => undefined);
    },
  };
}

type Endless = ReturnType<typeof endless>;

function plugin(setup: (api: AgentExtensionApi, ctx: PluginSetupContext) => void): AgentPlugin {
  return {
    name: 'hanging',
    manifest: { capabilities: ['tools', 'rules', 'commands', 'messageBuilders'] },
    setup,
  };
}

const notices = (fixture: SdkFixture): readonly string[] =>
  fixture.agentEvents().flatMap((event) => (event.type === 'notice' ? [event.message] : []));

const errors = (fixture: SdkFixture): readonly string[] =>
  fixture.agentEvents().flatMap((event) => (event.type === 'error' ? [event.error.message] : []));

const PARTS: readonly [string, string, (api: AgentExtensionApi, part: Endless) => void][] = [
  [
    'a message builder',
    'go',
    (api, { work }) => api.registerMessageBuilder({ name: 'b', build: work }),
  ],
  ['a rule', 'go', (api, { work }) => api.registerRule({ id: 'r', content: work })],
  ['a command', '/hang', (api, { work }) => api.registerCommand({ name: 'hang', handler: work })],
];

describe.each(PARTS)('%s that never answers', (_what, prompt, register) => {
  async function hang() {
    const part = endless();
    const fixture = await createSdkFixture([DONE]);
    const { sessionId } = await fixture.core.start({
      config: fixture.config({ extensions: [plugin((api) => register(api, part))] }),
    });
    const running = fixture.core.send({ sessionId, prompt });
    await part.begun;
    return { fixture, sessionId, running };
  }

  it('does not keep a run from being aborted', async () => {
    const { fixture, sessionId, running } = await hang();
    await fixture.core.abort(sessionId, 'enough');
    expect(await running).toMatchObject({ finishReason: 'aborted', stopReason: 'enough' });
  });

  it('does not keep a session from being stopped', async () => {
    const { fixture, sessionId, running } = await hang();
    await fixture.core.stop(sessionId);
    expect(await running).toMatchObject({ finishReason: 'aborted' });
    expect(fixture.events.at(-1)).toMatchObject({ type: 'ended', payload: { reason: 'stopped' } });
  });

  it('is given up when its time is over, and reported', async () => {
    const fixture = await createSdkFixture([DONE]);
    const extensions = [plugin((api) => register(api, endless()))];
    const { result } = await fixture.start({ extensions, hookTimeoutMs: 20 }, { prompt });
    expect(result).toMatchObject({ finishReason: 'completed' });
    expect([...notices(fixture), ...errors(fixture)].join()).toContain(
      'did not answer within 20 ms',
    );
  });
});

it('dispose callbacks of plugins are given up, too, and all of them are called', async () => {
  const startedPlugins: string[] = [];
  const fixture = await createSdkFixture([DONE]);
  const setup = plugin((_api, ctx) => {
    for (const name of ['first', 'second']) {
      ctx.onDispose?.(() => {
        startedPlugins.push(name);
        return new Promise(() => undefined);
      });
    }
  });
  const { result } = await fixture.start({ extensions: [setup], hookTimeoutMs: 20 });
  expect(result?.text).toBe('Done.');
  expect(startedPlugins).toEqual(['second', 'first']);
});

it('a schema that never finishes checking does not keep a run from being aborted', async () => {
  const part = endless();
  const fixture = await createSdkFixture([{ tools: [{ name: 'slow', input: {} }] }, DONE]);
  const inputSchema = { '~standard': { version: 1, vendor: 'mine', validate: part.work } };
  const slow = { name: 'slow', description: '', inputSchema, execute: () => 'ran' };
  const { sessionId } = await fixture.core.start({
    config: fixture.config({ extraTools: [slow] }),
  });
  const running = fixture.core.send({ sessionId, prompt: 'go' });
  await part.begun;
  await fixture.core.abort(sessionId);
  expect(await running).toMatchObject({ finishReason: 'aborted' });
});
