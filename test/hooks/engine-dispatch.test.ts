import { describe, expect, test } from 'vitest';
import { isRecord } from '../../src/base/json.ts';
import type { Verdict } from '../../src/hooks/decision.ts';
import type { ToolView } from '../../src/tool-vocabularies/tool-views.ts';
import type { Handler } from '../../src/hooks/handler.ts';
import { bash, deciding, engineOf, handler, runCommands } from './handlers.ts';

/** Which handler was run in which pass, about which part. */
function runsOf({ outcomes }: Verdict): (string | number | null)[][] {
  return outcomes.map(({ hook, pass, part }) => [hook, pass, part]);
}

function commandOf(tool: ToolView | null): string {
  return isRecord(tool?.input) ? String(tool.input['command']) : '';
}

/** Remembers every input it is asked about. */
function watching(
  id: string,
  wanted: Partial<Handler> = {},
): Handler & { readonly seen: unknown[] } {
  const inputs: unknown[] = [];
  return Object.assign(
    handler(
      id,
      ({ tool }) => {
        inputs.push(tool?.input);
        return {};
      },
      wanted,
    ),
    { seen: inputs },
  );
}

describe('handlers in order', () => {
  const inOrder = { inOrder: true } as const;

  test('wait for all before them and see their rewrites', async () => {
    const order: string[] = [];
    const noting = (id: string, wanted: Partial<Handler>): Handler =>
      handler(
        id,
        async ({ tool }) => {
          const command = commandOf(tool);
          order.push(`${id} starts with ${command}`);
          await new Promise(setImmediate);
          order.push(`${id} ends`);
          return { decision: { input: { command: `${command}${id}` } } };
        },
        wanted,
      );
    const engine = engineOf([noting('1', {}), noting('2', inOrder), noting('3', inOrder)]);
    const verdict = await engine.dispatch(bash('x'));
    expect(order.slice(0, 6)).toEqual([
      '1 starts with x',
      '1 ends',
      '2 starts with x1',
      '2 ends',
      '3 starts with x12',
      '3 ends',
    ]);
    expect(verdict.input).toEqual({ command: 'x123' });
  });

  test('see the prompt as the ones before them left it', async () => {
    const inputs: string[] = [];
    const adding = (id: string): Handler =>
      handler(
        id,
        ({ event }) => {
          const prompt = event.name === 'UserPromptSubmit' ? event.prompt : '';
          inputs.push(prompt);
          return { decision: { prompt: `${prompt}${id}` } };
        },
        { ...inOrder, event: 'UserPromptSubmit' },
      );
    const engine = engineOf([adding('1'), adding('2'), adding('3')]);
    const { changes } = await engine.dispatch({ name: 'UserPromptSubmit', prompt: 'x' });
    expect({ seen: inputs, changes }).toEqual({
      seen: ['x', 'x1', 'x12'],
      changes: { prompt: 'x123' },
    });
  });

  test.each([
    ['text', 'redacted', { response: undefined, text: 'redacted', success: true }],
    ['data', { stdout: 'x' }, { response: { stdout: 'x' }, text: '{"stdout":"x"}', success: true }],
  ])('see the output as the ones before them left it: %s', async (_, output, expected) => {
    const results: unknown[] = [];
    const reading = handler(
      'b',
      ({ event }) => {
        results.push('result' in event ? event.result : null);
        return {};
      },
      { ...inOrder, event: 'PostToolUse' },
    );
    const engine = engineOf([
      deciding('a', { output }, { ...inOrder, event: 'PostToolUse' }),
      reading,
    ]);
    const part = { response: { stdout: 'secret' }, text: 'secret', success: true };
    const verdict = await engine.dispatch({
      ...bash('env'),
      name: 'PostToolUse',
      result: { ...part, parts: [part] },
      durationMs: 1,
    });
    expect(results).toEqual([expected]);
    expect(verdict.output).toEqual(output);
  });

  test('a parallel handler after one in order sees the rewrite, too', async () => {
    const last = watching('last');
    const engine = engineOf([
      deciding('a', { input: { command: 'new' } }, inOrder),
      watching('b', inOrder),
      last,
    ]);
    await engine.dispatch(bash('old'));
    expect(last.seen).toEqual([{ command: 'new' }]);
  });

  test.each([
    ['a denial', { effect: 'deny' }],
    ['a stop that skips', { stop: { reason: 'r', pending: 'skip' } }],
  ] as const)('the rest of the chain does not run after %s', async (_, decision) => {
    const engine = engineOf([
      deciding('one', { input: { command: 'kept' } }, inOrder),
      deciding('two', decision, inOrder),
      deciding('three', {}, inOrder),
      deciding('four', {}, inOrder),
      deciding('at once', {}),
      deciding('other chain', {}, { ...inOrder, dialect: 'other' }),
    ]);
    const verdict = await engine.dispatch(bash('x'));
    expect(verdict.skipped).toEqual([
      { hook: 'three', kind: 'order', why: 'after two refused' },
      { hook: 'four', kind: 'order', why: 'after two refused' },
    ]);
    expect(runsOf(verdict)).toEqual([
      ['one', 1, null],
      ['two', 1, null],
      ['at once', 1, null],
      ['other chain', 1, null],
    ]);
    expect(verdict.input).toBeNull();
    expect(verdict.outcomes[0]?.decision).toEqual({ input: { command: 'kept' } });
  });

  test('a parallel handler that refuses ends no chain', async () => {
    const engine = engineOf([deciding('a', { effect: 'deny' }), deciding('b', {}, inOrder)]);
    expect(runsOf(await engine.dispatch(bash('x')))).toEqual([
      ['a', 1, null],
      ['b', 1, null],
    ]);
  });

  test('a failure with the policy closed ends the chain, one with the policy open does not', async () => {
    const chain = (onFailure: 'open' | 'closed') => [
      handler('a', () => ({ failure: { kind: 'exit', message: 'x' } }), { ...inOrder, onFailure }),
      deciding('b', {}, inOrder),
    ];
    const open = await engineOf(chain('open')).dispatch(bash('x'));
    const closed = await engineOf(chain('closed')).dispatch(bash('x'));
    expect(open.skipped).toEqual([]);
    expect(closed.skipped).toEqual([{ hook: 'b', kind: 'order', why: 'after a refused' }]);
  });
});

