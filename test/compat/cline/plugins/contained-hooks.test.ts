import { expect, test } from 'vitest';
import type { AgentPlugin } from '../../../../src/plugins/contract/plugin.ts';
import { createDiskFixture } from '../disk-fixture.ts';
import {
  answers,
  call,
  createSdkFixture,
  DONE,
  toolPlugin,
  errorsIn,
  noticesIn,
} from '../sdk-fixture.ts';

function guard(hooks: AgentPlugin['hooks']): AgentPlugin {
  return { name: 'guard', manifest: { capabilities: ['hooks'] }, ...(hooks && { hooks }) };
}

test('a hook that fails closed is reported each time, and never reported as switched off', async () => {
  const turns = [1, 2, 3, 4, 5].map((n) => call('look', { n }));
  const fixture = await createSdkFixture([...turns, DONE]);
  const beforeTool = Object.assign(
    () => {
      throw new TypeError('cannot look');
    },
    { failClosed: true },
  );
  await fixture.start({ extensions: [toolPlugin('look', () => 'seen'), guard({ beforeTool })] });
  expect(answers(fixture)).toEqual(Array(5).fill('PreToolUse:look hook error: cannot look'));
  expect(noticesIn(fixture)).toEqual(Array(5).fill('plugin guard: beforeTool failed: cannot look'));
  expect(errorsIn(fixture)).toEqual([]);
});

test('a listener that never answers is reported and switched off, and so is one that rejects as a thenable', async () => {
  const fixture = await createSdkFixture([DONE]);
  const thenable: object = {};
  const fail = (_resolve: unknown, reject: (error: Error) => void) => reject(new TypeError('no'));
  Reflect.set(thenable, 'then', fail);
  const hung = guard({ onEvent: () => new Promise<void>(() => undefined) });
  const odd = { ...guard({ onEvent: () => thenable }), name: 'odd' };
  const { sessionId } = await fixture.start(
    { extensions: [hung, odd], hookTimeoutMs: 20 },
    { interactive: true },
  );
  await expect
    .poll(() => errorsIn(fixture))
    .toEqual([
      'plugin odd: onEvent failed 3 times and is disabled for this session',
      'plugin guard: onEvent failed 3 times and is disabled for this session',
    ]);
  expect(noticesIn(fixture)).toContain('plugin guard: onEvent failed: did not answer within 20 ms');
  await fixture.core.stop(sessionId);
});

const FRAGILE = `export default { name: 'fragile', manifest: { capabilities: ['tools', 'hooks', 'rules', 'messageBuilders'] },
  setup(api) {
    api.registerTool({ name: 'fall', description: '', inputSchema: {}, execute: () => process.exit(3) })
    api.registerRule({ id: 'r', content: () => 'RULE' })
    api.registerMessageBuilder({ name: 'b', build: (messages) => messages })
  },
  hooks: { beforeRun() {}, beforeModel() {}, afterModel() {}, beforeTool() {}, afterTool() {}, afterRun() {}, onEvent() {} } }`;

test('the end of a plugin’s process is reported once, and its hooks are not called any more', async () => {
  const fixture = await createDiskFixture([call('fall'), call('fall'), DONE, DONE], {
    '.cline/plugins/fragile.mjs': FRAGILE,
  });
  const { sessionId, result } = await fixture.start(
    { pluginIsolation: 'process' },
    { interactive: true },
  );
  expect(result?.text).toBe('Done.');
  const again = await fixture.core.send({ sessionId, prompt: 'again' });
  expect(again?.text).toBe('Done.');
  expect(fixture.problems()).toEqual([
    expect.stringMatching(
      /^plugin fragile: the process of the plugin "fragile" ended by itself with exit code 3/,
    ),
  ]);
});
