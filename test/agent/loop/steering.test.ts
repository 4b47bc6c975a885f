import { describe, expect, it } from 'vitest';
import type { Host } from '../../../src/host/create-host.ts';
import { until } from '../../base/directory.ts';
import { createAgentFixture, label, type Reaction, type AgentFixture } from '../agent-fixture.ts';
import {
  calls,
  either,
  moment,
  named,
  notices,
  on,
  slowHook,
  createModelRecorder,
  listTexts,
} from '../scripted-session.ts';

const readCall = calls(['Read', { file_path: 'notes.txt' }]);

/** A fixture whose hooks can call the host. */
function speaking(react: (host: () => Host) => Reaction): {
  stage: AgentFixture;
  join(host: Host): void;
} {
  let host: Host | null = null;
  const reaction = react(() => {
    if (host === null) throw new Error('the host is not there yet');
    return host;
  });
  const fixture = createAgentFixture((event) => reaction(event));
  fixture.write('notes.txt', 'hello\n');
  return { stage: fixture, join: (opened) => void (host = opened) };
}

describe('steering an agent that works', () => {
  it('reaches the model with its next request, in order, after hooks have seen it', async () => {
    const { stage: fixture, join } = speaking((host) =>
      on('PostToolUse', ({ sessionId }) => {
        expect(host().steer(sessionId, 'first this')).toBe(true);
        expect(host().steer(sessionId, 'then that')).toBe(true);
        return undefined;
      }),
    );
    const recorder = createModelRecorder([readCall, { text: 'Done.' }]);
    const host = await fixture.open({ model: recorder.model });
    join(host);
    await host.start({ prompt: 'go' });
    expect(named(fixture, 'UserPromptSubmit').map(({ prompt }) => prompt)).toEqual([
      'go',
      'first this',
      'then that',
    ]);
    expect(listTexts(recorder.requests[1]).at(-1)).toBe('user: first thisthen that');
    const order = fixture.fired.map(label);
    expect(order.slice(order.indexOf('PostToolUse Read')).slice(0, 5)).toEqual([
      'PostToolUse Read',
      'PostToolBatch',
      'UserPromptSubmit',
      'UserPromptSubmit',
      'ModelRequest',
    ]);
  });

  it('is dropped with a notice when a hook refuses it', async () => {
    const { stage: fixture, join } = speaking((host) =>
      either(
        on('PostToolUse', ({ sessionId }) => {
          host().steer(sessionId, 'drop the tables');
          return undefined;
        }),
        on('UserPromptSubmit', ({ prompt }) =>
          prompt.startsWith('drop') ? { effect: 'deny', reason: 'no dropping' } : undefined,
        ),
      ),
    );
    const recorder = createModelRecorder([readCall, { text: 'Done.' }]);
    const host = await fixture.open({ model: recorder.model });
    join(host);
    const { result } = await host.start({ prompt: 'go' });
    expect(result?.ending).toBe('done');
    expect(notices(fixture)).toEqual(['no dropping']);
    expect(JSON.stringify(recorder.requests[1]?.messages)).not.toContain('tables');
  });

  it('ends the run when a hook stops because of it', async () => {
    const { stage: fixture, join } = speaking((host) =>
      either(
        on('PostToolUse', ({ sessionId }) => {
          host().steer(sessionId, 'stop!');
          return undefined;
        }),
        on('UserPromptSubmit', ({ prompt }) =>
          prompt === 'stop!' ? { stop: { reason: 'as they say', pending: 'skip' } } : undefined,
        ),
      ),
    );
    const recorder = createModelRecorder([readCall, { text: 'Done.' }]);
    const host = await fixture.open({ model: recorder.model });
    join(host);
    const { result } = await host.start({ prompt: 'go' });
    expect(result).toMatchObject({ ending: 'stopped_by_hook', reason: 'as they say' });
    expect(recorder.requests).toHaveLength(1);
  });

  it('while its last answer streams makes the agent go on', async () => {
    const { stage: fixture, join } = speaking((host) =>
      on('ModelResponse', ({ sessionId, iteration }) => {
        if (iteration === 1) host().steer(sessionId, 'wait');
        return undefined;
      }),
    );
    const recorder = createModelRecorder([{ text: 'One.' }, { text: 'Two.' }]);
    const host = await fixture.open({ model: recorder.model });
    join(host);
    const { result } = await host.start({ prompt: 'go' });
    expect(result?.text).toBe('Two.');
    expect(listTexts(recorder.requests[1]).at(-1)).toBe('user: wait');
  });

  it('while Stop hooks run makes the agent go on', async () => {
    const { stage: fixture, join } = speaking((host) =>
      on('Stop', ({ sessionId, lastText }) => {
        if (lastText === 'One.') host().steer(sessionId, 'wait');
        return undefined;
      }),
    );
    const recorder = createModelRecorder([{ text: 'One.' }, { text: 'Two.' }]);
    const host = await fixture.open({ model: recorder.model });
    join(host);
    const { result } = await host.start({ prompt: 'go' });
    expect(result?.text).toBe('Two.');
  });

  it('that comes too late is reported with a warning, and does not turn up in the next run', async () => {
    const { stage: fixture, join } = speaking((host) =>
      on('RunEnd', ({ sessionId }) => {
        host().steer(sessionId, 'too late');
        return undefined;
      }),
    );
    const recorder = createModelRecorder([{ text: 'One.' }, { text: 'Two.' }]);
    const host = await fixture.open({ model: recorder.model });
    join(host);
    const { sessionId } = await host.start({ prompt: 'go' });
    expect(notices(fixture)).toEqual(['the run ended before the agent could be told: too late']);
    expect(host.steer(sessionId, 'nobody works')).toBe(false);
    await host.send(sessionId, 'again');
    expect(JSON.stringify(recorder.requests[1]?.messages)).not.toContain('late');
  });

  it('that comes too late is returned to its own sender only, who wants it back', async () => {
    const returned: string[] = [];
    const { stage: fixture, join } = speaking((host) =>
      on('RunEnd', ({ sessionId }) => {
        const session = host().session(sessionId);
        session.steer('gap', () => returned.push('gap'));
        session.steer('mind the gap');
        return undefined;
      }),
    );
    const host = await fixture.open({ model: createModelRecorder([{ text: 'One.' }]).model });
    join(host);
    await host.start({ prompt: 'go' });
    expect(returned).toEqual(['gap']);
    expect(notices(fixture)).toEqual([
      'the run ended before the agent could be told: mind the gap',
    ]);
  });
});