describe('after a rewrite', () => {
  const rewriting = (id: string, command: string, wanted: Partial<Handler> = {}): Handler =>
    deciding(id, { input: { command } }, wanted);

  test('every handler that did not see the final input looks again, the rewriter does not', async () => {
    const before = watching('before');
    const after = watching('after');
    const ordered = watching('ordered', { inOrder: true });
    const engine = engineOf([before, rewriting('rewriter', 'new'), after, ordered]);
    const verdict = await engine.dispatch(bash('old'));
    expect(runsOf(verdict)).toEqual([
      ['before', 1, null],
      ['rewriter', 1, null],
      ['after', 1, null],
      ['ordered', 1, null],
      ['before', 2, null],
      ['after', 2, null],
    ]);
    expect([before.seen, after.seen, ordered.seen]).toEqual([
      [{ command: 'old' }, { command: 'new' }],
      [{ command: 'old' }, { command: 'new' }],
      [{ command: 'new' }],
    ]);
    expect(verdict.input).toEqual({ command: 'new' });
  });

  test('of two rewrites the last declared one counts, and the other handler looks again', async () => {
    const engine = engineOf([rewriting('a', 'one'), rewriting('b', 'two')]);
    const verdict = await engine.dispatch(bash('old'));
    expect(verdict.input).toEqual({ command: 'two' });
    expect(runsOf(verdict)).toEqual([
      ['a', 1, null],
      ['b', 1, null],
      ['a', 2, null],
    ]);
  });

  test('the second pass can deny, and then nothing is rewritten', async () => {
    const guard = handler('guard', ({ tool }) => {
      const command = commandOf(tool);
      return command === 'bad' ? { decision: { effect: 'deny', reason: 'not that' } } : {};
    });
    const verdict = await engineOf([guard, rewriting('b', 'bad')]).dispatch(bash('good'));
    expect(verdict).toMatchObject({
      effect: 'deny',
      reasons: [{ hook: 'guard', text: 'not that' }],
      input: null,
    });
  });

  test('the second pass can neither allow, rewrite nor add context', async () => {
    const eager = handler('eager', ({ tool }) => {
      const command = commandOf(tool);
      if (command === 'old') return {};
      return { decision: { effect: 'allow', input: { command: 'mine' }, context: 'more' } };
    });
    const verdict = await engineOf([eager, rewriting('b', 'new')]).dispatch(bash('old'));
    expect(verdict).toMatchObject({ effect: 'pass', input: { command: 'new' }, context: [] });
  });

  test('a handler of the second pass that denies and rewrites badly still denies', async () => {
    const guard = handler('guard', ({ tool }) => {
      const command = commandOf(tool);
      return command === 'old' ? {} : { decision: { effect: 'deny', reason: 'no', input: 'text' } };
    });
    const verdict = await engineOf([guard, rewriting('b', 'new')]).dispatch(bash('old'));
    expect(verdict.effect).toBe('deny');
  });

  test('handlers that fit only now run and are no longer skipped', async () => {
    const late = deciding(
      'late',
      { effect: 'ask', reason: 'sure?' },
      {
        fits: (event) =>
          'tool' in event && commandOf({ ...event.tool, part: null }) === 'new'
            ? null
            : 'not for this command',
      },
    );
    const verdict = await engineOf([late, rewriting('b', 'new')]).dispatch(bash('old'));
    expect(runsOf(verdict)).toEqual([
      ['b', 1, null],
      ['late', 2, null],
    ]);
    expect(verdict).toMatchObject({ effect: 'ask', skipped: [] });
  });

  test('handlers that fit no more are not asked again', async () => {
    const early = deciding(
      'early',
      {},
      {
        fits: (event) =>
          'tool' in event && commandOf({ ...event.tool, part: null }) === 'old'
            ? null
            : 'not for this command',
      },
    );
    const verdict = await engineOf([early, rewriting('b', 'new')]).dispatch(bash('old'));
    expect(runsOf(verdict)).toEqual([
      ['early', 1, null],
      ['b', 1, null],
    ]);
    expect(verdict.skipped).toEqual([]);
  });

  test('a handler that lost its trust meanwhile is named', async () => {
    let trusted = true;
    const guard = deciding('guard', {}, { withheld: () => (trusted ? null : 'modified: 1 file') });
    const meddler = handler('meddler', () => {
      trusted = false;
      return { decision: { input: { command: 'new' } } };
    });
    const verdict = await engineOf([guard, meddler]).dispatch(bash('old'));
    expect(verdict.skipped).toEqual([
      {
        hook: 'guard',
        kind: 'withheld',
        why: 'no second look at the rewritten input: modified: 1 file',
      },
    ]);
  });

  test('background handlers do not run again', async () => {
    const late: string[] = [];
    const engine = engineOf([watching('behind', { background: true }), rewriting('b', 'new')], {
      onLate: ({ outcome }) => late.push(outcome.hook),
    });
    const verdict = await engine.dispatch(bash('old'));
    await engine.idle();
    expect(runsOf(verdict)).toEqual([
      ['behind', 1, null],
      ['b', 1, null],
    ]);
    expect(late).toEqual(['behind']);
  });

  test('a rewrite to the same input changes nothing and no handler looks again', async () => {
    const verdict = await engineOf([watching('a'), rewriting('b', 'same')]).dispatch(bash('same'));
    expect(verdict.input).toBeNull();
    expect(verdict.outcomes).toHaveLength(2);
  });

  test('no handler looks again when the call is refused anyway', async () => {
    const engine = engineOf([
      watching('a'),
      rewriting('b', 'new'),
      deciding('c', { effect: 'deny' }),
    ]);
    const verdict = await engine.dispatch(bash('old'));
    expect(verdict.outcomes).toHaveLength(3);
    expect(verdict).toMatchObject({ effect: 'deny', input: null });
  });

  test('the original event is left as it was', async () => {
    const event = bash('old');
    await engineOf([rewriting('a', 'new'), watching('b')]).dispatch(event);
    expect(event).toEqual(bash('old'));
  });

  test('the same holds for PermissionRequest', async () => {
    const permissionRequest = { event: 'PermissionRequest' } as const;
    const engine = engineOf([
      watching('a', permissionRequest),
      rewriting('b', 'new', permissionRequest),
    ]);
    const verdict = await engine.dispatch({ ...bash('old'), name: 'PermissionRequest' });
    expect(verdict.input).toEqual({ command: 'new' });
    expect(runsOf(verdict).at(-1)).toEqual(['a', 2, null]);
  });
});

