import { expect, test } from 'vitest';
import {
  answers,
  call,
  createSdkFixture,
  DONE,
  hooksOf,
  toolPlugin,
  callsOf,
} from './sdk-fixture.ts';

test('C1 timeoutMs is enforced, and the tool’s signal is aborted', async () => {
  let aborted: boolean | null = null;
  const stage = await createSdkFixture([callsOf('slow'), DONE]);
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
  const { result } = await stage.start({ extensions: [slow] });
  expect([answers(stage), aborted, result?.text]).toEqual([
    ['slow did not end within 50 ms'],
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
    const stage = await createSdkFixture([callsOf('flaky'), DONE]);
    const flaky = toolPlugin(
      'flaky',
      () => {
        tried += 1;
        throw error;
      },
      { retryable: true, maxRetries: 2 },
    );
    await stage.start({ extensions: [flaky] });
    expect([tried, answers(stage)]).toEqual([times, [error.message]]);
  },
);

test('C2 "retryable: false" is tried once, whatever it throws', async () => {
  let tried = 0;
  const stage = await createSdkFixture([callsOf('once'), DONE]);
  const once = toolPlugin(
    'once',
    () => {
      tried += 1;
      throw Object.assign(new TypeError('busy'), { retryable: true });
    },
    { retryable: false, maxRetries: 5 },
  );
  await stage.start({ extensions: [once] });
  expect(tried).toBe(1);
});

test('C3 a completing tool and another one both run, and the run ends with the output of the first', async () => {
  const ran: string[] = [];
  const stage = await createSdkFixture([callsOf('finish', 'other'), DONE]);
  const finish = toolPlugin(
    'finish',
    () => {
      ran.push('finish');
      return { ok: true };
    },
    { lifecycle: { completesRun: true } },
  );
  const { result } = await stage.start({
    extensions: [finish, toolPlugin('other', () => void ran.push('other'))],
  });
  expect([ran, result?.text, result?.finishReason, stage.service.requests().length]).toEqual([
    ['finish', 'other'],
    '{"ok":true}',
    'completed',
    1,
  ]);
});

test('C4 a missing property is a validation error for the model, and the tool does not run', async () => {
  let ran = 0;
  const inputSchema = {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  };
  const stage = await createSdkFixture([call('weather'), DONE]);
  await stage.start({ extensions: [toolPlugin('weather', () => (ran += 1), { inputSchema })] });
  expect([ran, answers(stage)]).toEqual([
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
  const seen: unknown[] = [];
  const stage = await createSdkFixture([
    call('one', { list: '["1",2]', count: '5', isFast: 'true', name: '5' }),
    DONE,
  ]);
  await stage.start({
    extensions: [
      toolPlugin('one', (input) => input, { inputSchema }),
      hooksOf({ beforeTool: ({ input }) => void seen.push(input) }),
    ],
  });
  const read = { list: [1, 2], count: 5, isFast: true, name: '5' };
  expect([seen, answers(stage)]).toEqual([[read], [JSON.stringify(read)]]);
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
  const stage = await createSdkFixture([callsOf('one'), DONE]);
  const { result } = await stage.start({ extensions: [toolPlugin('one', () => value)] });
  expect([answers(stage), result?.text]).toEqual([[text], 'Done.']);
});

test('C6 a tool may return text and image blocks: the picture is sent to the model', async () => {
  const stage = await createSdkFixture([callsOf('one'), DONE]);
  const blocks = [
    { type: 'text', text: 'a dot' },
    { type: 'image', data: PIXEL, mediaType: 'image/png' },
  ];
  await stage.start({ extensions: [toolPlugin('one', () => blocks)] });
  expect(answers(stage).join()).toContain('a dot');
  expect(JSON.stringify(stage.service.mock.getRequests()[1]?.body)).toContain(PIXEL);
});

test('C7 an unknown tool is answered with the tools that there are, and no hook is asked', async () => {
  const asked: string[] = [];
  const stage = await createSdkFixture([callsOf('nothing_like_it'), DONE]);
  await stage.start({
    extensions: [
      toolPlugin('one', () => 'ran'),
      hooksOf({
        beforeTool: () => void asked.push('beforeTool'),
        afterTool: () => void asked.push('afterTool'),
      }),
    ],
  });
  expect(asked).toEqual([]);
  expect(answers(stage).join()).toMatch(/no tool named "nothing_like_it".*\bone\b/s);
  // Under the names that the model was offered.
  expect(answers(stage).join()).toContain(stage.service.requests()[0]?.tools.join(', '));
});

const same = Array.from({ length: 12 }, () => callsOf('one'));
const failing = (): never => {
  throw new TypeError('broken');
};

test('C8 five identical calls end the run, aborted', async () => {
  const stage = await createSdkFixture([...same, DONE]);
  const { result } = await stage.start({ extensions: [toolPlugin('one', () => 'same')] });
  expect([result?.finishReason, result?.iterations]).toEqual(['aborted', 5]);
});

test('C8 six turns whose calls all failed end the run, aborted', async () => {
  const turns = Array.from({ length: 12 }, (_each, turn) => call('one', { turn }));
  const stage = await createSdkFixture([...turns, DONE]);
  const { result } = await stage.start({ extensions: [toolPlugin('one', failing)] });
  expect([result?.finishReason, result?.iterations]).toEqual(['aborted', 6]);
});

test('C9 maxIterations 1 with a tool call ends the run as out of turns', async () => {
  const ran: string[] = [];
  const stage = await createSdkFixture([callsOf('one'), DONE]);
  const { result } = await stage.start({
    maxIterations: 1,
    extensions: [toolPlugin('one', () => void ran.push('one'))],
  });
  expect([ran, result?.finishReason, result?.iterations, stage.service.requests().length]).toEqual([
    ['one'],
    'max_iterations',
    1,
    1,
  ]);
});
