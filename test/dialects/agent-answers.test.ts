import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { invariant } from '../../src/base/errors.ts';
import type { Dialect, WriteAnswer, WrittenAnswer } from '../../src/dialects/dialect.ts';
import { DIALECTS } from '../../src/dialects/index.ts';
import { createEmptyVerdict, EFFECTS, type Stop, type Verdict } from '../../src/hooks/decision.ts';
import type { HookEvent } from '../../src/hooks/facts.ts';
import { createSampleEvent } from '../../src/testing/sample-event.ts';
import { isAgentVocabulary, listToolViews } from '../../src/tool-vocabularies/tool-views.ts';
import { MOMENT } from '../hooks/handlers.ts';
import { AGENT_READERS, type AgentReader, type AgentReading } from './agent-readers.ts';

interface Agent {
  readonly name: string;
  readonly dialect: Dialect;
  readonly write: WriteAnswer;
  readonly read: AgentReader;
}

async function loadAgent(dialect: Dialect): Promise<readonly Agent[]> {
  const read = AGENT_READERS[dialect.name];
  if (read === undefined || dialect.writeAnswer === undefined) return [];
  return [{ name: dialect.name, dialect, write: await dialect.writeAnswer(), read }];
}

const AGENTS = (await Promise.all(DIALECTS.map(loadAgent))).flat();

/** An example of the agent's event, with a call of its own shell tool. */
function eventOf({ dialect: { events, vocabulary } }: Agent, name: string): HookEvent {
  const found = events.find(name);
  invariant(found !== null, `${name} is an event`);
  const sample = createSampleEvent(found.event, found.facts);
  if (!('tool' in sample) || !isAgentVocabulary(vocabulary)) return { ...MOMENT, ...sample };
  const call = { name: 'Bash', input: { command: 'rm -r build' } };
  const [view] = listToolViews(call, vocabulary, { cwd: '/w', root: null });
  invariant(view !== undefined, 'a call has a view');
  const tool = { callId: 'c1', name: view.name, input: view.input, vocabulary };
  return { ...MOMENT, ...sample, tool };
}

interface Row {
  readonly title: string;
  readonly verdict: Partial<Verdict>;
}

const WHO = { hook: 'a:b' };
const stopWith = (pending: Stop['pending']): Stop => ({ reason: 'enough', pending });

const ROWS: readonly Row[] = [
  ...EFFECTS.flatMap((effect): readonly Row[] => {
    const reasons = effect === 'pass' ? [] : [{ ...WHO, text: `why ${effect}` }];
    const title = effect === 'pass' ? 'no opinion' : effect;
    return [
      { title, verdict: { effect, reasons } },
      { title: `${title}, stop after it`, verdict: { effect, reasons, stop: stopWith('run') } },
    ];
  }),
  { title: 'stop instead of it', verdict: { effect: 'stop', stop: stopWith('skip') } },
  { title: 'deny without a reason', verdict: { effect: 'deny', reasons: [{ ...WHO, text: ' ' }] } },
];

const INPUT = { command: 'ls' };
const EXTRAS: Partial<Verdict> = {
  output: 'changed',
  context: [{ ...WHO, text: 'know this' }],
  messages: [{ ...WHO, text: 'look' }],
  changes: { prompt: 'another', title: 'a title' },
};
const REASONS = [{ ...WHO, text: 'why' }];

const CHANGE_ROWS: readonly Row[] = [
  { title: 'rewrite', verdict: { input: INPUT } },
  { title: 'rewrite, allowed', verdict: { input: INPUT, effect: 'allow', reasons: REASONS } },
  { title: 'rewrite, asked', verdict: { input: INPUT, effect: 'ask', reasons: REASONS } },
  { title: 'rewrite, denied', verdict: { input: INPUT, effect: 'deny', reasons: REASONS } },
  { title: 'rewrite, another key', verdict: { input: { cmd: 'ls' }, effect: 'allow' } },
  { title: 'all else', verdict: EXTRAS },
  { title: 'all else, denied', verdict: { ...EXTRAS, effect: 'deny', reasons: REASONS } },
  { title: 'only a context', verdict: { context: [{ ...WHO, text: '{"know":"this"}' }] } },
];

