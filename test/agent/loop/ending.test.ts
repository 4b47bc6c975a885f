import { describe, expect, it } from 'vitest';
import type { ScriptTurn } from '../../../src/agent/models/scripted.ts';
import type { Decision } from '../../../src/hooks/decision.ts';
import { createAgentFixture, type Reaction } from '../agent-fixture.ts';
import {
  calls,
  either,
  named,
  notices,
  on,
  createModelRecorder,
  listTexts,
} from '../scripted-session.ts';

/** A hook that gives these answers, one after the other, then none. */
function inTurn(event: 'Stop' | 'TaskComplete', ...decisions: readonly Decision[]): Reaction {
  const remainingDecisions = [...decisions];
  return on(event, () => remainingDecisions.shift());
}

async function play(react: Reaction, turns?: readonly ScriptTurn[]) {
  const fixture = createAgentFixture(react);
  const recorder = createModelRecorder(
    turns ?? Array.from({ length: 12 }, (_, at) => ({ text: `Turn ${at + 1}.` })),
  );
  const host = await fixture.open({ model: recorder.model });
  const { result, sessionId } = await host.start({ prompt: 'go' });
  return { fixture, recorder, result, sessionId, host };
}

describe('a hook of Stop', () => {
  it('that refuses makes the agent go on with its reason; `again` is true the next time', async () => {
    const { fixture, recorder, result } = await play(
      inTurn('Stop', { effect: 'deny', reason: 'the tests fail' }),
    );
    expect(result).toMatchObject({ ending: 'done', text: 'Turn 2.', iterations: 2 });
    expect(listTexts(recorder.requests[1])).toEqual([
      'user: go',
      'assistant: Turn 1.',
      'user: Stop hook feedback:\nthe tests fail',
    ]);
    expect(named(fixture, 'Stop').map(({ again, lastText }) => [again, lastText])).toEqual([
      [false, 'Turn 1.'],
      [true, 'Turn 2.'],
    ]);
    expect(named(fixture, 'TaskComplete')).toHaveLength(1);
  });

  it('that refuses without a reason is named to the model', async () => {
    const { recorder } = await play(inTurn('Stop', { effect: 'deny' }));
    expect(listTexts(recorder.requests[1])[2]).toBe(
      'user: Stop hook feedback:\nBlocked by inline:Stop, which gave no reason',
    );
  });

  it('that gives context makes the agent go on, too', async () => {
    const { recorder, result } = await play(inTurn('Stop', { context: 'one more thing' }));
    expect(result?.text).toBe('Turn 2.');
    expect(listTexts(recorder.requests[1])[2]).toContain(
      'Stop hook additional context: one more thing',
    );
  });

  it('that never agrees is overruled after eight times in a row, with a warning', async () => {
    const { fixture, result } = await play(on('Stop', { effect: 'deny', reason: 'no' }));
    expect(result).toMatchObject({ ending: 'done', iterations: 9, text: 'Turn 9.' });
    expect(notices(fixture)).toEqual([
      'hooks kept the agent from ending 9 times in a row (inline:Stop); it ends now',
    ]);
    expect(named(fixture, 'RunEnd')).toHaveLength(1);
  });

  it('that stops ends the run over those that refuse', async () => {
    const { result, fixture } = await play(
      on('Stop', {
        effect: 'deny',
        reason: 'no',
        stop: { reason: 'it is late', pending: 'run' },
      }),
    );
    expect(result).toMatchObject({ iterations: 1, reason: 'it is late' });
    expect(named(fixture, 'RunEnd')).toHaveLength(1);
  });

  it('is counted anew with the next prompt', async () => {
    let askCount = 0;
    const { fixture, host, sessionId } = await play(
      on('Stop', () => {
        askCount += 1;
        return askCount % 2 === 1 ? { effect: 'deny', reason: 'once more' } : undefined;
      }),
    );
    await host.send(sessionId, 'again');
    expect(named(fixture, 'Stop').map(({ again }) => again)).toEqual([false, true, false, true]);
  });
});

