import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ScriptTurn } from '../../src/agent/models/scripted.ts';
import { createAgentFixture } from './agent-fixture.ts';
import {
  answersIn,
  calls,
  named,
  resultsIn,
  createModelRecorder,
  listTexts,
} from './scripted-session.ts';

interface Entry {
  readonly type: 'prompt' | 'agent';
  readonly prompt: string;
  readonly continueOnBlock?: boolean;
}

async function play(event: string, entry: Entry, turns: readonly ScriptTurn[]) {
  const fixture = createAgentFixture();
  fixture.write('notes.txt', 'hello\n');
  fixture.write(
    '~/.claude/settings.json',
    JSON.stringify({ hooks: { [event]: [{ hooks: [entry] }] } }),
  );
  const recorder = createModelRecorder(turns);
  const host = await fixture.open({ model: recorder.model, permissionMode: 'bypassPermissions' });
  const { result } = await host.start({ prompt: 'go' });
  return { fixture, recorder, result, host };
}

const write = calls(['Write', { file_path: 'x', content: 'x' }]);
const question = { type: 'prompt', prompt: 'Is it fine? $ARGUMENTS' } as const;
const no: ScriptTurn = { text: '{"ok": false, "reason": "the model says no"}' };
const STRUCTURED = calls(['StructuredOutput', { ok: true }]);
const yes: ScriptTurn = { text: '{"ok": true}' };

describe('a prompt hook', () => {
  it('asks the session’s model before a call, and {ok: false} denies it and ends the run', async () => {
    const { recorder, fixture, result } = await play('PreToolUse', question, [write, no]);
    expect(result).toMatchObject({
      ending: 'stopped_by_hook',
      reason: expect.stringContaining('the model says no'),
    });
    expect(existsSync(path.join(fixture.workspace, 'x'))).toBe(false);
    const [, asked] = recorder.requests;
    expect(asked).toMatchObject({
      tools: [],
      thinking: false,
      answerSchema: expect.objectContaining({ type: 'object' }),
    });
    expect(listTexts(asked)).toEqual([
      expect.stringMatching(/Is it fine\? \{[\s\S]*"hook_event_name":\s*"PreToolUse"/),
    ]);
  });

  it('with `continueOnBlock` denies only the call', async () => {
    const { recorder, fixture, result } = await play(
      'PreToolUse',
      { ...question, continueOnBlock: true },
      [write, no, { text: 'Done.' }],
    );
    expect(result).toMatchObject({ ending: 'done', text: 'Done.' });
    expect(existsSync(path.join(fixture.workspace, 'x'))).toBe(false);
    expect(answersIn(recorder)).toEqual([expect.stringContaining('the model says no')]);
  });

  it('lets the call run on {ok: true}', async () => {
    const { fixture } = await play('PreToolUse', question, [write, yes, { text: 'Done.' }]);
    expect(existsSync(path.join(fixture.workspace, 'x'))).toBe(true);
  });

  it('makes the agent go on when it refuses the end of the run', async () => {
    const { recorder, result, fixture } = await play('Stop', question, [
      { text: 'One.' },
      no,
      { text: 'Two.' },
      yes,
    ]);
    expect(result).toMatchObject({ ending: 'done', text: 'Two.' });
    expect(listTexts(recorder.requests[2]).at(-1)).toContain('the model says no');
    expect(named(fixture, 'Stop')).toHaveLength(2);
  });

  it('whose question the model fails to answer fails, and the run goes on', async () => {
    const { result, fixture } = await play('PreToolUse', question, [
      write,
      { failure: { class: 'billing_error', message: 'no money' } },
      { text: 'Done.' },
    ]);
    expect(result?.ending).toBe('done');
    const failures = fixture.runtimeEvents.flatMap((news) =>
      news.type === 'hook' ? news.verdict.outcomes.flatMap(({ failure }) => failure ?? []) : [],
    );
    expect(failures).toMatchObject([{ message: expect.stringContaining('no money') }]);
  });
});

describe('an agent hook', () => {
  const entry = { type: 'agent', prompt: 'Look whether it is fine. $ARGUMENTS' } as const;

  it('looks around with tools, without firing hooks, and answers', async () => {
    const { recorder, fixture, result } = await play('Stop', entry, [
      { text: 'One.' },
      calls(['Read', { file_path: 'notes.txt' }]),
      calls(['StructuredOutput', { ok: false, reason: 'the notes say hello' }]),
      { text: 'Two.' },
      calls(['StructuredOutput', { ok: true }]),
    ]);
    expect(result).toMatchObject({ ending: 'done', text: 'Two.' });
    expect(JSON.stringify(resultsIn(recorder.requests[2]?.messages ?? []))).toContain('hello');
    expect(listTexts(recorder.requests[3]).at(-1)).toContain('the notes say hello');
    expect(named(fixture, 'PreToolUse')).toEqual([]);
    expect(recorder.requests[1]?.tools.map(({ name }) => name)).toContain('StructuredOutput');
  });

  it('may read the session’s transcript, which lies outside the workspace', async () => {
    const fixture = createAgentFixture();
    fixture.write(
      '~/.claude/settings.json',
      JSON.stringify({ hooks: { Stop: [{ hooks: [entry] }] } }),
    );
    const { model, requests } = createModelRecorder([{ text: 'One.' }, { text: 'never used' }]);
    let askCount = 0;
    const host = await fixture.open({
      model: {
        ...model,
        async *stream(request, signal) {
          askCount += 1;
          if (askCount === 1) yield* model.stream(request, signal);
          else {
            requests.push(request);
            const file = fixture.fired[0]?.transcriptPath ?? '';
            const turn = askCount === 2 ? calls(['Read', { file_path: file }]) : STRUCTURED;
            yield* createModelRecorder([turn]).model.stream(request, signal);
          }
        },
      },
    });
    expect((await host.start({ prompt: 'a word of mine' })).result?.ending).toBe('done');
    expect(JSON.stringify(resultsIn(requests.at(-1)?.messages ?? []))).toContain('a word of mine');
  });

  it('may not change anything, whatever the mode of the session', async () => {
    const { recorder, fixture } = await play('Stop', entry, [
      { text: 'One.' },
      calls(['Write', { file_path: 'x', content: 'x' }], ['Bash', { command: 'touch y' }]),
      calls(['StructuredOutput', { ok: true }]),
    ]);
    expect(existsSync(path.join(fixture.workspace, 'x'))).toBe(false);
    expect(existsSync(path.join(fixture.workspace, 'y'))).toBe(false);
    expect(resultsIn(recorder.requests[2]?.messages ?? [])).toMatchObject([
      { is_error: true },
      { is_error: true },
    ]);
  });

  it('runs nothing, whatever rules allow the agent itself', async () => {
    const fixture = createAgentFixture();
    fixture.write(
      '~/.claude/settings.json',
      JSON.stringify({ hooks: { Stop: [{ hooks: [entry] }] } }),
    );
    const recorder = createModelRecorder([
      { text: 'One.' },
      calls(['Bash', { command: 'touch made' }]),
      calls(['StructuredOutput', { ok: true }]),
    ]);
    const host = await fixture.open({ model: recorder.model, allow: ['Bash'] });
    expect((await host.start({ prompt: 'go' })).result?.ending).toBe('done');
    expect(existsSync(path.join(fixture.workspace, 'made'))).toBe(false);
  });
});