function writeRow(agent: Agent, name: string, { verdict }: Row) {
  const event = eventOf(agent, name);
  const written = agent.write(event, { ...createEmptyVerdict(event.name), ...verdict }, name);
  return { written, reading: agent.read(name, written) };
}

function printRow(title: string, written: WrittenAnswer, reading: AgentReading): string {
  const { stdout, stderr, exitCode, losses } = written;
  const columns = [
    `exit ${exitCode}`,
    ...(stdout === '' ? [] : [`stdout ${JSON.stringify(stdout)}`]),
    ...(stderr === '' ? [] : [`stderr ${JSON.stringify(stderr)}`]),
    `read as ${JSON.stringify(reading)}`,
  ];
  const lost = losses.map((loss) => `      lost: ${loss}`);
  return [`  ${title.padEnd(24)} ${columns.join(' · ')}`, ...lost].join('\n');
}

/** Events with the same answers share a block, in which <event> stands for their names. */
function printTable(agent: Agent, rows: readonly Row[]): string {
  const titles = new Map<string, string[]>();
  for (const name of agent.dialect.events.names) {
    const lines = rows.map((row) => {
      const { written, reading } = writeRow(agent, name, row);
      return printRow(row.title, written, reading);
    });
    const block = lines.join('\n').replaceAll(name, '<event>');
    titles.set(block, [...(titles.get(block) ?? []), name]);
  }
  return [...titles].map(([block, names]) => `${names.join(', ')}\n${block}\n`).join('\n');
}

it('every agent that is answered is in the tables', () => {
  expect(AGENTS.map(({ name }) => name)).toEqual([
    'codex',
    'gemini',
    'copilot',
    'qwen',
    'cursor',
    'droid',
    'opencode',
  ]);
});

/** Where silence lets the agent finish, a stop needs no words. */
const ENDINGS = ['Stop', 'SubagentStop'];

function isHeld(verdict: Partial<Verdict>, event: HookEvent, { effect }: AgentReading): boolean {
  const { effect: wanted = 'pass', stop } = verdict;
  const isEnding = ENDINGS.includes(event.name);
  if (isEnding && stop !== undefined && stop !== null) return effect === 'pass';
  if (wanted === 'ask' && event.name === 'PermissionRequest' && stop === undefined) {
    return effect === 'pass' || effect === 'deny';
  }
  if (wanted === 'ask') return effect === 'ask' || effect === 'deny';
  return wanted === 'pass' || wanted === 'allow' ? true : effect === 'deny';
}

