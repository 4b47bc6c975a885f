import { describe, expect, it, vi } from 'vitest';
import { eventually } from '../../../base/directory.ts';
import type { AgentPlugin } from '../../../../src/plugins/contract/plugin.ts';
import { moment } from '../../../agent/scripted-session.ts';
import { call, createSdkFixture, DONE, hooksOf } from '../sdk-fixture.ts';

async function caught(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return null;
  } catch (error) {
    return error;
  }
}

/** A plugin that records that it was set up, and that it was disposed. */
function closing() {
  const reports: string[] = [];
  const plugin: AgentPlugin = {
    name: 'closing',
    manifest: { capabilities: ['tools'] },
    setup(_api, ctx) {
      reports.push('set up');
      ctx.onDispose?.(() => reports.push('disposed'));
    },
  };
  return { plugin, reports };
}

describe('start', () => {
  it('refuses the id of a session that is open, which goes on', async () => {
    const fixture = await createSdkFixture([{ text: 'One.' }, { text: 'Two.' }]);
    await fixture.start({ sessionId: 'mine' }, { interactive: true });
    const refused = await caught(fixture.start({ sessionId: 'mine' }, { interactive: true }));
    expect(refused).toMatchObject({ code: 'SESSION_BUSY' });
    const result = await fixture.core.send({ sessionId: 'mine', prompt: 'again' });
    expect(result?.text).toBe('Two.');
  });

  it('refuses the id of a session that is being opened', async () => {
    const fixture = await createSdkFixture([DONE, DONE]);
    const both = [fixture.start({ sessionId: 'mine' }), fixture.start({ sessionId: 'mine' })];
    const [first, second] = await Promise.all(both.map(caught));
    expect([first, second]).toMatchObject([null, { code: 'SESSION_BUSY' }]);
  });

  it('is given up when the core is disposed meanwhile, and plugins are disposed', async () => {
    const runStarted = moment();
    const end = closing();
    const slow: AgentPlugin = {
      name: 'slow',
      manifest: { capabilities: ['tools'] },
      setup() {
        runStarted.reach();
        return new Promise(() => undefined);
      },
    };
    const fixture = await createSdkFixture([DONE]);
    const starting = caught(fixture.start({ extensions: [end.plugin, slow] }));
    await runStarted.reached;
    await fixture.core.dispose();
    expect(end.reports).toEqual(['set up', 'disposed']);
    expect(await starting).toMatchObject({ code: 'SESSION_UNKNOWN' });
    expect(fixture.service.requests()).toEqual([]);
  });

  it('is refused by a core that was disposed', async () => {
    const fixture = await createSdkFixture([DONE]);
    await fixture.core.dispose();
    expect(await caught(fixture.start())).toMatchObject({ code: 'USAGE_INVALID' });
  });

  it.each([
    ['an unknown provider', { providerId: 'nope' }, {}, 'MODEL_UNKNOWN'],
    [
      'a bad plugin, strictly',
      { strictPlugins: true, extensions: [{ name: 'bad' } as never] },
      {},
      'PLUGIN_INVALID',
    ],
    ['a file that is not there', {}, { userFiles: ['/nope'] }, 'USAGE_INVALID'],
    ['messages that are none', {}, { initialMessages: [5 as never] }, 'USAGE_INVALID'],
    ['an id that is no id', { sessionId: '../../evil' }, {}, 'SESSION_UNWRITABLE'],
  ])('that fails for %s leaves nothing open', async (_what, config, more, code) => {
    const end = closing();
    const fixture = await createSdkFixture([DONE]);
    const extensions = [end.plugin, ...('extensions' in config ? config.extensions : [])];
    const failed = await caught(fixture.start({ ...config, extensions }, more));
    const isOpen = (await fixture.core.list()).some(({ status }) => status === 'running');
    expect({ failed, isOpen }).toMatchObject({ failed: { code }, isOpen: false });
    expect(end.reports).toEqual(end.reports.length === 0 ? [] : ['set up', 'disposed']);
  });
});