describe('a plural call', () => {
  const classic = { vocabulary: 'classic' } as const;

  test('runs a handler with a singular vocabulary once per part, one with a plural vocabulary once', async () => {
    const single = watching('single', classic);
    const sdkWatcher = watching('whole', { vocabulary: 'sdk' });
    const verdict = await engineOf([single, sdkWatcher]).dispatch(runCommands('a', 'b'));
    expect(runsOf(verdict)).toEqual([
      ['single', 1, 0],
      ['single', 1, 1],
      ['whole', 1, null],
    ]);
    expect(single.seen).toEqual([
      { command: 'a', requires_approval: false },
      { command: 'b', requires_approval: false },
    ]);
    expect(sdkWatcher.seen).toEqual([{ commands: ['a', 'b'] }]);
  });

  test('gets the strictest answer of all parts', async () => {
    const guard = handler(
      'guard',
      ({ tool }) => {
        const command = commandOf(tool);
        return command === 'bad' ? { decision: { effect: 'deny', reason: command } } : {};
      },
      classic,
    );
    const verdict = await engineOf([guard]).dispatch(runCommands('good', 'bad', 'fine'));
    expect(verdict).toMatchObject({ effect: 'deny', reasons: [{ hook: 'guard', text: 'bad' }] });
    expect(verdict.outcomes.map(({ effect, part }) => [effect, part])).toEqual([
      ['pass', 0],
      ['deny', 1],
      ['pass', 2],
    ]);
  });

  test('is composed of the rewrites of its parts', async () => {
    const upper = (id: string, wanted: string): Handler =>
      handler(
        id,
        ({ tool }) => {
          const command = commandOf(tool);
          return command === wanted
            ? { decision: { input: { command: wanted.toUpperCase() } } }
            : {};
        },
        classic,
      );
    const verdict = await engineOf([upper('one', 'a'), upper('two', 'c')]).dispatch(
      runCommands('a', 'b', 'c'),
    );
    expect(verdict.input).toEqual({ commands: ['A', 'b', 'C'] });
    expect(runsOf(verdict)).toEqual([
      ['one', 1, 0],
      ['one', 1, 1],
      ['one', 1, 2],
      ['two', 1, 0],
      ['two', 1, 1],
      ['two', 1, 2],
      ['one', 2, 2],
      ['two', 2, 0],
    ]);
  });

  test('a rewrite of one part makes handlers look again only at that part', async () => {
    const single = watching('single', classic);
    const sdkWatcher = watching('whole', { vocabulary: 'sdk' });
    const rewriter = handler(
      'rewriter',
      ({ tool }) => (tool?.part === 1 ? { decision: { input: { command: 'B' } } } : {}),
      classic,
    );
    await engineOf([single, sdkWatcher, rewriter]).dispatch(runCommands('a', 'b'));
    expect(single.seen.slice(2)).toEqual([{ command: 'B', requires_approval: false }]);
    expect(sdkWatcher.seen.slice(1)).toEqual([{ commands: ['a', 'B'] }]);
  });

  test('a chain may change the number of parts and then rewrite a new one', async () => {
    const inOrder = { inOrder: true } as const;
    const more = deciding(
      'more',
      { input: { commands: ['a', 'b'] } },
      { ...inOrder, vocabulary: 'sdk' },
    );
    const second = handler(
      'second',
      ({ tool }) => (tool?.part === 1 ? { decision: { input: { command: 'B' } } } : {}),
      { ...inOrder, ...classic },
    );
    const verdict = await engineOf([more, second]).dispatch(runCommands('a'));
    expect(verdict.input).toEqual({ commands: ['a', 'B'] });
    expect(verdict.outcomes.map(({ failure }) => failure)).not.toContainEqual(expect.anything());
  });

  test('a part that another rewrite removed fails the rewrite, and its hook looks again', async () => {
    const fewer = deciding('fewer', { input: { commands: ['a'] } }, { vocabulary: 'sdk' });
    const second = handler(
      'second',
      ({ tool }) => (tool?.part === 1 ? { decision: { input: { command: 'B' } } } : {}),
      classic,
    );
    const verdict = await engineOf([fewer, second]).dispatch(runCommands('x', 'b'));
    expect(verdict.input).toEqual({ commands: ['a'] });
    expect(verdict.outcomes.map(({ hook, pass, status }) => [hook, pass, status])).toEqual([
      ['fewer', 1, 'decided'],
      ['second', 1, 'decided'],
      ['second', 1, 'failed'],
      ['second', 2, 'decided'],
    ]);
  });
});

