import { describe, expect, it } from 'vitest';
import { invariant } from '../../src/base/errors.ts';
import type { WrittenAnswer } from '../../src/dialects/dialect.ts';
import { createEmptyVerdict, EFFECTS, type Stop, type Verdict } from '../../src/hooks/decision.ts';
import type { HookEvent } from '../../src/hooks/facts.ts';
import type { Answer } from '../../src/hooks/handler.ts';
import { createSampleEvent } from '../../src/testing/sample-event.ts';
import { MOMENT } from '../hooks/handlers.ts';
import {
  eventOf,
  findLostRefusal,
  findLostStop,
  type Writer,
  WRITERS,
} from './write-answer-fixture.ts';

/** Events that a dialect gets under no name of its own, or under the name of another event. */
const OTHER_EVENTS: Readonly<Record<string, readonly HookEvent[]>> = {
  claude: [{ ...MOMENT, ...createSampleEvent('TaskStart') }],
  cline: [
    { ...MOMENT, ...createSampleEvent('PostToolUseFailure') },
    { ...MOMENT, ...createSampleEvent('PostToolUseFailure', { denied: true }) },
    { ...MOMENT, ...createSampleEvent('PermissionRequest') },
  ],
};

interface Row {
  readonly title: string;
  readonly verdict: Partial<Verdict>;
}

const ENOUGH = { hook: 'c:d', text: 'enough' };

function stopWith(pending: Stop['pending']): Stop {
  return { reason: 'enough', pending };
}

/** Every effect with and without a stop after the action, and a stop instead of the action. */
const ROWS: readonly Row[] = [
  ...EFFECTS.flatMap((effect): readonly Row[] => {
    const reasons = effect === 'pass' ? [] : [{ hook: 'a:b', text: `why ${effect}` }];
    const title = effect === 'pass' ? 'no opinion' : effect;
    const stopped = { effect, stop: stopWith('run'), reasons: [...reasons, ENOUGH] };
    return [
      { title, verdict: { effect, reasons } },
      { title: `${title}, stop after it`, verdict: stopped },
    ];
  }),
  {
    title: 'stop instead of it',
    verdict: { effect: 'stop', stop: stopWith('skip'), reasons: [ENOUGH] },
  },
];

const WHO = { hook: 'a:b' };

/** All that a verdict can hold besides its effect. */
const EVERY_CHANGE: Partial<Verdict> = {
  input: { command: 'ls' },
  output: { stdout: 'changed' },
  context: [{ ...WHO, text: 'know this' }],
  messages: [{ ...WHO, text: 'look' }],
  changes: {
    failed: true,
    prompt: 'another prompt',
    suppressPrompt: true,
    classifierContext: [{ ...WHO, value: 'safe' }],
    permissions: [{ ...WHO, value: [{ type: 'addRules' }] }],
    messages: [],
    tools: [],
    options: {},
    title: 'a title',
    initialMessage: 'begin',
    instructions: [{ ...WHO, value: 'be brief' }],
    watchPaths: [{ ...WHO, value: ['/w/file'] }],
    reloadSkills: true,
    display: 'shown',
    retry: true,
    worktreePath: '/w/tree',
    answer: { action: 'accept', content: { name: 'bob' } },
  },
};

const WHY = [{ ...WHO, text: 'why' }];
const CHANGE_ROWS: readonly Row[] = [
  { title: 'no opinion', verdict: EVERY_CHANGE },
  { title: 'allow', verdict: { ...EVERY_CHANGE, effect: 'allow' } },
  { title: 'deny', verdict: { ...EVERY_CHANGE, effect: 'deny', reasons: WHY } },
  { title: 'deny, only a context', verdict: { ...pickContext(EVERY_CHANGE), effect: 'deny' } },
  { title: 'only a context', verdict: pickContext(EVERY_CHANGE) },
  { title: 'stop after it, no reason', verdict: { stop: stopWith('run') } },
];

function pickContext({ context = [] }: Partial<Verdict>): Partial<Verdict> {
  return { context };
}

function printRow({ title }: Row, written: WrittenAnswer, answer: Answer): string {
  const { stdout, stderr, exitCode, losses } = written;
  const columns = [
    `exit ${exitCode}`,
    ...(stdout === '' ? [] : [printStdout(stdout)]),
    ...(stderr === '' ? [] : [`stderr ${JSON.stringify(stderr)}`]),
    `read as ${describeAnswer(answer)}`,
  ];
  const lines = [`  ${title.padEnd(26)} ${columns.join(' · ')}`];
  return [...lines, ...joinFieldLosses(losses).map((loss) => `      lost: ${loss}`)].join('\n');
}

/** The fields that are not read, on one line. */
function joinFieldLosses(losses: readonly string[]): readonly string[] {
  const isField = (loss: string): boolean => / does not read[^:]*: /u.test(loss);
  const [first, ...others] = losses.filter(isField);
  const fields = [first, ...others.map((loss) => loss.split(': ').at(-1))].join(', ');
  return [...losses.filter((loss) => !isField(loss)), ...(first === undefined ? [] : [fields])];
}

