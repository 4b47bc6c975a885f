import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { DIALECTS, findDialect } from '../../src/dialects/index.ts';
import {
  type Decision,
  EFFECTS,
  createEmptyVerdict,
  isRefusal,
  type Stop,
  type Verdict,
} from '../../src/hooks/decision.ts';
import { EVENTS } from '../../src/hooks/events.ts';
import { listToolViews } from '../../src/tool-vocabularies/tool-views.ts';
import { getToolCall, type HookEvent } from '../../src/hooks/facts.ts';
import type { Answer, HandlerInput } from '../../src/hooks/handler.ts';
import { invariant } from '../../src/base/errors.ts';
import { createSampleEvent } from '../../src/testing/sample-event.ts';
import { MOMENT } from '../hooks/handlers.ts';

const WRITERS = DIALECTS.filter(({ writeAnswer }) => writeAnswer !== undefined);
const EVERY_EVENT = WRITERS.flatMap((dialect) =>
  dialect.events.names.map((name) => ({ dialect, name, title: `${dialect.name} ${name}` })),
);

function eventOf({ events }: Dialect, name: string): HookEvent {
  const found = events.find(name);
  invariant(found !== null, `${name} is an event`);
  return { ...MOMENT, ...createSampleEvent(found.event, found.facts) };
}

function inputOf(event: HookEvent, { vocabulary }: Dialect): HandlerInput {
  const call = getToolCall(event);
  const [tool] = call === null ? [] : listToolViews(call, vocabulary, { cwd: '/w', root: '/w' });
  return { event, tool: tool ?? null };
}

/** Writes the verdict, and reads it as the agent would. */
async function roundTrip(dialect: Dialect, event: HookEvent, verdict: Verdict) {
  const [write, decode] = await Promise.all([dialect.writeAnswer?.(), dialect.decode?.()]);
  invariant(write !== undefined && decode !== undefined, `${dialect.name} has both`);
  const writtenAnswer = write(event, verdict);
  return { written: writtenAnswer, answer: decode(inputOf(event, dialect), writtenAnswer) };
}

const text = fc.string({ minLength: 1, maxLength: 20 }).map((value) => `t${value.trim()}`);
const attributed = fc.array(
  text.map((value) => ({ hook: 'a:b', text: value })),
  { maxLength: 2 },
);

function verdicts(event: HookEvent): fc.Arbitrary<Verdict> {
  return fc
    .record({
      effect: fc.constantFrom(...EFFECTS),
      stop: fc.option(fc.record({ reason: text, pending: fc.constantFrom('run', 'skip') })),
      reason: text,
      context: attributed,
      messages: attributed,
      input: fc.option(fc.record({ command: text })),
    })
    .map(({ effect: ruled, stop, reason, context, messages, input }): Verdict => {
      const effect = stop?.pending === 'skip' ? 'stop' : ruled;
      const hasReason = effect !== 'pass';
      return {
        ...createEmptyVerdict(event.name),
        effect,
        stop: stop satisfies Stop | null,
        reasons: hasReason ? [{ hook: 'a:b', text: stop?.reason ?? reason }] : [],
        input: event.name === 'PreToolUse' && !isRefusal(effect) ? input : null,
        context,
        messages,
      };
    });
}

const STRICTNESS = ['pass', 'allow', 'ask', 'defer', 'deny'];

function effectOf({ decision }: Answer): string {
  if (decision?.stop?.pending === 'skip') return 'deny';
  return decision?.effect ?? 'pass';
}

