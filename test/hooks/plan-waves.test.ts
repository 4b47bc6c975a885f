import { describe, expect, test } from 'vitest';
import type { Handler, Wave } from '../../src/hooks/handler.ts';
import { bash, deciding, engineOf, handler } from './handlers.ts';

interface Asked {
  readonly hook: string;
  readonly wave: Wave | undefined;
}

function watched(asked: Asked[], id: string, wanted: Partial<Handler> = {}): Handler {
  const withheld = (wave?: Wave): null => {
    asked.push({ hook: id, wave });
    return null;
  };
  return deciding(id, { context: id }, { ...wanted, withheld });
}

function wavesOf(asked: readonly Asked[]): number {
  return new Set(asked.map(({ wave }) => wave)).size;
}

describe('a wave', () => {
  test('is shared by those who start together', async () => {
    const trustChecks: Asked[] = [];
    const engine = engineOf(['a', 'b', 'c'].map((id) => watched(trustChecks, id)));
    await engine.dispatch(bash('ls'));
    expect(trustChecks.map(({ hook }) => hook)).toEqual(['a', 'b', 'c']);
    expect(wavesOf(trustChecks)).toBe(1);
  });

  test('ends with each dispatch', async () => {
    const trustChecks: Asked[] = [];
    const engine = engineOf([watched(trustChecks, 'a')]);
    await engine.dispatch(bash('ls'));
    await engine.dispatch(bash('ls'));
    expect(wavesOf(trustChecks)).toBe(2);
  });

  test('ends when something was waited for, because trust may have changed meanwhile', async () => {
    const trustChecks: Asked[] = [];
    const slow = handler('slow', async () => ({ decision: { context: 'slow' } }));
    const engine = engineOf([
      slow,
      watched(trustChecks, 'before'),
      watched(trustChecks, 'after', { inOrder: true }),
      watched(trustChecks, 'beside'),
    ]);
    await engine.dispatch(bash('ls'));
    const [before, after, beside] = trustChecks.map(({ wave }) => wave);
    expect(after).not.toBe(before);
    expect(beside).toBe(after);
  });

  test('ends before the second pass over a rewritten call', async () => {
    const trustChecks: Asked[] = [];
    const engine = engineOf([
      watched(trustChecks, 'guard'),
      deciding('writer', { input: { command: 'ls -l' } }),
    ]);
    await engine.dispatch(bash('ls'));
    expect(trustChecks.map(({ hook }) => hook)).toEqual(['guard', 'guard']);
    expect(wavesOf(trustChecks)).toBe(2);
  });
});

describe('preparing', () => {
  function program(log: string[], id: string, wanted: Partial<Handler> = {}): Handler {
    const run = async (): Promise<undefined> => void log.push(`run ${id}`);
    return handler(id, run, { prepare: () => void log.push(`prepare ${id}`), ...wanted });
  }

  test('comes before the first of several is started', async () => {
    const log: string[] = [];
    await engineOf([program(log, 'a'), program(log, 'b')]).dispatch(bash('ls'));
    expect(log).toEqual(['prepare a', 'prepare b', 'run a', 'run b']);
  });

  test('is left out for a single handler, which can do it while it starts', async () => {
    const log: string[] = [];
    await engineOf([program(log, 'a')]).dispatch(bash('ls'));
    expect(log).toEqual(['run a']);
  });

  test('that fails affects that handler only, which has failed', async () => {
    const log: string[] = [];
    const prepare = (): never => {
      throw new Error('not like this');
    };
    const broken = program(log, 'a', { prepare, onFailure: 'closed' });
    const verdict = await engineOf([broken, program(log, 'b')]).dispatch(bash('ls'));
    expect(log).toEqual(['prepare b', 'run b']);
    expect(verdict.outcomes.map(({ failure }) => failure?.message)).toEqual([
      'not like this',
      undefined,
    ]);
    expect(verdict.effect).toBe('deny');
  });
});
