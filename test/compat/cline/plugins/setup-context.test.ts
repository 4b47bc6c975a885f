import { expect, test, vi } from 'vitest';
import type { AgentPlugin, PluginSetupContext } from '../../../../src/plugins/contract/plugin.ts';
import { createSdkFixture, DONE, hooksOf } from '../sdk-fixture.ts';

function setUpWith(setup: (ctx: PluginSetupContext) => void): AgentPlugin {
  return {
    name: 'curious',
    manifest: { capabilities: ['tools'] },
    setup: (_api, ctx) => setup(ctx),
  };
}

test('setup receives the user of the environment where the caller names none', async () => {
  const users: unknown[] = [];
  vi.stubEnv('CLINE_USER_ID', 'me');
  const fixture = await createSdkFixture([DONE]);
  const extensions = [setUpWith(({ user }) => void users.push(user))];
  await fixture.start({ extensions });
  await fixture.start({ extensions, extensionContext: { user: { email: 'a@b' } } });
  expect(users).toEqual([{ distinctId: 'me' }, { email: 'a@b' }]);
});

test('a log line of a plugin names the plugin and its session', async () => {
  const lines: unknown[] = [];
  const note =
    (level: string) =>
    (message: string, metadata?: Record<string, unknown>): void =>
      void lines.push([level, message, metadata]);
  const fixture = await createSdkFixture([DONE]);
  const { sessionId } = await fixture.start({
    logger: { debug: note('debug'), log: note('log'), error: note('error') },
    extensions: [
      setUpWith(({ logger }) => {
        logger?.debug('small');
        logger?.log('ready', { tools: 2 });
        logger?.error?.('broken', { error: new TypeError('oh') });
      }),
    ],
  });
  const own = { sessionId, pluginName: 'curious' };
  expect(lines).toEqual([
    ['debug', 'small', own],
    ['log', 'ready', { ...own, tools: 2 }],
    ['error', 'broken', { ...own, error: new TypeError('oh') }],
  ]);
});

test('beforeModel receives the metadata of its caller, and can be aborted with the run', async () => {
  const hookContexts: unknown[] = [];
  const runs: unknown[] = [];
  const fixture = await createSdkFixture([DONE], { clientName: 'probe' });
  const { sessionId } = await fixture.start({
    extensionContext: { user: { distinctId: 'd' } },
    extensions: [
      hooksOf({
        beforeModel({ request, snapshot }) {
          runs.push(snapshot.runId);
          hookContexts.push([request.signal instanceof AbortSignal, request.options?.['metadata']]);
        },
      }),
    ],
  });
  const own = { sessionId, agentId: sessionId, conversationId: sessionId, iteration: 1 };
  const metadata = { ...own, clientName: 'probe', distinctId: 'd', runId: runs[0] };
  expect(hookContexts).toEqual([[true, metadata]]);
});
