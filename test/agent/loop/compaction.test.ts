import { describe, expect, it } from 'vitest';
import type { ScriptTurn } from '../../../src/agent/models/scripted.ts';
import { createAgentFixture, label, type Reaction } from '../agent-fixture.ts';
import {
  calls,
  either,
  named,
  notices,
  on,
  createModelRecorder,
  listTexts,
} from '../scripted-session.ts';

const SUMMARY = /^user: This session is being continued .*:\n\nWe read the notes\.\n\nGo on/s;
const summary: ScriptTurn = { text: 'We read the notes.' };
const FULL = { inputTokens: 190_000, outputTokens: 10 };
const tooLong: ScriptTurn = {
  failure: { class: 'invalid_request', message: 'prompt is too long: 210000 tokens > 200000' },
};

function full(): ScriptTurn {
  return { ...calls(['Read', { file_path: 'notes.txt' }]), usage: FULL };
}

async function play(turns: readonly ScriptTurn[], react: Reaction = () => undefined) {
  const fixture = createAgentFixture(react);
  fixture.write('notes.txt', 'hello\n');
  const recorder = createModelRecorder(turns);
  const host = await fixture.open({ model: recorder.model });
  const { result, sessionId } = await host.start({ prompt: 'read the notes' });
  return { fixture, recorder, result, sessionId, host };
}

describe('a conversation that fills the model’s context', () => {
  it('is compacted before the next request, and goes on with the summary', async () => {
    const { recorder, result, fixture } = await play([full(), summary, { text: 'Done.' }]);
    expect(result).toMatchObject({ ending: 'done', text: 'Done.' });
    expect(recorder.requests[1]?.tools).toEqual([]);
    expect(listTexts(recorder.requests[1]).at(-1)).toContain(
      'Write a summary of this conversation',
    );
    expect(listTexts(recorder.requests[2])).toEqual([expect.stringMatching(SUMMARY)]);
    expect(named(fixture, 'PreCompact')).toMatchObject([{ trigger: 'auto', messageCount: 3 }]);
    expect(named(fixture, 'PostCompact')).toMatchObject([
      { trigger: 'auto', summary: 'We read the notes.' },
    ]);
    expect(fixture.runtimeEvents.filter(({ type }) => type.startsWith('compaction'))).toMatchObject(
      [
        { type: 'compaction-start', trigger: 'auto' },
        { type: 'compaction-end', tokensBefore: 190_010, summary: 'We read the notes.' },
      ],
    );
    expect(result?.usage.inputTokens).toBeGreaterThan(190_000);
  });

  it('is compacted with the instructions of PreCompact hooks', async () => {
    const { recorder } = await play(
      [full(), summary, { text: 'Done.' }],
      on('PreCompact', { instructions: 'keep the poem', context: 'and the rhyme' }),
    );
    expect(listTexts(recorder.requests[1]).at(-1)).toMatch(
      /Additional Instructions:\nkeep the poem\n\nand the rhyme$/,
    );
  });

  it('goes on as it is when a hook of PreCompact refuses, with a warning', async () => {
    const { recorder, result, fixture } = await play(
      [full(), { text: 'Done.' }],
      on('PreCompact', { effect: 'deny', reason: 'not now' }),
    );
    expect(result?.text).toBe('Done.');
    expect(listTexts(recorder.requests[1])[0]).toBe('user: read the notes');
    expect(notices(fixture)).toEqual([
      expect.stringMatching(/^Compaction blocked by PreCompact hook: .*not now/),
    ]);
    expect(named(fixture, 'PostCompact')).toEqual([]);
  });

  it('names the hook of PreCompact that refuses without a reason', async () => {
    const { fixture } = await play(
      [full(), { text: 'Done.' }],
      on('PreCompact', { effect: 'deny' }),
    );
    expect(notices(fixture)).toEqual([
      'Compaction blocked by PreCompact hook: [inline:PreCompact]: Blocked by inline:PreCompact, which gave no reason',
    ]);
  });

  it('goes on as it is when the model gives no summary, with a warning', async () => {
    const failing: ScriptTurn = { failure: { class: 'billing_error', message: 'no money' } };
    const { recorder, result, fixture } = await play([full(), failing, { text: 'Done.' }]);
    expect(result?.text).toBe('Done.');
    expect(listTexts(recorder.requests[2])[0]).toBe('user: read the notes');
    expect(notices(fixture)).toEqual(['no money']);
    expect(named(fixture, 'PostCompact')).toEqual([]);
    expect(fixture.runtimeEvents.filter(({ type }) => type === 'compaction-end')).toMatchObject([
      { summary: null },
    ]);
  });

  it('that is aborted while it is compacted is just aborted', async () => {
    const fixture = createAgentFixture();
    fixture.write('notes.txt', 'hello\n');
    const { model } = createModelRecorder([full(), summary, { text: 'Done.' }]);
    let askCount = 0;
    const host = await fixture.open({
      model: {
        ...model,
        stream(request, signal) {
          askCount += 1;
          const id = fixture.fired[0]?.sessionId ?? '';
          if (askCount === 2) void host.abort(id, 'no patience');
          return model.stream(request, signal);
        },
      },
    });
    const { result } = await host.start({ prompt: 'read the notes' });
    expect(result).toMatchObject({ status: 'aborted', reason: 'no patience' });
    expect(notices(fixture)).toEqual([]);
    expect(named(fixture, 'RunEnd')).toHaveLength(1);
  });

  it('includes the context that hooks of SessionStart add for it', async () => {
    const { recorder } = await play(
      [full(), summary, { text: 'Done.' }],
      on('SessionStart', ({ source }) =>
        source === 'compact' ? { context: 'remember the milk' } : undefined,
      ),
    );
    expect(listTexts(recorder.requests[2])).toEqual([
      expect.stringMatching(/We read the notes[\s\S]*remember the milk/),
    ]);
  });

  it('has only the summary and what came after it when it is resumed', async () => {
    const { host, fixture, sessionId } = await play([full(), summary, { text: 'Done.' }]);
    await host.dispose();
    const recorder = createModelRecorder([{ text: 'Yes.' }]);
    const second = await fixture.open({ model: recorder.model });
    const { result } = await second.start({ prompt: 'still there?', resume: sessionId });
    expect(result?.text).toBe('Yes.');
    expect(listTexts(recorder.requests[0])).toEqual([
      expect.stringMatching(SUMMARY),
      'assistant: Done.',
      'user: still there?',
    ]);
  });

  it('is compacted first when it is resumed full', async () => {
    const { host, fixture, sessionId } = await play([{ text: 'Done.', usage: FULL }]);
    await host.dispose();
    const recorder = createModelRecorder([summary, { text: 'Yes.' }]);
    const second = await fixture.open({ model: recorder.model });
    const { result } = await second.start({ prompt: 'still there?', resume: sessionId });
    expect(result?.text).toBe('Yes.');
    expect(listTexts(recorder.requests[1])).toEqual([expect.stringMatching(SUMMARY)]);
  });
});

