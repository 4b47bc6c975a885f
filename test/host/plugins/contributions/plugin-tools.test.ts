import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentPlugin } from '../../../../src/plugins/contract/plugin.ts';
import {
  type AgentTool,
  type AgentToolContext,
  createTool,
} from '../../../../src/plugins/contract/tool.ts';
import { moment } from '../../../agent/scripted-session.ts';
import {
  noticesIn,
  recordingFetch,
  registering,
  answers,
  call,
  createSdkFixture,
  DONE,
  hooksOf,
  type ServiceTurn,
  toolPlugin,
} from '../../../compat/cline/sdk-fixture.ts';

/** Runs one call of each tool, and returns the results that the model got. */
async function answersOf(extensions: AgentPlugin[], ...turns: readonly ServiceTurn[]) {
  const { fetch, texts } = recordingFetch();
  const fixture = await createSdkFixture([...turns, DONE]);
  const { result } = await fixture.start({ fetch, extensions });
  return { fixture, result, answers: texts('tool') };
}

function withTool(tool: object): AgentPlugin {
  return registering('bringer', ['tools'], (api) => api.registerTool(tool as AgentTool));
}

describe('a tool may return', () => {
  const trap = {
    good: 1,
    get bad(): number {
      throw new TypeError('no');
    },
  };
  const closed = new Proxy(
    {},
    {
      ownKeys() {
        throw new TypeError('no');
      },
    },
  );
  const circle: unknown[] = [1];
  circle.push(circle);

  it.each([
    ['getters that throw', trap, '{"good":1,"bad":"[cannot be read: no]"}'],
    ['a list that contains itself', circle, '[1,"[circular]"]'],
    ['big integers in data', { n: [1n, 2n] }, '{"n":["1","2"]}'],
    ['a function', () => 1, '(function)'],
    ['a symbol', Symbol('s'), '(symbol)'],
    ['what cannot be looked at', closed, '{}'],
  ])('%s', async (_what, value, text) => {
    const toolAnswers = await answersOf([toolPlugin('one', () => value)], call('one'));
    expect([toolAnswers.answers, toolAnswers.result?.text]).toEqual([[text], 'Done.']);
  });

  it('a hundred megabytes, of which the model is sent a beginning', async () => {
    const huge = 'x'.repeat(100 * 1024 * 1024);
    const rows = Array.from({ length: 1000 }, () => huge);
    const { answers: inputs, result } = await answersOf(
      [toolPlugin('text', () => huge), toolPlugin('data', () => ({ rows }))],
      call('text'),
      call('data'),
    );
    expect(inputs.map((text) => text.length < 101_000)).toEqual([true, true]);
    expect(inputs.map((text) => text.slice(-50))).toEqual([
      expect.stringMatching(/x\n\[cut: 104857600 characters in all\]$/),
      expect.stringMatching(/x\n\[cut: only the first 100000 characters\]$/),
    ]);
    expect(result?.text).toBe('Done.');
  });

  it('a picture that is too large, which becomes a sentence', async () => {
    const data = 'A'.repeat(6 * 1024 * 1024);
    const blocks = [{ type: 'image', data, mediaType: 'image/png' }];
    const { answers: inputs } = await answersOf([toolPlugin('one', () => blocks)], call('one'));
    expect(inputs.join()).toMatch(/^\[an image of type image\/png and 6291456 characters/);
  });
});

describe('a tool may return a stream', () => {
  async function* words(): AsyncGenerator {
    yield 'one ';
    yield Buffer.from('two ');
    yield { three: 3 };
  }

  it.each([
    ['an async generator', () => words()],
    ['one of Node.js', () => Readable.from(words())],
    ['one of the web', () => Readable.toWeb(Readable.from(words()))],
  ])('%s, which is read to its end', async (_what, stream) => {
    const { answers: inputs } = await answersOf([toolPlugin('one', stream)], call('one'));
    expect(inputs).toEqual(['one two {"three":3}\n']);
  });

  it('that is endless, which is ended when it is long enough', async () => {
    let isEnded = false;
    async function* endless(): AsyncGenerator<string> {
      try {
        for (;;) yield 'again and ';
      } finally {
        isEnded = true;
      }
    }
    const { answers: inputs, result } = await answersOf(
      [toolPlugin('one', () => endless())],
      call('one'),
    );
    expect(inputs.join().slice(-40)).toMatch(/again.*\n\[cut: the stream goes on\]$/s);
    expect([isEnded, result?.text]).toEqual([true, 'Done.']);
  });

  it.each([
    [
      'that says nothing and never waits',
      async function* () {
        for (;;) yield '';
      },
    ],
    [
      'that waits for ever',
      async function* () {
        yield 'a';
        await new Promise(() => undefined);
      },
    ],
  ])('%s, until its time is over', async (_what, stream) => {
    const slow = toolPlugin('one', () => stream(), { timeoutMs: 100 });
    const { answers: inputs, result } = await answersOf([slow], call('one'));
    expect([inputs, result?.text]).toEqual([
      ['{"error":"one did not end within 100 ms"}'],
      'Done.',
    ]);
  });

  it('that breaks, which is a failure', async () => {
    const breaking = toolPlugin('one', async function* () {
      yield 'a';
      throw new TypeError('torn');
    });
    const { answers: inputs } = await answersOf([breaking], call('one'));
    expect(inputs).toEqual(['{"error":"torn"}']);
  });
});

describe('a tool may throw', () => {
  it.each([
    ['nothing', undefined, 'undefined'],
    ['an error without a word', new TypeError(''), 'one failed and did not say why'],
    [
      'an error whose message is none',
      Object.assign(new TypeError(), { message: { a: 1 } }),
      '[object Object]',
    ],
    ['what has no text', Object.create(null), 'it threw something that cannot be shown'],
  ])('%s', async (_what, thrown, text) => {
    const throwing = toolPlugin('one', () => {
      throw thrown;
    });
    const { answers: inputs, result } = await answersOf([throwing], call('one'));
    expect([inputs, result?.text]).toEqual([[JSON.stringify({ error: text })], 'Done.']);
  });
});

describe('a tool with an odd definition', () => {
  const plain = { name: 'one', description: 'one', inputSchema: {}, execute: () => 'ran' };
  const circular: Record<string, unknown> = { type: 'object' };
  circular['properties'] = { again: circular };

  it.each([
    ['has a description that is none', { ...plain, description: 5 }],
    ['has a description that throws', withGetter('description')],
    ['has a time-out that is none', { ...plain, timeoutMs: Number.NaN }],
    ['has a time-out of nothing', { ...plain, timeoutMs: 0 }],
    ['has a lifecycle that throws', withGetter('lifecycle')],
    ['has more retries than there are', { ...plain, maxRetries: Number.POSITIVE_INFINITY }],
  ])('%s works all the same', async (_what, tool) => {
    const { answers: inputs } = await answersOf([withTool(tool)], call('one'));
    expect(inputs).toEqual(['ran']);
  });

  function withGetter(key: string): object {
    return Object.defineProperty({ ...plain }, key, {
      get() {
        throw new TypeError('no');
      },
    });
  }

  it('has a schema that JSON cannot express: any object will do, which is reported', async () => {
    const { fixture, answers: inputs } = await answersOf(
      [withTool({ ...plain, inputSchema: circular })],
      call('one', { any: 1 }),
    );
    expect([inputs, noticesIn(fixture)]).toEqual([
      ['ran'],
      [
        'plugin bringer: the tool one: its input schema cannot be converted to JSON Schema, so a model may pass any object',
      ],
    ]);
  });

  it('has an execute that is no function: its plugin is not set up, the others are', async () => {
    const fixture = await createSdkFixture([call('two'), DONE]);
    const bad = withTool({ ...plain, execute: 'run' });
    await fixture.start({ extensions: [bad, toolPlugin('two', () => 'ran')] });
    expect(answers(fixture)).toEqual(['ran']);
  });
});

describe('schemas of libraries', () => {
  it('give the tool the parsed input, and hooks the model’s input', async () => {
    const records: unknown[] = [];
    const inputSchema = z.object({
      at: z.string().transform((text) => new Date(text)),
      count: z.number().default(3),
    });
    const dated = withTool(
      createTool({
        name: 'one',
        description: '',
        inputSchema,
        execute: (input: unknown) => {
          const { at, count } = inputSchema.parse({ ...Object(input), at: '2026-01-01' });
          return [Object(input).at instanceof Date, at.getTime(), count];
        },
      }),
    );
    const rewriting = hooksOf({
      beforeTool({ input }) {
        records.push(input);
        return { input: { ...Object(input), at: '2026-01-01' } };
      },
    });
    const { answers: inputs } = await answersOf(
      [dated, rewriting],
      call('one', { at: '2025-01-01' }),
    );
    expect(records).toEqual([{ at: '2025-01-01' }]);
    expect(inputs).toEqual([JSON.stringify([true, Date.UTC(2026, 0, 1), 3])]);
  });

  it('of any kind are called, also asynchronous ones', async () => {
    const inputSchema = {
      '~standard': {
        version: 1,
        vendor: 'mine',
        validate: async (value: unknown) =>
          Object(value).name === 'x'
            ? { value: { name: 'made of x' } }
            : { issues: [{ message: 'must be x', path: ['name'] }] },
      },
    };
    const one = withTool({
      name: 'one',
      description: '',
      inputSchema,
      execute: (input: unknown) => input,
    });
    const { answers: inputs } = await answersOf(
      [one],
      call('one', { name: 'y' }),
      call('one', { name: 'x' }),
    );
    expect(inputs).toEqual([
      'The input of one does not fit its schema: name: must be x.',
      '{"name":"made of x"}',
    ]);
  });

  it.each([
    ['throws', () => nothing()],
    ['gives nothing', () => undefined],
  ])('that %s when called refuse the call', async (_what, validate) => {
    const inputSchema = { '~standard': { version: 1, vendor: 'mine', validate } };
    const one = withTool({ name: 'one', description: '', inputSchema, execute: () => 'ran' });
    const { answers: inputs, result } = await answersOf([one], call('one'));
    expect(inputs.join()).toContain('The input of one does not fit its schema: ');
    expect(result?.text).toBe('Done.');
  });

  function nothing(): never {
    throw new TypeError('broken');
  }
});

describe('a call', () => {
  it('receives an abort through its signal, and is not waited for', async () => {
    const records: boolean[] = [];
    const fixture = await createSdkFixture([call('one'), DONE]);
    const stuck = withTool({
      name: 'one',
      description: '',
      inputSchema: {},
      execute: (_input: unknown, { signal }: AgentToolContext) => {
        signal?.addEventListener('abort', () => records.push(true));
        void fixture.core.abort(sessionId, 'enough');
        return new Promise(() => undefined);
      },
    });
    const { sessionId } = await fixture.core.start({
      config: fixture.config({ extensions: [stuck] }),
    });
    const result = await fixture.core.send({ sessionId, prompt: 'go' });
    expect([records, result?.finishReason, result?.stopReason]).toEqual([
      [true],
      'aborted',
      'enough',
    ]);
  });

  it('passes on its updates, whatever they are, and none after its end', async () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    let late: (() => void) | undefined;
    const telling = withTool({
      name: 'one',
      description: '',
      inputSchema: {},
      execute: (_input: unknown, { emitUpdate }: AgentToolContext) => {
        for (const update of ['half', { percent: 50 }, circle, 1n]) emitUpdate?.(update);
        late = () => emitUpdate?.('too late');
        return 'ran';
      },
    });
    const fixture = await createSdkFixture([call('one'), DONE]);
    await fixture.start({ extensions: [telling, hooksOf({ beforeModel: () => late?.() })] });
    const updates = fixture
      .agentEvents()
      .flatMap((event) =>
        event.type === 'content_update' && 'update' in event ? [event.update] : [],
      );
    expect(updates).toEqual(['half', { percent: 50 }, '{"self":"[circular]"}', '"1"']);
  });

  it('runs beside others only when its tool allows it', async () => {
    const bothBegun = moment();
    let startCount = 0;
    const meeting = toolPlugin(
      'meeting',
      async () => {
        startCount += 1;
        if (startCount === 2) bothBegun.reach();
        await bothBegun.reached;
        return 'met';
      },
      { executionMode: 'parallel', timeoutMs: 20_000 },
    );
    const order: string[] = [];
    const alone = toolPlugin('alone', async () => {
      order.push('begins');
      await nextTurn();
      order.push('ends');
    });
    const twice = (name: string): ServiceTurn => ({
      tools: [1, 2].map((n) => ({ name, input: { n } })),
    });
    const { answers: inputs } = await answersOf([meeting, alone], twice('meeting'), twice('alone'));
    expect(inputs).toEqual(['met', 'met', '(no output)', '(no output)']);
    expect(order).toEqual(['begins', 'ends', 'begins', 'ends']);
  });

  it('that does not complete the run after all goes on', async () => {
    const finish = toolPlugin('finish', () => 'finished', { lifecycle: { completesRun: true } });
    const doubting = hooksOf({
      afterTool: () => ({ result: { output: 'not yet', isError: true } }),
    });
    const { answers: inputs, result } = await answersOf([finish, doubting], call('finish'));
    expect([inputs, result?.text]).toEqual([['not yet'], 'Done.']);
  });

  it('completes the run with what a hook made of its output', async () => {
    const finish = toolPlugin('finish', () => 'finished', { lifecycle: { completesRun: true } });
    const polishing = hooksOf({ afterTool: () => ({ result: { output: 'polished' } }) });
    const { result } = await answersOf([finish, polishing], call('finish'));
    expect(result?.text).toBe('polished');
  });
});

