import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../src/hooks/handler.ts';
import {
  type DispatchRecord,
  DispatchSubscribers,
  type LateOutcome,
} from '../../src/hooks/dispatch-record.ts';
import { bash, deciding, engineOf, handler } from './handlers.ts';

const EXCHANGE: Exchange = {
  asked: './hook',
  cwd: '/ws',
  payload: Buffer.from('{}'),
  ending: 'exit code 0',
  stdout: 'out',
  stderr: '',
  durationMs: 1,
};

describe('subscribers of an engine', () => {
  test('may be any number, and get the same record each', async () => {
    const engine = engineOf([deciding('a', { effect: 'deny' })]);
    const records: [string, DispatchRecord][] = [];
    engine.subscribe({ onDispatch: (record) => records.push(['first', record]) });
    engine.subscribe({ onDispatch: (record) => records.push(['second', record]) });
    await engine.dispatch(bash('ls'));
    expect(records.map(([name]) => name)).toEqual(['first', 'second']);
    expect(records[0]?.[1]).toBe(records[1]?.[1]);
    expect(records[0]?.[1].verdict.outcomes[0]?.decision).toEqual({ effect: 'deny' });
  });

  test('are not called any more once they stop', async () => {
    const engine = engineOf([deciding('a', {})]);
    const records: DispatchRecord[] = [];
    const stop = engine.subscribe({ onDispatch: (record) => records.push(record) });
    await engine.dispatch(bash('ls'));
    stop();
    await engine.dispatch(bash('ls'));
    expect(records).toHaveLength(1);
  });

  test('that throw become a warning, and the others and the verdict are not touched', async () => {
    const warnings: string[] = [];
    const listen = (warning: Error): number => warnings.push(warning.message);
    process.on('warning', listen);
    const engine = engineOf([deciding('a', { effect: 'deny' })]);
    const records: DispatchRecord[] = [];
    engine.subscribe({
      onDispatch: () => {
        throw new TypeError('broken');
      },
    });
    engine.subscribe({ onDispatch: (record) => records.push(record) });
    const { effect } = await engine.dispatch(bash('ls'));
    await new Promise(setImmediate);
    process.off('warning', listen);
    expect(effect).toBe('deny');
    expect(records).toHaveLength(1);
    expect(warnings.some((warning) => warning.includes('broken'))).toBe(true);
  });

  test('may be shared by several engines, whose dispatches have different ids', async () => {
    const subscribers = new DispatchSubscribers();
    const ids: string[] = [];
    subscribers.subscribe({ onDispatch: ({ id }) => ids.push(id) });
    const engines = [1, 2].map(() => engineOf([deciding('a', {})], { subscribers }));
    for (const engine of engines) await engine.dispatch(bash('ls'));
    expect(new Set(ids).size).toBe(2);
  });
});

describe('exchanges with hooks', () => {
  const talking = handler('talking', (_input, _signal, report) => {
    report?.(EXCHANGE);
    return { decision: { effect: 'allow' } };
  });

  test('are in the record of their dispatch when a subscriber wants them', async () => {
    const engine = engineOf([talking]);
    const records: DispatchRecord[] = [];
    engine.subscribe({ wantsExchanges: true, onDispatch: (record) => records.push(record) });
    await engine.dispatch(bash('ls'));
    expect(records[0]?.exchanges).toEqual([{ hook: 'talking', pass: 1, part: null, ...EXCHANGE }]);
    expect(records[0]?.exchanges[0]?.payload).toBe(EXCHANGE.payload);
  });

  test('are not even built without a subscriber', async () => {
    const reports: unknown[] = [];
    const engine = engineOf([
      handler('talking', (_input, _signal, report) => void reports.push(report)),
    ]);
    const records: DispatchRecord[] = [];
    engine.subscribe({ onDispatch: (record) => records.push(record) });
    await engine.dispatch(bash('ls'));
    expect(reports).toEqual([undefined]);
    expect(records[0]?.exchanges).toEqual([]);
  });

  test('that end after the dispatch come with the late answer, under the same id', async () => {
    const engine = engineOf([
      handler('going-on', (_input, _signal, report) => {
        report?.({ ...EXCHANGE, asked: 'first' });
        const late = Promise.resolve().then(() => {
          report?.({ ...EXCHANGE, asked: 'second' });
          return {};
        });
        return { late };
      }),
    ]);
    const records: DispatchRecord[] = [];
    const late: LateOutcome[] = [];
    engine.subscribe({
      wantsExchanges: true,
      onDispatch: (record) => records.push(record),
      onLate: (outcome) => late.push(outcome),
    });
    await engine.dispatch(bash('ls'));
    await engine.idle();
    expect(records[0]?.exchanges.map(({ asked }) => asked)).toEqual(['first']);
    expect(late[0]?.exchanges.map(({ asked }) => asked)).toEqual(['second']);
    expect(late[0]?.dispatchId).toBe(records[0]?.id);
  });
});
