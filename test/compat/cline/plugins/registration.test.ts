import { describe, expect, test } from 'vitest';
import type { AgentPlugin } from '../../../../src/plugins/contract/plugin.ts';
import {
  answers,
  call,
  createSdkFixture,
  DONE,
  hooksOf,
  toolPlugin,
  errorsIn,
  failureOf,
  noticesIn,
  registering,
} from '../sdk-fixture.ts';

const TOOL = { name: 'one', description: 'one', inputSchema: {}, execute: () => 'ran' };

test('A1 registerTool, Command, MessageBuilder and Provider without capability count, with a warning each', async () => {
  const fixture = await createSdkFixture([call('one'), DONE]);
  const sloppy = registering('sloppy', ['skills'], (api) => {
    api.registerTool(TOOL);
    api.registerCommand({ name: 'greet', handler: () => 'hello' });
    api.registerMessageBuilder({ name: 'same', build: (messages) => messages });
    api.registerProvider({ name: 'mine' });
  });
  const { sessionId } = await fixture.start({ extensions: [sloppy] }, { interactive: true });
  expect(answers(fixture)).toEqual(['ran']);
  const greeted = await fixture.core.send({ sessionId, prompt: '/greet' });
  expect(greeted?.text).toBe('hello');
  const warning = (method: string, capability: string): string =>
    `plugin sloppy: ${method} requires the "${capability}" capability, which its manifest does not declare; it is registered anyway`;
  expect(noticesIn(fixture)).toEqual(
    expect.arrayContaining([
      warning('registerTool', 'tools'),
      warning('registerCommand', 'commands'),
      warning('registerMessageBuilder', 'messageBuilders'),
      warning('registerProvider', 'providers'),
    ]),
  );
  expect(errorsIn(fixture)).toEqual([]);
});

const ruler = registering('ruler', ['tools'], (api) => {
  api.registerTool({ ...TOOL, name: 'lost' });
  api.registerRule({ id: 'r', content: 'R' });
});

test('A2 registerRule without "rules" drops all that the plugin registered; the next plugin works', async () => {
  const fixture = await createSdkFixture([call('one'), DONE]);
  const { result } = await fixture.start({ extensions: [ruler, toolPlugin('one', () => 'ran')] });
  const [request] = fixture.service.requests();
  expect({
    text: result?.text,
    answers: answers(fixture),
    isLost: !request?.tools.includes('lost'),
    system: request?.system,
    errors: errorsIn(fixture),
    recoverable: fixture
      .agentEvents()
      .flatMap((each) => (each.type === 'error' ? [each.recoverable] : [])),
  }).toEqual({
    text: 'Done.',
    answers: ['ran'],
    isLost: true,
    system: 'SYS',
    errors: [
      'plugin ruler: Invalid setup for extension "ruler": registerRule requires the "rules" capability',
    ],
    recoverable: [true],
  });
});

test('A3 the same with hookErrorMode "throw" rejects the start with the capability message', async () => {
  const fixture = await createSdkFixture([DONE]);
  const start = fixture.start({ hookErrorMode: 'throw', extensions: [ruler] });
  expect(await failureOf(start)).toMatchObject({
    message: 'Invalid setup for extension "ruler": registerRule requires the "rules" capability',
  });
});

test('A4 the capability "hooks" without hooks is fine', async () => {
  const fixture = await createSdkFixture([DONE]);
  const promised: AgentPlugin = { name: 'promised', manifest: { capabilities: ['hooks'] } };
  const { sessionId, result } = await fixture.start(
    { extensions: [promised] },
    { interactive: true },
  );
  expect(result?.text).toBe('Done.');
  expect(fixture.core.plugins(sessionId)).toMatchObject([{ name: 'promised', state: 'ready' }]);
});

describe.each([
  [
    'A5',
    'hooks without the capability',
    { manifest: { capabilities: ['tools'] }, hooks: { beforeRun: () => ({ stop: true }) } },
    'it has "hooks", so "hooks" must be among its capabilities',
  ],
  [
    'A6',
    'an unknown capability',
    { manifest: { capabilities: ['telepathy'] } },
    'capability "telepathy" not found; known are hooks, tools, commands, rules, skills, messageBuilders, providers, automationEvents, mcp',
  ],
  ['A7', 'no manifest', {}, 'expected "manifest" to be an object, found nothing'],
])('%s %s', (row, _what, made, problem) => {
  const bad = { name: 'bad', ...made } as AgentPlugin;
  const message = `Invalid manifest for extension "bad": ${problem}`;

  test(`${row} drops the plugin with a diagnostic, and the session starts`, async () => {
    const fixture = await createSdkFixture([call('one'), DONE]);
    const { result, sessionId } = await fixture.start(
      { extensions: [bad, toolPlugin('one', () => 'ran')] },
      { interactive: true },
    );
    expect([result?.text, answers(fixture), errorsIn(fixture)]).toEqual([
      'Done.',
      ['ran'],
      [`plugin bad: ${message}`],
    ]);
    expect(fixture.core.plugins(sessionId)).toContainEqual({
      name: 'bad',
      state: 'failed',
      lastError: message,
      contributes: null,
    });
  });

  test(`${row} rejects a strict start`, async () => {
    const fixture = await createSdkFixture([DONE]);
    const start = fixture.start({ strictPlugins: true, extensions: [bad] });
    expect(await failureOf(start)).toMatchObject({ code: 'PLUGIN_INVALID', message });
  });
});