describe('a hook that runs in the background', () => {
  it('adds its result to the next request', async () => {
    const fixture = createAgentFixture();
    fixture.write('notes.txt', 'hello\n');
    const found = moment();
    const recorder = createModelRecorder([readCall, { text: 'Done.' }]);
    const host = await fixture.open({
      model: recorder.model,
      onLate: () => found.reach(),
      sources: [
        slowHook('PreToolUse', async () => ({ decision: { context: 'it smells' } }), {
          background: true,
        }),
        slowHook('PostToolBatch', async () => {
          await found.reached;
          return undefined;
        }),
      ],
    });
    await host.start({ prompt: 'go' });
    expect(listTexts(recorder.requests[1]).at(-1)).toContain('it smells');
    expect(fixture.runtimeEvents.filter(({ type }) => type === 'hook-late')).toMatchObject([
      { hook: 'slow:PreToolUse', event: 'PreToolUse' },
    ]);
  });

  it.each([
    ['wakes an idle agent where a user is present', true],
    ['does not wake an idle agent without a user', false],
  ])('%s', async (_what, isAttended) => {
    const fixture = createAgentFixture();
    const runEnded = moment();
    const lateAnswer = moment();
    const recorder = createModelRecorder([{ text: 'One.' }, { text: 'Two.' }]);
    const host = await fixture.open({
      model: recorder.model,
      onLate: () => lateAnswer.reach(),
      ...(isAttended
        ? { person: { approve: async () => ({ isAllowed: true }), answer: async () => null } }
        : {}),
      sources: [
        slowHook(
          'Stop',
          async () => {
            await runEnded.reached;
            return { decision: { context: 'the build broke', wake: true } };
          },
          { background: true },
        ),
      ],
    });
    const { sessionId } = await host.start({ prompt: 'go' });
    runEnded.reach();
    await lateAnswer.reached;
    if (isAttended) {
      await until(() => named(fixture, 'RunEnd').length >= 2);
      expect(listTexts(recorder.requests[1]).at(-1)).toContain('the build broke');
    } else {
      expect((await host.send(sessionId, 'and now?')).text).toBe('Two.');
      expect(named(fixture, 'RunStart')).toHaveLength(2);
      expect(listTexts(recorder.requests[1]).at(-1)).toMatch(/the build broke[\s\S]*and now\?$/);
    }
  });

  it('wakes an agent at most eight times in a row, then a warning is emitted', async () => {
    const fixture = createAgentFixture();
    const recorder = createModelRecorder(Array.from({ length: 20 }, () => ({ text: 'Again.' })));
    const host = await fixture.open({
      model: recorder.model,
      person: { approve: async () => ({ isAllowed: true }), answer: async () => null },
      sources: [
        slowHook('Stop', async () => ({ decision: { context: 'and?', wake: true } }), {
          background: true,
        }),
      ],
    });
    await host.start({ prompt: 'go' });
    await until(() => notices(fixture).length > 0);
    expect(notices(fixture)).toEqual([
      'hooks woke the agent 8 times in a row; what they say now waits for the next prompt',
    ]);
    expect(named(fixture, 'RunEnd')).toHaveLength(9);
  });

  it('wakes the agent when its run is over, if its result came too late for the run', async () => {
    const fixture = createAgentFixture();
    const ending = moment();
    const lateAnswer = moment();
    let isFirst = true;
    const recorder = createModelRecorder([{ text: 'One.' }, { text: 'Two.' }]);
    const host = await fixture.open({
      model: recorder.model,
      person: { approve: async () => ({ isAllowed: true }), answer: async () => null },
      onLate: () => lateAnswer.reach(),
      sources: [
        slowHook(
          'UserPromptSubmit',
          async () => {
            await ending.reached;
            return { decision: { context: 'the build broke', wake: true } };
          },
          { background: true },
        ),
        slowHook('Stop', async () => {
          ending.reach();
          if (isFirst) await lateAnswer.reached;
          isFirst = false;
          return undefined;
        }),
      ],
    });
    expect((await host.start({ prompt: 'go' })).result?.text).toBe('One.');
    await until(() => named(fixture, 'RunEnd').length === 2);
    expect(listTexts(recorder.requests[1]).at(-1)).toContain('the build broke');
  });

  it('of SessionStart adds its context although the session is still being opened', async () => {
    const fixture = createAgentFixture();
    const lateAnswer = moment();
    const recorder = createModelRecorder([{ text: 'One.' }]);
    const host = await fixture.open({
      model: recorder.model,
      onLate: () => lateAnswer.reach(),
      sources: [
        slowHook('SessionStart', async () => ({ decision: { context: 'it rains' } }), {
          background: true,
        }),
        slowHook(
          'SessionStart',
          async () => {
            await lateAnswer.reached;
            return undefined;
          },
          { id: 'slow:SessionStart:second' },
        ),
      ],
    });
    await host.start({ prompt: 'go' });
    expect(listTexts(recorder.requests[0])).toEqual([expect.stringContaining('it rains')]);
  });
});

