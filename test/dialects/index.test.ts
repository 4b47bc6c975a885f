import { expect, test } from 'vitest';
import {
  createPluginHandlers,
  DIALECTS,
  EMBEDDED_PLUGIN_DIALECT,
  findDialect,
  findForeignEvent,
  findUnreportedFailure,
  FOREIGN_EVENT_NAMES,
  hasPluginHooks,
  readForeignPayload,
} from '../../src/dialects/index.ts';
import { FAILURE_KINDS } from '../../src/hooks/decision.ts';
import { EVENT_NAMES } from '../../src/hooks/events.ts';
import { LoadedPlugin } from '../../src/plugins/loaded-plugin.ts';
import { createSampleEvent } from '../../src/testing/sample-event.ts';
import { MOMENT, outcomeOf } from '../hooks/handlers.ts';

test.each([
  ['TaskCancel', { event: 'RunEnd', facts: { status: 'aborted' } }],
  ['agent_error', { event: 'RunEnd', facts: { status: 'failed' } }],
  ['sessionshutdown', { event: 'SessionEnd', facts: {} }],
  ['nonsense', null],
])('%s under its own name', (name, event) => {
  expect(findForeignEvent(name)).toEqual(event);
});

test('the functions of a plugin are no names of events', () => {
  expect(findDialect(EMBEDDED_PLUGIN_DIALECT)?.events.find('beforeTool')).toEqual({
    event: 'PreToolUse',
    facts: {},
  });
  expect(findForeignEvent('beforeRun')).toBeNull();
  expect(FOREIGN_EVENT_NAMES).not.toContain('beforeTool');
});

test('every other name of every dialect can be fired', () => {
  const names = DIALECTS.filter(({ name }) => name !== EMBEDDED_PLUGIN_DIALECT).flatMap(
    ({ events }) => events.names,
  );
  expect(FOREIGN_EVENT_NAMES).toEqual(names);
});

test('every foreign name is an event', () => {
  expect(FOREIGN_EVENT_NAMES.map(findForeignEvent)).not.toContain(null);
});

test('payloads of a known agent are read, those of others are refused', () => {
  const payload = { hookName: 'SessionShutdown' };
  expect(readForeignPayload('cline', payload)).toEqual({
    name: 'SessionEnd',
    reason: 'other',
  });
  expect(() => readForeignPayload('nobody', payload)).toThrow(
    expect.objectContaining({
      code: 'USAGE_INVALID',
      message: expect.stringContaining('"nobody"'),
    }),
  );
});

test('plugins have hooks for six moments of a run', () => {
  const events = EVENT_NAMES.filter((name) =>
    hasPluginHooks({ ...MOMENT, ...createSampleEvent(name) }),
  );
  expect(events.toSorted()).toEqual([
    'ModelRequest',
    'ModelResponse',
    'PostToolUse',
    'PostToolUseFailure',
    'PreToolUse',
    'RunEnd',
    'RunStart',
  ]);
});

test('each plugin gets its handlers from its own dialect', async () => {
  const plugins = ['one', 'two'].map(
    (name, index) =>
      new LoadedPlugin(
        { name, manifest: { capabilities: [] }, hooks: { beforeTool: () => undefined } },
        index,
      ),
  );
  const ports = {
    snapshot: () => expect.unreachable(),
    runResult: () => expect.unreachable(),
    findTool: () => null,
  };
  const handlers = await createPluginHandlers(
    plugins,
    ({ name }) => (name === 'one' ? EMBEDDED_PLUGIN_DIALECT : 'nobody'),
    { ports, failsClosed: false, timeoutMs: 1000 },
  );
  expect(handlers.map(({ id }) => id)).toEqual(['plugin:one:beforeTool']);
});

test('failures that a plugin has reported itself are not reported again', () => {
  const listUnreported = (dialect: string) =>
    FAILURE_KINDS.filter((kind) => {
      const failure = { kind, message: 'it failed' };
      return findUnreportedFailure(outcomeOf({ dialect, failure })) === failure;
    });
  expect(listUnreported('plugin')).toEqual(['output', 'config']);
  expect(listUnreported('claude')).toEqual(FAILURE_KINDS);
  expect(listUnreported('nobody')).toEqual(FAILURE_KINDS);
  expect(findUnreportedFailure(outcomeOf({ dialect: 'plugin' }))).toBeNull();
});