test('A8 a setup that throws leaves neither tools nor hooks', async () => {
  const fixture = await createSdkFixture([DONE]);
  const events: string[] = [];
  const broken: AgentPlugin = {
    name: 'broken',
    manifest: { capabilities: ['tools', 'hooks'] },
    setup(api) {
      api.registerTool(TOOL);
      throw new TypeError('no database');
    },
    hooks: {
      beforeRun: () => void events.push('beforeRun'),
      onEvent: ({ type }) => void events.push(type),
      afterRun: () => void events.push('afterRun'),
    },
  };
  const { result } = await fixture.start({ extensions: [broken] });
  expect([result?.text, events, fixture.service.requests()[0]?.tools.includes('one')]).toEqual([
    'Done.',
    [],
    false,
  ]);
  expect(errorsIn(fixture)).toEqual([
    'plugin broken: its setup failed, so nothing of it is used: no database',
  ]);
});

test('A9 "disabled: true" is fully off', async () => {
  const fixture = await createSdkFixture([DONE]);
  const events: string[] = [];
  const off: AgentPlugin = {
    ...hooksOf({
      beforeRun: () => void events.push('beforeRun'),
      onEvent: ({ type }) => void events.push(type),
    }),
    disabled: true,
    setup: () => void events.push('setup'),
  };
  const { sessionId } = await fixture.start({ extensions: [off] }, { interactive: true });
  expect(events).toEqual([]);
  expect(fixture.core.plugins(sessionId)).toMatchObject([{ name: 'watcher', state: 'disabled' }]);
});

test('A10 of two extensions with one name the first is kept, with a warning', async () => {
  const fixture = await createSdkFixture([call('one'), DONE]);
  const extensions = [toolPlugin('one', () => 'first'), toolPlugin('one', () => 'second')];
  await fixture.start({ extensions });
  expect([answers(fixture), noticesIn(fixture)]).toEqual([
    ['first'],
    [
      'plugin one-plugin: another plugin of the name "one-plugin" comes first, so this one is not used',
    ],
  ]);
});

test('A11 of two tools with one name the last one wins, with a warning', async () => {
  const fixture = await createSdkFixture([call('dup'), DONE]);
  const later = { ...toolPlugin('dup', () => 'last'), name: 'later' };
  await fixture.start({ extensions: [toolPlugin('dup', () => 'first'), later] });
  expect([answers(fixture), noticesIn(fixture)]).toEqual([
    ['last'],
    ['plugin later: the tool dup was registered before; this one takes its place'],
  ]);
});

test('A12 a plugin that registers read_files does not replace the built-in, with a warning', async () => {
  const fixture = await createSdkFixture([
    call('read_files', { files: [{ path: 'none.txt' }] }),
    DONE,
  ]);
  await fixture.start({ extensions: [toolPlugin('read_files', () => 'mine')] });
  expect(answers(fixture).join()).not.toContain('mine');
  expect(fixture.service.requests()[0]?.tools.filter((name) => name === 'read_files')).toHaveLength(
    1,
  );
  expect(noticesIn(fixture)).toEqual([
    "plugin read_files-plugin: the tool read_files is left out: one of Hookline's own has this name; give it another one",
  ]);
});

test('A13 rules are trimmed, awaited, bound to tools and sent in order', async () => {
  const fixture = await createSdkFixture([DONE]);
  const rules = registering('rules', ['rules'], (api) => {
    api.registerRule({ id: 'r1', content: '  R1 ' });
    api.registerRule({ id: 'r2', content: async () => 'R2' });
    api.registerRule({ id: 'r3', content: 'never', whenToolAvailable: 'zz' });
    api.registerRule({ id: 'r4', content: 'with the editor', whenToolAvailable: 'editor' });
    api.registerRule({ id: 'r1', content: 'again' });
  });
  await fixture.start({ extensions: [rules] });
  expect(fixture.service.requests().map(({ system }) => system)).toEqual([
    'SYS\n\nR1\n\nR2\n\nwith the editor\n\nagain',
  ]);
});

test('A14 a rule that throws is left out and reported; the others count', async () => {
  const fixture = await createSdkFixture([DONE]);
  const rules = registering('rules', ['rules'], (api) => {
    api.registerRule({
      id: 'bad',
      content: () => {
        throw new TypeError('no weather');
      },
    });
    api.registerRule({ id: 'good', content: 'R' });
  });
  const { result } = await fixture.start({ extensions: [rules] });
  expect([result?.text, fixture.service.requests()[0]?.system, noticesIn(fixture)]).toEqual([
    'Done.',
    'SYS\n\nR',
    ['plugin rules: the rule bad is left out: no weather'],
  ]);
});

test('A15 with enableTools false the tools of plugins are still offered', async () => {
  const fixture = await createSdkFixture([call('one'), DONE]);
  await fixture.start({ enableTools: false, extensions: [toolPlugin('one', () => 'ran')] });
  expect([fixture.service.requests()[0]?.tools, answers(fixture)]).toEqual([['one'], ['ran']]);
});