describe('a hook that calls the host during its own dispatch', () => {
  it.each(['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'] as const)(
    'may abort the run: %s',
    async (name) => {
      const fixture = createAgentFixture();
      fixture.write('notes.txt', 'hello\n');
      const recorder = createModelRecorder([readCall, { text: 'Done.' }]);
      const host = await fixture.open({
        model: recorder.model,
        sources: [
          slowHook(name, async ({ sessionId }) => {
            await host.abort(sessionId, 'a hook had enough');
            return undefined;
          }),
        ],
      });
      const { result } = await host.start({ prompt: 'go' });
      expect(result).toMatchObject({ status: 'aborted', reason: 'a hook had enough' });
      expect(named(fixture, 'RunEnd')).toHaveLength(1);
    },
  );

  it('may abort when the run is over, which changes nothing', async () => {
    const fixture = createAgentFixture();
    const recorder = createModelRecorder([{ text: 'Done.' }]);
    const host = await fixture.open({
      model: recorder.model,
      sources: [
        slowHook('RunEnd', async ({ sessionId }) => {
          await host.abort(sessionId);
          return undefined;
        }),
      ],
    });
    expect((await host.start({ prompt: 'go' })).result?.ending).toBe('done');
  });

  it('is refused when it sends a prompt, because the agent works', async () => {
    const fixture = createAgentFixture();
    const recorder = createModelRecorder([{ text: 'Done.' }]);
    const errors: unknown[] = [];
    const host = await fixture.open({
      model: recorder.model,
      sources: [
        slowHook('Stop', async ({ sessionId }) => {
          await host.send(sessionId, 'more').catch((error: unknown) => errors.push(error));
          return undefined;
        }),
      ],
    });
    expect((await host.start({ prompt: 'go' })).result?.ending).toBe('done');
    expect(errors).toMatchObject([{ code: 'SESSION_BUSY' }]);
  });
});