/** JSON as it was parsed; other text in quotes. */
function printStdout(stdout: string): string {
  return JSON.stringify(stdout.startsWith('{') ? JSON.parse(stdout) : stdout);
}

/** Events with the same answers share a block, in which <event> stands for their names. */
function printTable(writer: Writer, rows: readonly Row[]): string {
  const titles = new Map<string, string[]>();
  for (const { title, event } of listEvents(writer)) {
    const lines = rows.map((row) => {
      const written = writer.write(event, { ...createEmptyVerdict(event.name), ...row.verdict });
      return printRow(row, written, writer.read(event, written));
    });
    const block = lines.join('\n').replaceAll(title, '<event>');
    titles.set(block, [...(titles.get(block) ?? []), title]);
  }
  const blocks = [...titles].map(([block, names]) => `${names.join(', ')}\n${block}\n`);
  return blocks.join('\n');
}

function describeAnswer({ decision = {}, failure }: Answer): string {
  if (failure !== undefined) return `a failure: ${failure.message}`;
  const { effect, stop, reason, ...rest } = decision;
  const parts = [
    ...(effect === undefined ? [] : [`${effect} ${JSON.stringify(reason ?? '')}`]),
    ...(stop === undefined
      ? []
      : [`stop (pending: ${stop.pending}) ${JSON.stringify(stop.reason)}`]),
    ...(Object.keys(rest).length === 0 ? [] : [JSON.stringify(rest)]),
  ];
  return parts.length === 0 ? 'no opinion' : parts.join(' and ');
}

function titleOf({ name, ...facts }: HookEvent): string {
  return 'denied' in facts && facts.denied ? `${name} of a denied call` : name;
}

function listEvents({ dialect }: Writer): readonly { title: string; event: HookEvent }[] {
  const others = OTHER_EVENTS[dialect.name];
  invariant(others !== undefined, `${dialect.name} is in the table`);
  return [
    ...dialect.events.names.map((name) => ({ title: name, event: eventOf(dialect, name) })),
    ...others.map((event) => ({ title: `(other) ${titleOf(event)}`, event })),
  ];
}

describe.each(WRITERS)('every answer of $dialect.name', (writer) => {
  const { dialect } = writer;

  it('is the one of the table', async () => {
    const file = `./write-answer/${dialect.name}.txt`;
    await expect(printTable(writer, ROWS)).toMatchFileSnapshot(file);
  });

  it('has the changes of the table, or reports them as lost', async () => {
    const file = `./write-answer/${dialect.name}-changes.txt`;
    await expect(printTable(writer, CHANGE_ROWS)).toMatchFileSnapshot(file);
  });

  it.each(dialect.events.names)('of %s refuses, or reports that nothing can', (name) => {
    const event = eventOf(dialect, name);
    for (const { title, verdict } of ROWS) {
      const written = writer.write(event, { ...createEmptyVerdict(event.name), ...verdict });
      const { decision = {} } = writer.read(event, written);
      const lost = [
        ...(isHeld(name, verdict, decision) ? [] : [findLostRefusal(dialect, name) ?? 'refusal']),
        ...(isEnded(verdict, decision) ? [] : [findLostStop(dialect, name) ?? 'stop']),
      ];
      expect({ title, lost: lost.filter((loss) => !written.losses.includes(loss)) }).toEqual({
        title,
        lost: [],
      });
    }
  });

  it.each(dialect.events.names)('of %s neither allows nor refuses without a reason to', (name) => {
    const event = eventOf(dialect, name);
    for (const effect of ['pass', 'allow'] as const) {
      const written = writer.write(event, { ...createEmptyVerdict(event.name), effect });
      const { decision = {} } = writer.read(event, written);
      const { effect: read = 'pass', stop } = decision;
      expect(stop).toBe(undefined);
      expect(effect === 'pass' ? ['pass'] : ['pass', 'allow']).toContain(read);
    }
  });
});

const AT_LEAST: Readonly<Record<string, readonly string[]>> = {
  ask: ['ask', 'defer', 'deny'],
  defer: ['defer', 'deny'],
  deny: ['deny'],
  stop: ['deny'],
};

/** Whether the action is kept from happening at least as strictly as the verdict wants it. */
function isHeld(
  name: string,
  { effect = 'pass' }: Partial<Verdict>,
  { effect: read = 'pass', stop }: NonNullable<Answer['decision']>,
): boolean {
  // Claude Code asks the user at this event anyway.
  if (name === 'PermissionRequest' && effect === 'ask') return read === 'pass';
  const enough = AT_LEAST[effect];
  return enough === undefined || enough.includes(read) || stop?.pending === 'skip';
}

/** Whether the run ends, or the action is at least refused where the run cannot end. */
function isEnded(
  { stop: wanted }: Partial<Verdict>,
  { effect, stop }: NonNullable<Answer['decision']>,
): boolean {
  return wanted === undefined || stop !== undefined || effect === 'deny';
}