describe('a rewrite that cannot be used', () => {
  test('is a failed outcome', async () => {
    const verdict = await engineOf([deciding('a', { input: 'just text' })]).dispatch(bash('ls'));
    expect(verdict).toMatchObject({ effect: 'pass', input: null });
    expect(verdict.outcomes[0]).toMatchObject({
      status: 'failed',
      effect: 'pass',
      decision: null,
      failure: {
        kind: 'output',
        message: expect.stringMatching(/^its rewrite of the tool input cannot be used: /),
      },
    });
  });

  test('refuses when its handler fails closed', async () => {
    const engine = engineOf([deciding('a', { input: null }, { onFailure: 'closed' })]);
    expect((await engine.dispatch(bash('ls'))).effect).toBe('deny');
  });

  test.each(['deny', 'ask', 'defer'] as const)('does not drop %s', async (effect) => {
    const engine = engineOf([deciding('a', { effect, reason: 'why', input: 7 })]);
    const verdict = await engine.dispatch(bash('ls'));
    expect(verdict).toMatchObject({ effect, reasons: [{ hook: 'a', text: 'why' }], input: null });
    expect(verdict.outcomes[0]?.notes).toEqual([
      expect.stringMatching(/^its rewrite of the tool input cannot be used: /),
    ]);
  });

  test('leaves the rewrites of others alone', async () => {
    const engine = engineOf([
      deciding('a', { input: { command: 'new' } }),
      deciding('b', { input: [] }),
    ]);
    expect((await engine.dispatch(bash('old'))).input).toEqual({ command: 'new' });
  });
});

test('a handler writes its rewrite in the vocabulary it names', async () => {
  const engine = engineOf([
    deciding('a', { input: { commands: ['new'] }, inputFace: 'sdk' }, { vocabulary: 'classic' }),
  ]);
  expect((await engine.dispatch(bash('old'))).input).toEqual({ command: 'new' });
});

test('keys of a rewrite that the call cannot hold are named', async () => {
  const input = { command: 'new', requires_approval: true, surprise: 1 };
  const engine = engineOf([deciding('a', { input }, { vocabulary: 'classic' })]);
  const verdict = await engine.dispatch(bash('old'));
  expect(verdict.input).toEqual({ command: 'new' });
  expect(verdict.outcomes[0]?.notes).toEqual([
    expect.stringMatching(/^its rewrite says .*surprise.*; left out$/),
  ]);
});