describe('a conversation that the service finds too long', () => {
  it('is compacted and sent again', async () => {
    const readCall = calls(['Read', { file_path: 'notes.txt' }]);
    const { result, recorder, fixture } = await play([
      readCall,
      tooLong,
      summary,
      { text: 'Done.' },
    ]);
    expect(result).toMatchObject({ ending: 'done', text: 'Done.' });
    expect(listTexts(recorder.requests[3])).toEqual([expect.stringMatching(SUMMARY)]);
    expect(named(fixture, 'PreCompact')).toHaveLength(1);
  });

  it('is compacted from its later half when even that is too long', async () => {
    const readCall = calls(['Read', { file_path: 'notes.txt' }]);
    const { result, recorder } = await play([
      readCall,
      tooLong,
      tooLong,
      summary,
      { text: 'Done.' },
    ]);
    expect(result).toMatchObject({ ending: 'done', text: 'Done.' });
    expect(recorder.requests[3]?.messages.length).toBeLessThan(
      recorder.requests[2]?.messages.length ?? 0,
    );
  });

  it('is compacted only once: the next time the run fails with the error of the service', async () => {
    const readCall = calls(['Read', { file_path: 'notes.txt' }]);
    const { result, fixture } = await play(
      [readCall, tooLong, summary, tooLong, summary, tooLong, summary],
      on('SessionStart', { context: 'more words' }),
    );
    expect(result).toMatchObject({
      status: 'failed',
      ending: 'model_failed',
      reason: expect.stringContaining('prompt is too long'),
    });
    expect(named(fixture, 'PostCompact')).toHaveLength(1);
    expect(named(fixture, 'RunEnd')).toHaveLength(1);
  });

  it('fails with that error when hooks refuse the compaction', async () => {
    const readCall = calls(['Read', { file_path: 'notes.txt' }]);
    const { result, fixture } = await play(
      [readCall, tooLong],
      either(on('PreCompact', { effect: 'deny', reason: 'never' })),
    );
    expect(result).toMatchObject({ ending: 'model_failed' });
    expect(notices(fixture)).toEqual([expect.stringContaining('never')]);
    expect(fixture.fired.map(label).at(-1)).toBe('RunEnd failed');
  });
});
