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
  const stage = createAgentFixture(react);
  stage.write('notes.txt', 'hello\n');
  const spoken = createModelRecorder(turns);
  const host = await stage.open({ model: spoken.model });
  const { result, sessionId } = await host.start({ prompt: 'read the notes' });
  return { stage, spoken, result, sessionId, host };
}

describe('a conversation that fills the model’s context', () => {
  it('is compacted before the next request, and goes on with the summary', async () => {
    const { spoken, result, stage } = await play([full(), summary, { text: 'Done.' }]);
    expect(result).toMatchObject({ ending: 'done', text: 'Done.' });
    expect(spoken.requests[1]?.tools).toEqual([]);
    expect(listTexts(spoken.requests[1]).at(-1)).toContain('Write a summary of this conversation');
    expect(listTexts(spoken.requests[2])).toEqual([expect.stringMatching(SUMMARY)]);
    expect(named(stage, 'PreCompact')).toMatchObject([{ trigger: 'auto', messageCount: 3 }]);
    expect(named(stage, 'PostCompact')).toMatchObject([
      { trigger: 'auto', summary: 'We read the notes.' },
    ]);
    expect(stage.runtimeEvents.filter(({ type }) => type.startsWith('compaction'))).toMatchObject([
      { type: 'compaction-start', trigger: 'auto' },
      { type: 'compaction-end', tokensBefore: 190_010, summary: 'We read the notes.' },
    ]);
    expect(result?.usage.inputTokens).toBeGreaterThan(190_000);
  });

  it('is compacted with the instructions of PreCompact hooks', async () => {
    const { spoken } = await play(
      [full(), summary, { text: 'Done.' }],
      on('PreCompact', { instructions: 'keep the poem', context: 'and the rhyme' }),
    );
    expect(listTexts(spoken.requests[1]).at(-1)).toMatch(
      /Additional Instructions:\nkeep the poem\n\nand the rhyme$/,
    );
  });

  it('goes on as it is when a hook of PreCompact refuses, with a warning', async () => {
    const { spoken, result, stage } = await play(
      [full(), { text: 'Done.' }],
      on('PreCompact', { effect: 'deny', reason: 'not now' }),
    );
    expect(result?.text).toBe('Done.');
    expect(listTexts(spoken.requests[1])[0]).toBe('user: read the notes');
    expect(notices(stage)).toEqual([
      expect.stringMatching(/^Compaction blocked by PreCompact hook: .*not now/),
    ]);
    expect(named(stage, 'PostCompact')).toEqual([]);
  });

  it('goes on as it is when the model gives no summary, with a warning', async () => {
    const failing: ScriptTurn = { failure: { class: 'billing_error', message: 'no money' } };
    const { spoken, result, stage } = await play([full(), failing, { text: 'Done.' }]);
    expect(result?.text).toBe('Done.');
    expect(listTexts(spoken.requests[2])[0]).toBe('user: read the notes');
    expect(notices(stage)).toEqual(['no money']);
    expect(named(stage, 'PostCompact')).toEqual([]);
    expect(stage.runtimeEvents.filter(({ type }) => type === 'compaction-end')).toMatchObject([
      { summary: null },
    ]);
  });

  it('that is aborted while it is compacted is just aborted', async () => {
    const stage = createAgentFixture();
    stage.write('notes.txt', 'hello\n');
    const { model } = createModelRecorder([full(), summary, { text: 'Done.' }]);
    let asked = 0;
    const host = await stage.open({
      model: {
        ...model,
        stream(request, signal) {
          asked += 1;
          const id = stage.fired[0]?.sessionId ?? '';
          if (asked === 2) void host.abort(id, 'no patience');
          return model.stream(request, signal);
        },
      },
    });
    const { result } = await host.start({ prompt: 'read the notes' });
    expect(result).toMatchObject({ status: 'aborted', reason: 'no patience' });
    expect(notices(stage)).toEqual([]);
    expect(named(stage, 'RunEnd')).toHaveLength(1);
  });

  it('includes the context that hooks of SessionStart add for it', async () => {
    const { spoken } = await play(
      [full(), summary, { text: 'Done.' }],
      on('SessionStart', ({ source }) =>
        source === 'compact' ? { context: 'remember the milk' } : undefined,
      ),
    );
    expect(listTexts(spoken.requests[2])).toEqual([
      expect.stringMatching(/We read the notes[\s\S]*remember the milk/),
    ]);
  });

  it('has only the summary and what came after it when it is resumed', async () => {
    const { host, stage, sessionId } = await play([full(), summary, { text: 'Done.' }]);
    await host.dispose();
    const spoken = createModelRecorder([{ text: 'Yes.' }]);
    const second = await stage.open({ model: spoken.model });
    const { result } = await second.start({ prompt: 'still there?', resume: sessionId });
    expect(result?.text).toBe('Yes.');
    expect(listTexts(spoken.requests[0])).toEqual([
      expect.stringMatching(SUMMARY),
      'assistant: Done.',
      'user: still there?',
    ]);
  });

  it('is compacted first when it is resumed full', async () => {
    const { host, stage, sessionId } = await play([{ text: 'Done.', usage: FULL }]);
    await host.dispose();
    const spoken = createModelRecorder([summary, { text: 'Yes.' }]);
    const second = await stage.open({ model: spoken.model });
    const { result } = await second.start({ prompt: 'still there?', resume: sessionId });
    expect(result?.text).toBe('Yes.');
    expect(listTexts(spoken.requests[1])).toEqual([expect.stringMatching(SUMMARY)]);
  });
});

describe('a conversation that the service finds too long', () => {
  it('is compacted and sent again', async () => {
    const read = calls(['Read', { file_path: 'notes.txt' }]);
    const { result, spoken, stage } = await play([read, tooLong, summary, { text: 'Done.' }]);
    expect(result).toMatchObject({ ending: 'done', text: 'Done.' });
    expect(listTexts(spoken.requests[3])).toEqual([expect.stringMatching(SUMMARY)]);
    expect(named(stage, 'PreCompact')).toHaveLength(1);
  });

  it('is compacted from its later half when even that is too long', async () => {
    const read = calls(['Read', { file_path: 'notes.txt' }]);
    const { result, spoken } = await play([read, tooLong, tooLong, summary, { text: 'Done.' }]);
    expect(result).toMatchObject({ ending: 'done', text: 'Done.' });
    expect(spoken.requests[3]?.messages.length).toBeLessThan(
      spoken.requests[2]?.messages.length ?? 0,
    );
  });

  it('is compacted only once: the next time the run fails with the error of the service', async () => {
    const read = calls(['Read', { file_path: 'notes.txt' }]);
    const { result, stage } = await play(
      [read, tooLong, summary, tooLong, summary, tooLong, summary],
      on('SessionStart', { context: 'more words' }),
    );
    expect(result).toMatchObject({
      status: 'failed',
      ending: 'model_failed',
      reason: expect.stringContaining('prompt is too long'),
    });
    expect(named(stage, 'PostCompact')).toHaveLength(1);
    expect(named(stage, 'RunEnd')).toHaveLength(1);
  });

  it('fails with that error when hooks refuse the compaction', async () => {
    const read = calls(['Read', { file_path: 'notes.txt' }]);
    const { result, stage } = await play(
      [read, tooLong],
      either(on('PreCompact', { effect: 'deny', reason: 'never' })),
    );
    expect(result).toMatchObject({ ending: 'model_failed' });
    expect(notices(stage)).toEqual([expect.stringContaining('never')]);
    expect(stage.fired.map(label).at(-1)).toBe('RunEnd failed');
  });
});