describe.each(EVERY_EVENT)('a verdict for $title', ({ dialect, name }) => {
  const event = eventOf(dialect, name);

  it('is never read as something milder without a note', async () => {
    await fc.assert(
      fc.asyncProperty(verdicts(event), async (verdict) => {
        const { written, answer } = await roundTrip(dialect, event, verdict);
        expect(answer.failure === undefined || written.losses.length > 0).toBe(true);
        const expectedStrictness = STRICTNESS.indexOf(countingEffect(event, verdict.effect));
        const isMilder = STRICTNESS.indexOf(effectOf(answer)) < expectedStrictness;
        expect({ isMilder, isSaid: written.losses.length > 0 }).not.toEqual({
          isMilder: true,
          isSaid: false,
        });
      }),
      { numRuns: 25, maxSkipsPerRun: 1000 },
    );
  });

  it('is read as what it stands for where nothing is lost', async () => {
    await fc.assert(
      fc.asyncProperty(verdicts(event), async (verdict) => {
        const { written, answer } = await roundTrip(dialect, event, verdict);
        fc.pre(written.losses.length === 0);
        const { decision = {} } = answer;
        expect(meaningOf(event, decision)).toEqual(meaningOf(event, toDecision(verdict)));
      }),
      { numRuns: 25, maxSkipsPerRun: 1000 },
    );
  });

  it('refuses where it refuses and this agent can', async () => {
    const refusals = verdicts(event).filter(({ effect }) => isRefusal(effect));
    await fc.assert(
      fc.asyncProperty(refusals, async (verdict) => {
        const { written, answer } = await roundTrip(dialect, event, verdict);
        const isRefused = effectOf(answer) === 'deny' || answer.decision?.stop !== undefined;
        const isSaid = written.losses.some((loss) => /cannot be refused|ignores/u.test(loss));
        expect(isRefused || isSaid).toBe(true);
      }),
      { numRuns: 25 },
    );
  });
});

/** `allow` and `ask` need no text where no user is asked, or where the user always is. */
function countingEffect(event: HookEvent, effect: Verdict['effect']): string {
  if (effect === 'stop' || effect === 'deny' || effect === 'defer') {
    return effect === 'stop' ? 'deny' : effect;
  }
  return EVENTS[event.name].effects.includes(effect) ? effect : 'pass';
}

/** A verdict as the decision of one hook. */
function toDecision({ effect, stop, reasons, context, messages, input }: Verdict): Decision {
  const joined = (all: Verdict['reasons']): string => all.map((each) => each.text).join('\n');
  return {
    effect: effect === 'stop' ? 'deny' : effect,
    ...(reasons.length === 0 ? {} : { reason: joined(reasons) }),
    ...(stop === null ? {} : { stop }),
    ...(context.length === 0 ? {} : { context: joined(context) }),
    ...(messages.length === 0 ? {} : { notice: joined(messages) }),
    ...(input === null ? {} : { input }),
  };
}

/** What a decision comes to: a refused action does not happen, whether it or the run is ended. */
function meaningOf(event: HookEvent, decision: Decision): unknown {
  const { effect = 'pass', reason, stop, context, notice, input } = decision;
  const counts = stop?.pending === 'skip' ? 'deny' : countingEffect(event, effect);
  return {
    effect: counts,
    // A reason on stderr is read with the name of its hook.
    reason: counts === 'pass' ? null : (reason ?? stop?.reason)?.replace(/^\[hook\]: /u, ''),
    // A refusal ends the run in some agents, and that is among its losses in them.
    ends: counts === 'deny' ? null : stop?.reason,
    context,
    notice,
    input,
  };
}

