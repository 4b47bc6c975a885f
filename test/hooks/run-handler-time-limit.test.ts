import { expect, test } from 'vitest';
import type { Answer } from '../../src/hooks/handler.ts';
import type { LateOutcome } from '../../src/hooks/dispatch-record.ts';
import { bash, engineOf, gate, handler, untilAborted } from './handlers.ts';

test('the signal of a handler is aborted when its time is up', async () => {
  const abortReason = gate<unknown>();
  const engine = engineOf([
    handler(
      'slow',
      async (_input, signal) => {
        const answer = await untilAborted(signal);
        abortReason.open(signal.reason);
        return answer;
      },
      { timeoutMs: 5 },
    ),
  ]);
  const { outcomes } = await engine.dispatch(bash('ls'));
  expect(outcomes).toMatchObject([{ failure: { kind: 'timeout' } }]);
  expect(await abortReason.passed).toMatchObject({
    name: 'TimeoutError',
    message: 'did not answer within 5 ms',
  });
});

test('the time of one handler ends no other', async () => {
  const slowEnded = gate();
  const engine = engineOf([
    handler(
      'slow',
      async (_input, signal) => {
        const answer = await untilAborted(signal);
        slowEnded.open();
        return answer;
      },
      { timeoutMs: 5 },
    ),
    handler('other', async (_input, signal) => {
      await slowEnded.passed;
      return { decision: { context: String(signal.aborted) } };
    }),
  ]);
  const { context } = await engine.dispatch(bash('ls'));
  expect(context).toEqual([{ hook: 'other', text: 'false' }]);
});

test('a handler with a time limit still receives the signal of the dispatch', async () => {
  const controller = new AbortController();
  const reasons: unknown[] = [];
  const engine = engineOf([
    handler(
      'slow',
      async (_input, signal) => {
        controller.abort('enough');
        reasons.push(signal.reason);
        return {};
      },
      { timeoutMs: 60_000 },
    ),
  ]);
  const dispatched = engine.dispatch(bash('ls'), { signal: controller.signal });
  await expect(dispatched).rejects.toBe('enough');
  expect(reasons).toEqual(['enough']);
});

test('what goes on in the background after its answer still ends with the engine', async () => {
  const late: LateOutcome[] = [];
  const run = async (_input: unknown, signal: AbortSignal): Promise<Answer> => ({
    late: untilAborted(signal),
  });
  const engine = engineOf([handler('async', run, { timeoutMs: 60_000 })], {
    onLate: (outcome) => late.push(outcome),
  });
  await engine.dispatch(bash('ls'));
  await engine.close();
  expect(late).toMatchObject([{ outcome: { failure: { kind: 'killed', message: 'ended' } } }]);
});
