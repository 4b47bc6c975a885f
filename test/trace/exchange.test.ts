import { expect, test } from 'vitest';
import {
  createExchangeSubscriber,
  decodePayload,
  type DecodedExchange,
} from '../../src/trace/exchange.ts';
import { createDispatchEntry } from '../../src/trace/entry.ts';
import { recordOf } from './records.ts';

const RECORDED = {
  hook: 'one',
  pass: 1,
  part: null,
  asked: './one',
  cwd: '/ws',
  payload: Buffer.from('{"a":1}'),
  ending: 'exit code 0',
  stdout: 'out',
  stderr: 'err',
  durationMs: 3,
} as const;

test('a subscriber to exchanges gets each as text, with the id of its dispatch', () => {
  const records: DecodedExchange[] = [];
  const subscriber = createExchangeSubscriber(
    (exchange) => records.push(exchange),
    (hook) => hook === 'one',
  );
  subscriber.onDispatch?.({
    ...recordOf(),
    exchanges: [RECORDED, { ...RECORDED, hook: 'other' }],
  });
  const { pass: _pass, part: _part, ...rest } = RECORDED;
  expect(records).toEqual([{ ...rest, dispatchId: 'd1', payload: '{"a":1}' }]);
});

test('the entry of a dispatch has what each hook was sent, cut, and how it ended', () => {
  const payload = Buffer.from('x'.repeat(20_000));
  const { exchanges } = createDispatchEntry({
    ...recordOf(),
    exchanges: [{ ...RECORDED, payload }],
  });
  const { stdout: _stdout, stderr: _stderr, ...rest } = RECORDED;
  expect(exchanges).toEqual([{ ...rest, payload: 'x'.repeat(8192 + 1024), payloadBytes: 20_000 }]);
});

test('a character that the limit splits is left out', () => {
  expect(decodePayload(Buffer.from('aé'), 2)).toBe('a');
});