describe('what Claude Code reads', () => {
  const write = async (name: string, verdict: Partial<Verdict>) => {
    const dialect = findDialect('claude');
    const writeAnswer = await dialect?.writeAnswer?.();
    invariant(dialect !== null && writeAnswer !== undefined, 'Claude’s answers can be written');
    const event = eventOf(dialect, name);
    const { stdout, ...rest } = writeAnswer(event, {
      ...createEmptyVerdict(event.name),
      ...verdict,
    });
    return { ...rest, answer: stdout.startsWith('{') ? JSON.parse(stdout) : stdout };
  };
  const reasons = [{ hook: 'a', text: 'no' }];
  const clean = { stderr: '', exitCode: 0, losses: [] };

  it('of a call is its permission, its input, its context and a message for the user', async () => {
    expect(
      await write('PreToolUse', {
        effect: 'ask',
        reasons,
        input: { command: 'ls' },
        context: [
          { hook: 'a', text: 'one' },
          { hook: 'b', text: 'two' },
        ],
        messages: [{ hook: 'a', text: 'look' }],
      }),
    ).toEqual({
      ...clean,
      answer: {
        systemMessage: 'look',
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'ask',
          permissionDecisionReason: 'no',
          additionalContext: 'one\ntwo',
          updatedInput: { command: 'ls' },
        },
      },
    });
  });

  it('of a stop without the call is a refusal and the end of the turn', async () => {
    const stop = { reason: 'enough', pending: 'skip' } as const;
    expect(await write('PreToolUse', { effect: 'stop', stop, reasons })).toEqual({
      ...clean,
      answer: {
        continue: false,
        stopReason: 'enough',
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'deny',
          permissionDecisionReason: 'no',
        },
      },
    });
  });

  it.each(['UserPromptSubmit', 'Stop', 'PostToolUse', 'PreCompact', 'ConfigChange'])(
    'of a refused %s is a block',
    async (name) => {
      expect(await write(name, { effect: 'deny', reasons })).toEqual({
        ...clean,
        answer: { decision: 'block', reason: 'no' },
      });
    },
  );

  it('of a refused worktree is the exit code', async () => {
    expect(await write('WorktreeCreate', { effect: 'deny', reasons })).toEqual({
      answer: '',
      stderr: 'no\n',
      exitCode: 2,
      losses: [],
    });
  });

  it('of a refused session is the strictest possible answer, and the losses', async () => {
    expect(await write('SessionStart', { effect: 'deny', reasons })).toEqual({
      answer: '',
      stderr: 'no\n',
      exitCode: 2,
      losses: ['SessionStart cannot be refused in Claude Code'],
    });
  });

  it('of a permission request is the answer for the user', async () => {
    const changes = { permissions: [{ hook: 'a', value: [{ type: 'addRules' }] }] };
    expect(await write('PermissionRequest', { effect: 'allow', changes })).toEqual({
      ...clean,
      answer: {
        hookSpecificOutput: {
          hookEventName: 'PermissionRequest',
          decision: { behavior: 'allow', updatedPermissions: [{ type: 'addRules' }] },
        },
      },
    });
    const stop = { reason: 'enough', pending: 'skip' } as const;
    const refused = await write('PermissionRequest', { effect: 'stop', stop, reasons });
    expect(refused.answer).toMatchObject({
      hookSpecificOutput: { decision: { behavior: 'deny', message: 'no', interrupt: true } },
    });
  });

  it('of an ask that an event does not support is a refusal', async () => {
    expect(await write('UserPromptSubmit', { effect: 'ask', reasons })).toEqual({
      ...clean,
      answer: { decision: 'block', reason: 'no' },
      losses: ['UserPromptSubmit cannot ask in Claude Code, so that it is refused'],
    });
  });

  it('of an empty verdict is empty', async () => {
    expect(await write('PreToolUse', {})).toEqual({ ...clean, answer: '' });
  });
});

describe('what Cline reads', () => {
  const write = async (name: string, verdict: Partial<Verdict>) => {
    const dialect = findDialect('cline');
    const writeAnswer = await dialect?.writeAnswer?.();
    invariant(dialect !== null && writeAnswer !== undefined, 'Cline’s answers can be written');
    const event = eventOf(dialect, name);
    return writeAnswer(event, { ...createEmptyVerdict(event.name), ...verdict });
  };
  const reasons = [{ hook: 'a', text: 'no' }];

  it('of a refusal is cancel with exit code 0, which alone counts in VS Code', async () => {
    expect(await write('PreToolUse', { effect: 'deny', reasons })).toEqual({
      stdout: '{"cancel":true,"errorMessage":"no"}\n',
      stderr: '',
      exitCode: 0,
      losses: ['Cline ends the task, not only this action'],
    });
  });

  it('of an ask is a refusal, because Cline drops it', async () => {
    expect(await write('PreToolUse', { effect: 'ask', reasons })).toMatchObject({
      stdout: '{"cancel":true,"errorMessage":"no"}\n',
      losses: ['Cline cannot ask: the task is cancelled instead'],
    });
  });

  it('of context and input are its own fields', async () => {
    const context = [{ hook: 'a', text: 'know' }];
    expect(await write('PreToolUse', { context, input: { path: 'a' } })).toMatchObject({
      stdout: '{"contextModification":"know","overrideInput":{"path":"a"}}\n',
      losses: ['Cline in VS Code does not take overrideInput'],
    });
  });

  it('drops what it ignores, and lists it as a loss', async () => {
    expect(await write('Notification', { effect: 'deny', reasons })).toMatchObject({
      losses: ['Cline ignores the answer of Notification'],
    });
  });
});