describe('a hook of TaskComplete', () => {
  it('that refuses makes the agent go on', async () => {
    const { fixture, recorder, result } = await play(
      inTurn('TaskComplete', { effect: 'deny', reason: 'no changelog' }),
    );
    expect(result).toMatchObject({ ending: 'done', text: 'Turn 2.' });
    expect(listTexts(recorder.requests[1])[2]).toContain('no changelog');
    expect(named(fixture, 'TaskComplete').map((event) => event.result)).toEqual([
      'Turn 1.',
      'Turn 2.',
    ]);
    expect(named(fixture, 'Stop').map(({ again }) => again)).toEqual([false, true]);
  });

  it('that never agrees is overruled, too', async () => {
    const { fixture, result } = await play(on('TaskComplete', { effect: 'deny', reason: 'no' }));
    expect(result).toMatchObject({ ending: 'done', iterations: 9 });
    expect(notices(fixture)).toEqual([
      'hooks kept the agent from ending 9 times in a row (inline:TaskComplete); it ends now',
    ]);
  });

  it('that gives context lets the task end, and the next request includes the context', async () => {
    const { fixture, recorder, result, host, sessionId } = await play(
      inTurn('TaskComplete', { context: 'all tests pass' }),
    );
    expect(result).toMatchObject({ ending: 'done', iterations: 1, text: 'Turn 1.' });
    await host.send(sessionId, 'again');
    expect(listTexts(recorder.requests[1]).join('\n')).toContain(
      'TaskComplete hook additional context: all tests pass',
    );
    expect(named(fixture, 'TaskComplete')).toHaveLength(2);
  });

  it('is overruled together with Stop when both never agree, and is called when the run ends', async () => {
    const deny = { effect: 'deny', reason: 'no' } as const;
    const { fixture, result } = await play(either(on('Stop', deny), on('TaskComplete', deny)));
    expect(result).toMatchObject({ ending: 'done', iterations: 9 });
    expect(named(fixture, 'TaskComplete')).toHaveLength(1);
  });
});

describe('a run', () => {
  it('ends when it has reached its limit of turns', async () => {
    const fixture = createAgentFixture();
    fixture.write('notes.txt', 'hello\n');
    const turns = Array.from({ length: 5 }, (_, at) =>
      calls(['Read', { file_path: 'notes.txt', limit: at + 1 }]),
    );
    const recorder = createModelRecorder(turns);
    const host = await fixture.open({ model: recorder.model, maxTurns: 3 });
    const { result } = await host.start({ prompt: 'go' });
    expect(result).toMatchObject({
      status: 'completed',
      ending: 'max_turns',
      reason: 'the limit of 3 turns was reached',
      iterations: 3,
    });
    expect(named(fixture, 'RunEnd')).toMatchObject([{ status: 'completed' }]);
    expect(named(fixture, 'Stop')).toEqual([]);
  });

  it('that hooks of ModelRequest or ModelResponse refuse is stopped with their reason', async () => {
    for (const event of ['ModelRequest', 'ModelResponse'] as const) {
      const { result, fixture } = await play(on(event, { effect: 'deny', reason: `no ${event}` }));
      expect(result).toMatchObject({ ending: 'stopped_by_hook', reason: `no ${event}` });
      expect(named(fixture, 'RunEnd')).toHaveLength(1);
    }
  });

  it('that a hook of RunStart refuses does not begin', async () => {
    const { result, recorder, fixture } = await play(
      on('RunStart', { effect: 'deny', reason: 'not today' }),
    );
    expect(result).toMatchObject({ status: 'failed', ending: 'refused', reason: 'not today' });
    expect(recorder.requests).toEqual([]);
    expect(named(fixture, 'RunEnd')).toHaveLength(1);
  });

  it('shows the user what hooks of MessageDisplay make of an answer, and sends the model the original', async () => {
    const { fixture, recorder } = await play(
      either(
        on('MessageDisplay', { display: '***' }),
        inTurn('Stop', { effect: 'deny', reason: 'more' }),
      ),
    );
    const outputs = fixture.runtimeEvents.flatMap((news) =>
      news.type === 'message-end' ? [news.shown] : [],
    );
    expect(outputs).toEqual(['***', '***']);
    expect(listTexts(recorder.requests[1])[1]).toBe('assistant: Turn 1.');
  });

  it('goes on where an answer was cut', async () => {
    const fixture = createAgentFixture();
    const { model, requests } = createModelRecorder([{ text: 'All' }, { text: ' of it.' }]);
    let isCut = true;
    const host = await fixture.open({
      model: {
        ...model,
        async *stream(request, signal) {
          const finishReason = isCut ? 'length' : 'stop';
          isCut = false;
          for await (const chunk of model.stream(request, signal)) {
            yield chunk.type === 'end' ? { ...chunk, finishReason } : chunk;
          }
        },
      },
    });
    const { result } = await host.start({ prompt: 'go' });
    expect(result).toMatchObject({ ending: 'done', text: ' of it.' });
    expect(listTexts(requests[1]).at(-1)).toContain('Go on right where it ended');
  });
});