describe('a hook that answers with an unusable value', () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;

  it('of the input, is reported, and the input stays', async () => {
    const { fixture, answers: inputs } = await answersOf(
      [toolPlugin('one', (input) => input), hooksOf({ beforeTool: () => ({ input: circle }) })],
      call('one', { a: 1 }),
    );
    expect(inputs).toEqual(['{"a":1}']);
    expect(noticesIn(fixture)).toEqual([
      'plugin watcher: beforeTool failed: beforeTool gave an "input" that cannot be written as JSON, so the input is not changed',
    ]);
  });

  it('of the input, keeps its refusal', async () => {
    const refusing = hooksOf({ beforeTool: () => ({ skip: true, reason: 'no', input: circle }) });
    const { answers: inputs } = await answersOf(
      [toolPlugin('one', () => 'ran'), refusing],
      call('one'),
    );
    expect(inputs).toEqual([expect.stringContaining('no')]);
  });

  it.each([
    ['what contains itself', { output: circle }, '{"self":"[circular]"}'],
    ['a big integer', { output: 5n }, '"5"'],
    ['nothing', { output: undefined }, '(no output)'],
    ['null', { output: null }, 'null'],
  ])('of the result, replaces it with %s as text', async (_what, result, text) => {
    const records: unknown[] = [];
    const { answers: inputs } = await answersOf(
      [
        toolPlugin('one', () => 'ran'),
        hooksOf({ afterTool: () => ({ result }) }, 'first'),
        hooksOf({ afterTool: (context) => void records.push(context.result) }, 'second'),
      ],
      call('one'),
    );
    expect([inputs, records]).toEqual([[text], [{ output: text }]]);
  });

  it('of no result, leaves it as it is', async () => {
    const { answers: inputs } = await answersOf(
      [toolPlugin('one', () => 'ran'), hooksOf({ afterTool: () => ({ result: 'text' }) as never })],
      call('one'),
    );
    expect(inputs).toEqual(['ran']);
  });

  it('of the request, is reported, and does not affect the hooks after it', async () => {
    const fixture = await createSdkFixture([DONE]);
    const spoiling = hooksOf({
      beforeModel({ request }) {
        const parts: unknown[] = request.messages[0]?.content ?? [];
        parts.push({ type: 'tool-call', toolCallId: 'a', toolName: 'one', input: circle });
      },
    });
    const adding = hooksOf({ beforeModel: () => ({ options: { temperature: 0.25 } }) }, 'adding');
    const { sessionId } = await fixture.start(
      { extensions: [spoiling, adding] },
      { interactive: true },
    );
    expect(fixture.service.mock.getRequests()[0]?.body).toMatchObject({ temperature: 0.25 });
    expect(fixture.core.plugins(sessionId).map(({ name, state }) => [name, state])).toEqual([
      ['watcher', 'degraded'],
      ['adding', 'ready'],
    ]);
  });

  it('throws when it is read, is reported, and the run goes on', async () => {
    const trap = Object.defineProperty({}, 'skip', {
      get() {
        throw new TypeError('no');
      },
      enumerable: true,
    });
    const { fixture, answers: inputs } = await answersOf(
      [toolPlugin('one', () => 'ran'), hooksOf({ beforeTool: () => trap })],
      call('one'),
    );
    expect([inputs, noticesIn(fixture)]).toEqual([
      ['ran'],
      ['plugin watcher: beforeTool failed: no'],
    ]);
  });
});
