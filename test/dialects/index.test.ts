import { expect, test } from 'vitest';
import {
  findForeignEvent,
  FOREIGN_EVENT_NAMES,
  readForeignPayload,
} from '../../src/dialects/index.ts';

test.each([
  ['TaskCancel', { event: 'RunEnd', facts: { status: 'aborted' } }],
  ['agent_error', { event: 'RunEnd', facts: { status: 'failed' } }],
  ['sessionshutdown', { event: 'SessionEnd', facts: {} }],
  ['nonsense', null],
])('%s under its own name', (name, event) => {
  expect(findForeignEvent(name)).toEqual(event);
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
