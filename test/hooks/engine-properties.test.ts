import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Verdict } from '../../src/hooks/decision.ts';
import { createHookEngine } from '../../src/hooks/engine.ts';
import type { FiredEvent } from '../../src/hooks/facts.ts';
import type { Answer, Handler, HandlerInput } from '../../src/hooks/handler.ts';
import { bash, handler, MOMENT, runCommands } from './handlers.ts';

type Answered = ReturnType<Handler['run']>;

/** What a handler may do when it is asked. */
const DEEDS: Readonly<Record<string, (input: HandlerInput, end: () => void) => Answered>> = {
  pass: () => undefined,
  'pass with an empty answer': () => ({}),
  'pass with null': () => JSON.parse('null'),
  'give context': () => ({ decision: { context: 'told' } }),
  allow: () => ({ decision: { effect: 'allow' } }),
  ask: () => ({ decision: { effect: 'ask', reason: 'sure?' }, notes: ['asked'] }),
  deny: () => ({ decision: { effect: 'deny', reason: 'no' } }),
  'deny what was rewritten': ({ tool }) =>
    JSON.stringify(tool?.input).includes('new') ? { decision: { effect: 'deny' } } : undefined,
  stop: () => ({ decision: { stop: { reason: 'enough', pending: 'skip' } } }),
  rewrite: () => ({ decision: { input: { commands: ['new'] }, inputFace: 'sdk' } }),
  'rewrite badly': () => ({ decision: { input: 'just text' } }),
  'talk nonsense': () => JSON.parse('{ "effect": "deny" }'),
  throw: () => {
    throw new TypeError('thrown');
  },
  reject: () => Promise.reject(new TypeError('rejected')),
  'pass later': () => Promise.resolve(undefined),
  'deny later': () => Promise.resolve<Answer>({ decision: { effect: 'deny', reason: 'late no' } }),
  'go on in the background': () => ({ late: Promise.resolve({ decision: { context: 'late' } }) }),
  'end the dispatch': (_input, end) => {
    end();
    return undefined;
  },
};

const FITS: Readonly<Record<string, Handler['fits']>> = {
  'is not asked': undefined,
  always: () => null,
  never: () => 'it never fits',
  'all but a first part': (_event, _names, tool) =>
    tool?.part === 0 ? 'not the first part' : null,
  throws: () => {
    throw new TypeError('cannot tell');
  },
};

const WITHHELD: Readonly<Record<string, NonNullable<Handler['withheld']>>> = {
  never: () => null,
  always: () => 'untrusted: never',
  throws: () => {
    throw new TypeError('cannot look');
  },
};

interface Made {
  readonly deed: string;
  readonly fits: string;
  readonly withheld: string;
  readonly wanted: Partial<Handler>;
}

function oneOf(names: readonly string[], usual: string): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...names) },
  );
}

const handlerSpecs: fc.Arbitrary<Made> = fc.record({
  deed: oneOf(Object.keys(DEEDS), 'pass'),
  fits: oneOf(Object.keys(FITS), 'always'),
  withheld: oneOf(Object.keys(WITHHELD), 'never'),
  wanted: fc.record({
    vocabulary: fc.constantFrom('claude', 'classic', 'sdk'),
    dialect: fc.constantFrom('one', 'other'),
    onFailure: fc.constantFrom('open', 'closed'),
    inOrder: fc.boolean(),
    background: fc.constantFrom(false, false, false, true),
  }),
});

/** Two of a list may be the same hook, configured twice. */
const lists = fc.tuple(
  fc.array(handlerSpecs, { maxLength: 8 }),
  fc.array(fc.nat({ max: 7 }), { maxLength: 2 }),
);

const events: fc.Arbitrary<FiredEvent> = fc.constantFrom<FiredEvent>(
  bash('old'),
  runCommands('old'),
  runCommands('old', 'two'),
  { name: 'PreToolUse', tool: { callId: 'c', name: 'deploy', input: { to: 'old' } } },
);

/** The same handlers, as they are or so that none of them can be asked on the way straight on. */
const WAYS: Readonly<Record<string, (one: Handler) => Handler>> = {
  'as they are': (one) => one,
  'each answering later': (one) => ({ ...one, run: async (...asked) => one.run(...asked) }),
  'each with a time limit': (one) => ({ ...one, timeoutMs: 60_000 }),
};

function handlerOf({ deed, fits, withheld, wanted }: Made, id: string, end: () => void): Handler {
  const question = FITS[fits];
  const why = WITHHELD[withheld];
  return handler(id, (input) => DEEDS[deed]?.(input, end), {
    ...wanted,
    ...(question === undefined ? {} : { fits: question }),
    ...(why === undefined ? {} : { withheld: why }),
  });
}

type Way = (one: Handler) => Handler;

/** Everything that the outside learns of one dispatch, but for times. */
async function learn(
  [list, twins]: readonly [readonly Made[], readonly number[]],
  event: FiredEvent,
  way: Way,
): Promise<unknown> {
  const { signal, end } = ending();
  const handlers = list.map((each, index) => {
    const one = way(handlerOf(each, `${index}`, end));
    return twins.includes(index) ? { ...one, sameAs: 'twin' } : one;
  });
  const records: unknown[] = [];
  const late: string[] = [];
  const progress: string[] = [];
  const engine = createHookEngine({
    sources: [{ handlers: () => handlers }],
    moment: () => MOMENT,
    onDispatch: ({ event: told, verdict, aborted }) =>
      records.push({ told, verdict: untimed(verdict), aborted }),
    onLate: ({ outcome }) => late.push(JSON.stringify({ ...outcome, durationMs: 0 })),
    onProgress: ({ type, hook }) => progress.push(`${hook} ${type}`),
  });
  const answer = await engine
    .dispatch(event, { signal })
    .then(untimed, (reason: unknown) => reason);
  await engine.idle();
  await engine.close();
  return { answer, records, late: late.toSorted(), progress: progress.toSorted() };
}

function ending(): { readonly signal: AbortSignal; readonly end: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, end: () => controller.abort('ended') };
}

function untimed(verdict: Verdict): unknown {
  const outcomes = verdict.outcomes.map((outcome) => ({ ...outcome, durationMs: 0 }));
  return { ...verdict, outcomes, slowest: verdict.slowest === null };
}

test.each(['each answering later', 'each with a time limit'])(
  'handlers give the same result as %s',
  async (way) => {
    const straight = WAYS['as they are'];
    const other = WAYS[way];
    if (straight === undefined || other === undefined) throw new Error(`no way ${way}`);
    await fc.assert(
      fc.asyncProperty(lists, events, async (list, event) => {
        expect(await learn(list, event, straight)).toEqual(await learn(list, event, other));
      }),
      { numRuns: 400 },
    );
  },
);
