import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Decision,
  EFFECTS,
  createEmptyVerdict,
  isRefusal,
  type Stop,
  type Verdict,
} from '../../src/hooks/decision.ts';
import { EVENTS } from '../../src/hooks/events.ts';
import type { HookEvent } from '../../src/hooks/facts.ts';
import type { Answer } from '../../src/hooks/handler.ts';
import {
  eventOf,
  findLostRefusal,
  findLostStop,
  writerOf,
  WRITERS,
} from './write-answer-fixture.ts';

const EVERY_EVENT = WRITERS.flatMap((writer) =>
  writer.dialect.events.names.map((name) => ({
    writer,
    name,
    title: `${writer.dialect.name} ${name}`,
  })),
);

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

describe.each(EVERY_EVENT)('a verdict for $title', ({ writer, name }) => {
  const event = eventOf(writer.dialect, name);
  const lostRefusal = findLostRefusal(writer.dialect, name);
  const lostStop = findLostStop(writer.dialect, name);

  /** Writes the verdict, and reads it as the agent would. */
  const roundTrip = (verdict: Verdict) => {
    const written = writer.write(event, verdict);
    return { written, answer: writer.read(event, written) };
  };

  it('is never read as something milder without a note', () => {
    fc.assert(
      fc.property(verdicts(event), (verdict) => {
        const { written, answer } = roundTrip(verdict);
        const expected = countingEffect(event, verdict.effect);
        const isMilder = STRICTNESS.indexOf(effectOf(answer)) < STRICTNESS.indexOf(expected);
        const excuse = expected === 'allow' ? 'Cline still asks for its own approval' : lostRefusal;
        const owed = [
          ...(answer.failure === undefined
            ? []
            : ['WorktreeCreate without a path fails in Claude Code']),
          ...(isMilder ? [excuse] : []),
        ];
        expect(written.losses).toEqual(expect.arrayContaining(owed));
      }),
      { numRuns: 25 },
    );
  });

  it('is read as what it stands for where nothing is lost', () => {
    const lossless = verdicts(event).filter(
      (verdict) => writer.write(event, verdict).losses.length === 0,
    );
    fc.assert(
      fc.property(lossless, (verdict) => {
        const { decision = {} } = roundTrip(verdict).answer;
        expect(meaningOf(event, decision)).toEqual(meaningOf(event, toDecision(verdict)));
      }),
      { numRuns: 25 },
    );
  });

  it('refuses where it refuses and this agent can', () => {
    const refusals = verdicts(event).filter(
      ({ effect, stop }) => isRefusal(effect) || effect === 'defer' || stop !== null,
    );
    fc.assert(
      fc.property(refusals, (verdict) => {
        const { written, answer } = roundTrip(verdict);
        const { effect = 'pass', stop } = answer.decision ?? {};
        const mustHold = isRefusal(verdict.effect) || verdict.effect === 'defer';
        const isHeld = stop?.pending === 'skip' || effect === 'deny' || effect === 'defer';
        const isEnded = stop !== undefined || effect === 'deny';
        const owed = [
          ...(mustHold && !isHeld ? [lostRefusal] : []),
          ...(verdict.stop !== null && !isEnded ? [lostStop] : []),
        ];
        expect(written.losses).toEqual(expect.arrayContaining(owed));
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
  const joined = (all: Verdict['reasons'], between = '\n'): string =>
    all.map((each) => each.text).join(between);
  return {
    effect: effect === 'stop' ? 'deny' : effect,
    ...(reasons.length === 0 ? {} : { reason: joined(reasons) }),
    ...(stop === null ? {} : { stop }),
    ...(context.length === 0 ? {} : { context: joined(context, '\n\n') }),
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
  const writer = writerOf('claude');
  const write = (name: string, verdict: Partial<Verdict>) => {
    const event = eventOf(writer.dialect, name);
    const whole = { ...createEmptyVerdict(event.name), ...verdict };
    const { stdout, ...rest } = writer.write(event, whole);
    return { ...rest, answer: stdout.startsWith('{') ? JSON.parse(stdout) : stdout };
  };
  const reasons = [{ hook: 'a', text: 'no' }];
  const clean = { stderr: '', exitCode: 0, losses: [] };

  it('of a call is its permission, its input, its context and a message for the user', () => {
    expect(
      write('PreToolUse', {
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
          additionalContext: 'one\n\ntwo',
          updatedInput: { command: 'ls' },
        },
      },
    });
  });

  it('of a stop without the call is a refusal and the end of the turn', () => {
    const stop = { reason: 'enough', pending: 'skip' } as const;
    expect(write('PreToolUse', { effect: 'stop', stop, reasons })).toEqual({
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
    (name) => {
      expect(write(name, { effect: 'deny', reasons })).toEqual({
        ...clean,
        answer: { decision: 'block', reason: 'no' },
      });
    },
  );

  it('of a refused worktree is the exit code', () => {
    expect(write('WorktreeCreate', { effect: 'deny', reasons })).toEqual({
      answer: '',
      stderr: 'no\n',
      exitCode: 2,
      losses: [],
    });
  });

  it('of a refused session is the strictest possible answer, and the losses', () => {
    expect(write('SessionStart', { effect: 'deny', reasons })).toEqual({
      answer: '',
      stderr: 'no\n',
      exitCode: 2,
      losses: ['SessionStart cannot be refused in Claude Code'],
    });
  });

  it('of a permission request is the answer for the user', () => {
    const changes = { permissions: [{ hook: 'a', value: [{ type: 'addRules' }] }] };
    expect(write('PermissionRequest', { effect: 'allow', changes })).toEqual({
      ...clean,
      answer: {
        hookSpecificOutput: {
          hookEventName: 'PermissionRequest',
          decision: { behavior: 'allow', updatedPermissions: [{ type: 'addRules' }] },
        },
      },
    });
    const stop = { reason: 'enough', pending: 'skip' } as const;
    const refused = write('PermissionRequest', { effect: 'stop', stop, reasons });
    expect(refused.answer).toMatchObject({
      hookSpecificOutput: { decision: { behavior: 'deny', message: 'no', interrupt: true } },
    });
  });

  it('of an ask that an event does not support is a refusal', () => {
    expect(write('UserPromptSubmit', { effect: 'ask', reasons })).toEqual({
      ...clean,
      answer: { decision: 'block', reason: 'no' },
      losses: ['UserPromptSubmit cannot ask in Claude Code, so that it is refused'],
    });
  });

  it('of a deferred permission request is a refusal', () => {
    expect(write('PermissionRequest', { effect: 'defer', reasons })).toEqual({
      ...clean,
      answer: {
        hookSpecificOutput: {
          hookEventName: 'PermissionRequest',
          decision: { behavior: 'deny', message: 'no' },
        },
      },
      losses: ['PermissionRequest cannot defer in Claude Code, so that it is refused'],
    });
  });

  it('of an allowed permission request has its input, if that is an object', () => {
    const decision = (input: unknown) => write('PermissionRequest', { effect: 'allow', input });
    expect(decision({ command: 'ls' })).toEqual({
      ...clean,
      answer: {
        hookSpecificOutput: {
          hookEventName: 'PermissionRequest',
          decision: { behavior: 'allow', updatedInput: { command: 'ls' } },
        },
      },
    });
    expect(decision('ls')).toEqual({
      ...clean,
      answer: {
        hookSpecificOutput: {
          hookEventName: 'PermissionRequest',
          decision: { behavior: 'allow' },
        },
      },
      losses: ['PermissionRequest cannot change the input of a call in Claude Code'],
    });
  });

  it('of an input or a result that it cannot take is nothing', () => {
    expect(write('PreToolUse', { input: 'ls' })).toEqual({
      ...clean,
      answer: '',
      losses: ['PreToolUse cannot change the input of a call in Claude Code'],
    });
    expect(write('PreToolUse', { output: undefined })).toEqual({ ...clean, answer: '' });
  });

  it('of permissions without an approval is nothing', () => {
    const changes = { permissions: [{ hook: 'a', value: [{ type: 'addRules' }] }] };
    expect(write('PermissionRequest', { effect: 'ask', changes })).toEqual({
      ...clean,
      answer: '',
      losses: ['PermissionRequest does not read in Claude Code: permissions'],
    });
  });

  it('of an elicited answer is its action, and none beside a refusal', () => {
    const answer = { action: 'accept' };
    expect(write('Elicitation', { changes: { answer } })).toEqual({
      ...clean,
      answer: { hookSpecificOutput: { hookEventName: 'Elicitation', action: 'accept' } },
    });
    expect(write('Elicitation', { changes: { answer: 'accept' } })).toEqual({
      ...clean,
      answer: '',
      losses: ['Elicitation takes no answer in Claude Code'],
    });
    const refused = { stderr: 'no\n', exitCode: 2, answer: { decision: 'block', reason: 'no' } };
    expect(write('Elicitation', { effect: 'deny', reasons, changes: { answer } })).toEqual({
      ...refused,
      losses: [],
    });
    const stop = { reason: 'no', pending: 'run' } as const;
    expect(write('Elicitation', { stop, changes: { answer } })).toEqual({
      ...refused,
      losses: ['Elicitation cannot end the run in Claude Code'],
    });
  });

  it('of instructions for a compaction is plain text, and nothing beside JSON', () => {
    const instructions = [
      { hook: 'a', value: 'be brief' },
      { hook: 'b', value: 'be kind' },
    ];
    expect(write('PreCompact', { changes: { instructions } })).toEqual({
      ...clean,
      answer: 'be brief\nbe kind\n',
    });
    expect(write('PreCompact', { effect: 'deny', reasons, changes: { instructions } })).toEqual({
      ...clean,
      answer: { decision: 'block', reason: 'no' },
      losses: ['PreCompact takes no instructions beside another answer'],
    });
  });

  it('of a new worktree is its path as plain text, and nothing that it would take for a path', () => {
    const changes = { worktreePath: '/w/tree' };
    const messages = [{ hook: 'a', text: 'look' }];
    const losses = ['WorktreeCreate takes no message in Claude Code'];
    const created = write('WorktreeCreate', { changes, messages });
    expect(created).toEqual({ ...clean, answer: '/w/tree\n', losses });
    const stop = { reason: 'enough', pending: 'run' } as const;
    expect(write('WorktreeCreate', { stop, changes, messages })).toEqual({
      answer: '',
      stderr: 'enough\n',
      exitCode: 2,
      losses: ['WorktreeCreate cannot end the run in Claude Code', ...losses],
    });
  });

  it('of an empty verdict is empty', () => {
    expect(write('PreToolUse', {})).toEqual({ ...clean, answer: '' });
  });
});

describe('what Cline reads', () => {
  const writer = writerOf('cline');
  const write = (name: string, verdict: Partial<Verdict>) => {
    const event = eventOf(writer.dialect, name);
    return writer.write(event, { ...createEmptyVerdict(event.name), ...verdict });
  };
  const reasons = [{ hook: 'a', text: 'no' }];

  it('of a refusal is cancel with exit code 0, which alone counts in VS Code', () => {
    expect(write('PreToolUse', { effect: 'deny', reasons })).toEqual({
      stdout: '{"cancel":true,"errorMessage":"no"}\n',
      stderr: '',
      exitCode: 0,
      losses: ['Cline ends the task, not only this action'],
    });
  });

  it('of an ask is a refusal, because Cline drops it', () => {
    expect(write('PreToolUse', { effect: 'ask', reasons })).toMatchObject({
      stdout: '{"cancel":true,"errorMessage":"no"}\n',
      losses: ['Cline cannot ask: the task is cancelled instead'],
    });
  });

  it('of context and input are its own fields', () => {
    const context = [{ hook: 'a', text: 'know' }];
    expect(write('PreToolUse', { context, input: { path: 'a' } })).toMatchObject({
      stdout: '{"contextModification":"know","overrideInput":{"path":"a"}}\n',
      losses: ['Cline in VS Code does not take overrideInput'],
    });
  });

  it('drops what it ignores, and lists it as a loss', () => {
    expect(write('Notification', { effect: 'deny', reasons })).toMatchObject({
      losses: ['Cline ignores the answer of Notification'],
    });
  });
});
