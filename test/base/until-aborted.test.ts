import { describe, expect, it } from 'vitest';
import { untilAborted } from '../../src/base/until-aborted.ts';

describe('work that does not listen', () => {
  it('is left behind when the signal aborts', async () => {
    const abort = new AbortController();
    const waiting = untilAborted(new Promise<never>(() => undefined), abort.signal);
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  it('gives its value, or its failure, when it comes first', async () => {
    const { signal } = new AbortController();
    expect(await untilAborted(Promise.resolve(1), signal)).toBe(1);
    await expect(untilAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
  });

  it('may fail unheard afterwards', async () => {
    const abort = new AbortController();
    let fail = (): void => undefined;
    const work = new Promise<never>((_resolve, reject) => {
      fail = () => reject(new Error('late'));
    });
    const waiting = untilAborted(work, abort.signal);
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    fail();
  });
});