it('a session that has ended leaves the plugin host of another', async () => {
  const fixture = await createSdkFixture([]);
  const extensions = [{ name: 'any', manifest: { capabilities: ['tools' as const] } }];
  const one = await fixture.core.start({
    config: fixture.config({ extensions }),
    interactive: true,
  });
  const other = await fixture.core.start({
    config: fixture.config({ extensions }),
    interactive: true,
  });
  await fixture.core.stop(one.sessionId);
  expect('__clinePluginHost' in globalThis).toBe(true);
  await fixture.core.stop(other.sessionId);
  expect('__clinePluginHost' in globalThis).toBe(false);
});

describe('a listener', () => {
  it('may subscribe more than once, and each time is its own', async () => {
    const fixture = await createSdkFixture([DONE]);
    const events: string[] = [];
    const listener = ({ type }: { type: string }): void => void events.push(type);
    const unsubscribe = fixture.core.subscribe(listener, { sessionId: 'another' });
    fixture.core.subscribe(listener);
    unsubscribe();
    await fixture.start();
    expect(events).toEqual(fixture.events.map(({ type }) => type));
  });

  it('that rejects causes a warning, and ends nothing', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const fixture = await createSdkFixture([DONE]);
    fixture.core.subscribe(async ({ type }) => {
      if (type === 'ended') throw new TypeError('broken listener');
    });
    const { result } = await fixture.start();
    expect(result?.text).toBe('Done.');
    await eventually(() => expect(warn).toHaveBeenCalled());
    expect(JSON.stringify(warn.mock.calls)).toContain('broken listener');
    warn.mockRestore();
  });

  it('that is a log may throw', async () => {
    const logger = {
      debug: () => undefined,
      log() {
        throw new TypeError('broken log');
      },
    };
    const fixture = await createSdkFixture([DONE], { logger });
    const { result } = await fixture.start({ extensions: [{ name: 'bad' } as never] });
    expect(result?.text).toBe('Done.');
  });
});

describe('prepare', () => {
  it('changes what a session is started with, and is disposed at its end', async () => {
    const reports: string[] = [];
    const fixture = await createSdkFixture([DONE], {
      prepare: async ({ prompt }) => ({
        applyToStartSessionInput: (input) => ({ ...input, prompt: `${prompt}, please` }),
        dispose: () => void reports.push('disposed'),
      }),
    });
    await fixture.start();
    expect(fixture.service.requests()[0]?.messages[0]?.text).toBe('go, please');
    expect(reports).toEqual(['disposed']);
  });
});

it('send in the mode plan changes nothing, and only that prompt is in plan mode', async () => {
  const touch = call('run_commands', { commands: ['touch planned'] });
  const fixture = await createSdkFixture([touch, DONE, touch, DONE]);
  const { sessionId } = await fixture.core.start({ config: fixture.config() });
  const planned = await fixture.core.send({ sessionId, prompt: 'x', mode: 'plan' });
  const acted = await fixture.core.send({ sessionId, prompt: 'x' });
  expect(planned?.toolCalls[0]?.error).toContain(
    'the mode plan allows only reading, planning and asking',
  );
  expect(acted?.toolCalls[0]?.error).toBeUndefined();
});

it('a prompt that waits keeps the mode that it was given with', async () => {
  const runStarted = moment();
  const letGo = moment();
  const touch = call('run_commands', { commands: ['touch planned'] });
  const fixture = await createSdkFixture([{ text: 'One.' }, touch, DONE]);
  const slow = hooksOf({
    async beforeRun() {
      runStarted.reach();
      await letGo.reached;
    },
  });
  const { sessionId } = await fixture.core.start({
    config: fixture.config({ extensions: [slow] }),
  });
  const first = fixture.core.send({ sessionId, prompt: 'x' });
  await runStarted.reached;
  await fixture.core.send({ sessionId, prompt: 'y', mode: 'plan', delivery: 'queue' });
  letGo.reach();
  await first;
  await eventually(() => expect(fixture.service.requests()).toHaveLength(3));
  expect(fixture.service.requests()[2]?.messages.at(-1)?.text).toContain(
    'the mode plan allows only reading',
  );
});