describe.each(AGENTS)('the answers for $name', (agent) => {
  const { name: id, dialect } = agent;

  it('are those of the table', async () => {
    await expect(printTable(agent, ROWS)).toMatchFileSnapshot(`./write-answer/${id}.txt`);
  });

  it('have the changes of the table, or report them as lost', async () => {
    const file = `./write-answer/${id}-changes.txt`;
    await expect(printTable(agent, CHANGE_ROWS)).toMatchFileSnapshot(file);
  });

  it.each(dialect.events.names)('are never a broken hook: %s', (name) => {
    for (const row of [...ROWS, ...CHANGE_ROWS]) {
      expect({ row, ...writeRow(agent, name, row) }).not.toHaveProperty('reading.effect', 'failed');
    }
  });

  it.each(dialect.events.names)('refuse, or report that nothing can: %s', (name) => {
    const event = eventOf(agent, name);
    for (const row of ROWS) {
      const { written, reading } = writeRow(agent, name, row);
      const isReported = written.losses.some((loss) =>
        loss.startsWith(`${name} cannot be refused`),
      );
      const isFeedback = reading.context !== undefined && event.name.startsWith('PostToolUse');
      const isDone = isHeld(row.verdict, event, reading) || isReported || isFeedback;
      expect({ title: row.title, isDone, reading }).toEqual({
        title: row.title,
        isDone: true,
        reading,
      });
    }
  });

  it.each(dialect.events.names)('end the run, refuse, or report that nothing can: %s', (name) => {
    const event = eventOf(agent, name);
    for (const row of ROWS.filter(({ verdict }) => (verdict.stop ?? null) !== null)) {
      const { written, reading } = writeRow(agent, name, row);
      const isEnding = ENDINGS.includes(event.name) && reading.effect === 'pass';
      const isReported = written.losses.some((loss) =>
        loss.startsWith(`${name} cannot end the run`),
      );
      const isDone = reading.ends === true || isEnding || isReported;
      expect({ title: row.title, isDone }).toEqual({ title: row.title, isDone: true });
    }
  });

  it('never make an allow of no opinion, whatever else a verdict holds', () => {
    const text = fc.string({ minLength: 1, maxLength: 12 });
    const attributed = fc.array(
      text.map((value) => ({ hook: 'a:b', text: value })),
      { maxLength: 2 },
    );
    const names = fc.constantFrom(...dialect.events.names);
    const input = fc.option(fc.record({ command: text }));
    fc.assert(
      fc.property(names, attributed, attributed, input, (name, context, messages, rewritten) => {
        const event = eventOf(agent, name);
        const verdict = { ...createEmptyVerdict(event.name), context, messages, input: rewritten };
        const { effect } = agent.read(name, agent.write(event, verdict, name));
        expect(rewritten === null ? ['pass'] : ['pass', 'deny']).toContain(effect);
      }),
      { numRuns: 200 },
    );
  });

  it('apply a rewrite, or refuse the call and say what it should be', () => {
    const [name = ''] = dialect.events.names.filter(
      (each) => eventOf(agent, each).name === 'PreToolUse',
    );
    for (const effect of ['pass', 'allow', 'ask'] as const) {
      const { reading } = writeRow(agent, name, { title: '', verdict: { input: INPUT, effect } });
      const isApplied = JSON.stringify(reading.input) === JSON.stringify(INPUT);
      const isAdvised = reading.effect === 'deny' && String(reading.reason).includes('"ls"');
      const isAsked = reading.effect === 'deny' && String(reading.reason).includes('approval');
      expect({ effect, isDone: isApplied || isAdvised || isAsked }).toEqual({
        effect,
        isDone: true,
      });
    }
  });
});

describe('the bytes that were seen to work in the real program', () => {
  const deny: Partial<Verdict> = { effect: 'deny', reasons: [{ ...WHO, text: 'policy' }] };
  const rewrite: Partial<Verdict> = { effect: 'allow', input: { command: 'echo REWRITTEN' } };
  const quiet: Partial<Verdict> = {};
  const cases: readonly [agent: string, event: string, Partial<Verdict>, string][] = [
    ['codex', 'PreToolUse', quiet, ''],
    [
      'codex',
      'PreToolUse',
      deny,
      '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"policy"}}\n',
    ],
    [
      'codex',
      'PreToolUse',
      rewrite,
      '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"echo REWRITTEN"}}}\n',
    ],
    ['gemini', 'BeforeTool', quiet, '{}\n'],
    ['gemini', 'BeforeTool', deny, '{"decision":"deny","reason":"policy"}\n'],
    [
      'gemini',
      'BeforeTool',
      { input: { command: 'echo REWRITTEN' } },
      '{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":"echo REWRITTEN"}}}\n',
    ],
    ['copilot', 'preToolUse', quiet, ''],
    [
      'copilot',
      'preToolUse',
      deny,
      '{"permissionDecision":"deny","permissionDecisionReason":"policy"}\n',
    ],
    [
      'copilot',
      'PreToolUse',
      deny,
      '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"policy"}}\n',
    ],
    [
      'copilot',
      'preToolUse',
      rewrite,
      '{"permissionDecision":"allow","modifiedArgs":{"command":"echo REWRITTEN"}}\n',
    ],
    ['qwen', 'PreToolUse', quiet, ''],
    [
      'qwen',
      'PreToolUse',
      deny,
      '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"policy"}}\n',
    ],
  ];

  it.each(cases)('%s %s: %j', (id, name, verdict, stdout) => {
    const agent = AGENTS.find((each) => each.name === id);
    invariant(agent !== undefined, `${id} is answered`);
    const { written } = writeRow(agent, name, { title: '', verdict });
    expect({ stdout: written.stdout, stderr: written.stderr, exitCode: written.exitCode }).toEqual({
      stdout,
      stderr: '',
      exitCode: 0,
    });
  });
});
