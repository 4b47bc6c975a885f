import { expect, test } from 'vitest';
import {
  answers,
  call,
  createSdkFixture,
  DONE,
  hooksOf,
  toolPlugin,
  callsOf,
} from '../sdk-fixture.ts';

test('C1 timeoutMs is enforced, and the tool’s signal is aborted', async () => {
  let aborted: boolean | null = null;
  const fixture = await createSdkFixture([callsOf('slow'), DONE]);
  const slow = toolPlugin('slow', () => 'never', {
    timeoutMs: 50,
    execute: (_input: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted = signal.aborted;
          resolve('too late');
        });
      }),
  });
  const { result } = await fixture.start({ extensions: [slow] });
  expect([answers(fixture), aborted, result?.text]).toEqual([
    ['{"error":"slow did not end within 50 ms"}'],
    true,
    'Done.',
  ]);
});

test.each([
  ['an error of its own', new TypeError('broken'), 1],
  ['one that says that it may help', Object.assign(new TypeError('busy'), { retryable: true }), 3],
  ['one that is called so', Object.assign(new TypeError('busy'), { name: 'RetryableError' }), 3],
])(
  'C2 a retryable tool that throws %s is retried as the policy says',
  async (_what, error, times) => {
    let tried = 0;
    const fixture = await createSdkFixture([callsOf('flaky'), DONE]);
    const flaky = toolPlugin(
      'flaky',
      () => {
        tried += 1;
        throw error;
      },
      { retryable: true, maxRetries: 2 },
    );
    await fixture.start({ extensions: [flaky] });
    expect([tried, answers(fixture)]).toEqual([times, [JSON.stringify({ error: error.message })]]);
  },
);

test('C2 "retryable: false" is tried once, whatever it throws', async () => {
  let tried = 0;
  const fixture = await createSdkFixture([callsOf('once'), DONE]);
  const once = toolPlugin(
    'once',
    () => {
      tried += 1;
      throw Object.assign(new TypeError('busy'), { retryable: true });
    },
    { retryable: false, maxRetries: 5 },
  );
  await fixture.start({ extensions: [once] });
  expect(tried).toBe(1);
});

test('C3 a completing tool and another one both run, and the run ends with the output of the first', async () => {
  const ranCalls: string[] = [];
  const fixture = await createSdkFixture([callsOf('finish', 'other'), DONE]);
  const finish = toolPlugin(
    'finish',
    () => {
      ranCalls.push('finish');
      return { ok: true };
    },
    { lifecycle: { completesRun: true } },
  );
  const { result } = await fixture.start({
    extensions: [finish, toolPlugin('other', () => void ranCalls.push('other'))],
  });
  expect([ranCalls, result?.text, result?.finishReason, fixture.service.requests().length]).toEqual(
    [['finish', 'other'], '{"ok":true}', 'completed', 1],
  );
});

test('C4 a missing property is a validation error for the model, and the tool does not run', async () => {
  let runCount = 0;
  const inputSchema = {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  };
  const fixture = await createSdkFixture([call('weather'), DONE]);
  await fixture.start({
    extensions: [toolPlugin('weather', () => (runCount += 1), { inputSchema })],
  });
  expect([runCount, answers(fixture)]).toEqual([
    0,
    [
      "The input of weather does not fit its schema: input must have required property 'city'. It needs city.",
    ],
  ]);
});

test('C5 text where the schema wants a list or a number is converted', async () => {
  const inputSchema = {
    type: 'object',
    properties: {
      list: { type: 'array', items: { type: 'integer' } },
      count: { type: 'number' },
      isFast: { type: 'boolean' },
      name: { type: 'string' },
    },
  };
  const records: unknown[] = [];
  const fixture = await createSdkFixture([
    call('one', { list: '["1",2]', count: '5', isFast: 'true', name: '5' }),
    DONE,
  ]);
  await fixture.start({
    extensions: [
      toolPlugin('one', (input) => input, { inputSchema }),
      hooksOf({ beforeTool: ({ input }) => void records.push(input) }),
    ],
  });
  const parsedInput = { list: [1, 2], count: 5, isFast: true, name: '5' };
  expect([records, answers(fixture)]).toEqual([[parsedInput], [JSON.stringify(parsedInput)]]);
});

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test.each([
  ['undefined', undefined, '(no output)'],
  ['null', null, 'null'],
  ['5', 5, '5'],
  ['"s"', 's', 's'],
  ['a list', [1, 'a'], '[1,"a"]'],
  ['an object', { a: 1 }, '{"a":1}'],
  ['a Date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ['a BigInt', 10n, '"10"'],
  ['a Map', new Map([['a', 1]]), '{}'],
])('C6 a tool may return %s', async (_what, value, text) => {
  const fixture = await createSdkFixture([callsOf('one'), DONE]);
  const { result } = await fixture.start({ extensions: [toolPlugin('one', () => value)] });
  expect([answers(fixture), result?.text]).toEqual([[text], 'Done.']);
});

test('C6 a tool may return text and image blocks: the picture is sent to the model', async () => {
  const fixture = await createSdkFixture([callsOf('one'), DONE]);
  const blocks = [
    { type: 'text', text: 'a dot' },
    { type: 'image', data: PIXEL, mediaType: 'image/png' },
  ];
  await fixture.start({ extensions: [toolPlugin('one', () => blocks)] });
  expect(answers(fixture).join()).toContain('a dot');
  expect(JSON.stringify(fixture.service.mock.getRequests()[1]?.body)).toContain(PIXEL);
});

test('C7 an unknown tool is answered with the tools that there are, and no hook is asked', async () => {
  const askedTools: string[] = [];
  const fixture = await createSdkFixture([callsOf('nothing_like_it'), DONE]);
  await fixture.start({
    extensions: [
      toolPlugin('one', () => 'ran'),
      hooksOf({
        beforeTool: () => void askedTools.push('beforeTool'),
        afterTool: () => void askedTools.push('afterTool'),
      }),
    ],
  });
  expect(askedTools).toEqual([]);
  expect(answers(fixture).join()).toMatch(/no tool named "nothing_like_it".*\bone\b/s);
  // Under the names that the model was offered.
  expect(answers(fixture).join()).toContain(fixture.service.requests()[0]?.tools.join(', '));
});

const same = Array.from({ length: 12 }, () => callsOf('one'));
const failing = (): never => {
  throw new TypeError('broken');
};

test('C8 five identical calls end the run, aborted', async () => {
  const fixture = await createSdkFixture([...same, DONE]);
  const { result } = await fixture.start({ extensions: [toolPlugin('one', () => 'same')] });
  expect([result?.finishReason, result?.iterations]).toEqual(['aborted', 5]);
});

test('C8 six turns whose calls all failed end the run, aborted', async () => {
  const turns = Array.from({ length: 12 }, (_each, turn) => call('one', { turn }));
  const fixture = await createSdkFixture([...turns, DONE]);
  const { result } = await fixture.start({ extensions: [toolPlugin('one', failing)] });
  expect([result?.finishReason, result?.iterations]).toEqual(['aborted', 6]);
});

test('C9 maxIterations 1 with a tool call ends the run as out of turns', async () => {
  const ranCalls: string[] = [];
  const fixture = await createSdkFixture([callsOf('one'), DONE]);
  const { result } = await fixture.start({
    maxIterations: 1,
    extensions: [toolPlugin('one', () => void ranCalls.push('one'))],
  });
  expect([
    ranCalls,
    result?.finishReason,
    result?.iterations,
    fixture.service.requests().length,
  ]).toEqual([['one'], 'max_iterations', 1, 1]);
});
