import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../src/hooks/decision.ts';
import { createAgentFixture, label, type AgentFixture } from '../agent-fixture.ts';
import {
  answersIn,
  calls,
  named,
  on,
  resultsIn,
  createModelRecorder,
  listTexts,
} from '../scripted-session.ts';

const write = (name: string) => ['Write', { file_path: name, content: name }] as const;

/** A fixture whose hooks decide about calls as the test sets them at the time. */
function createDeferringFixture(): { stage: AgentFixture; decide(decision: Decision): void } {
  let now: Decision = { effect: 'defer', reason: 'somebody must look at it first' };
  const fixture = createAgentFixture(on('PreToolUse', () => now));
  return { stage: fixture, decide: (decision) => void (now = decision) };
}

const exists = (fixture: AgentFixture, name: string): boolean =>
  existsSync(path.join(fixture.workspace, name));

describe('a call that a hook defers', () => {
  it('ends a run without a user, and is decided when the session is resumed', async () => {
    const { stage: fixture, decide } = createDeferringFixture();
    const recorder = createModelRecorder([calls(write('x')), { text: 'Done.' }]);
    const options = { model: recorder.model, permissionMode: 'acceptEdits' } as const;
    const first = await fixture.open(options);
    const { result, sessionId } = await first.start({ prompt: 'write' });
    await first.dispose();
    expect(result).toMatchObject({
      status: 'completed',
      ending: 'tool_deferred',
      deferred: { id: 'call_1', name: 'Write', input: { file_path: 'x', content: 'x' } },
    });
    expect(exists(fixture, 'x')).toBe(false);
    expect(fixture.fired.map(label).slice(-3)).toEqual([
      'PreToolUse Write',
      'RunEnd completed',
      'SessionEnd other',
    ]);
    fixture.fired.length = 0;
    decide({ effect: 'allow' });
    const second = await fixture.open(options);
    const again = await second.start({ resume: sessionId });
    expect(again.result).toMatchObject({ ending: 'done', text: 'Done.' });
    expect(exists(fixture, 'x')).toBe(true);
    expect(fixture.fired.map(label).filter((each) => !each.startsWith('Instr'))).toEqual([
      'SessionStart resume',
      'TaskResume',
      'RunStart',
      'PreToolUse Write',
      'PostToolUse Write',
      'PostToolBatch',
      'ModelRequest',
      'ModelResponse',
      'MessageDisplay',
      'Stop',
      'TaskComplete',
      'RunEnd completed',
    ]);
  });

  it('may be denied then; a prompt given with it comes after the result', async () => {
    const { stage: fixture, decide } = createDeferringFixture();
    const recorder = createModelRecorder([calls(write('x')), { text: 'Pity.' }]);
    const options = { model: recorder.model, permissionMode: 'acceptEdits' } as const;
    const first = await fixture.open(options);
    const { sessionId } = await first.start({ prompt: 'write' });
    await first.dispose();
    decide({ effect: 'deny', reason: 'I looked at it: no' });
    const second = await fixture.open(options);
    await second.start({ prompt: 'so?', resume: sessionId });
    expect(exists(fixture, 'x')).toBe(false);
    expect(answersIn(recorder)).toEqual(['I looked at it: no']);
    expect(listTexts(recorder.requests[1])).toEqual(['user: write', 'assistant: ', 'user: so?']);
  });

  it('is decided by a further prompt in the same session, too', async () => {
    const { stage: fixture, decide } = createDeferringFixture();
    const recorder = createModelRecorder([calls(write('x')), { text: 'Done.' }]);
    const host = await fixture.open({ model: recorder.model, permissionMode: 'acceptEdits' });
    const { sessionId } = await host.start({ prompt: 'write' });
    decide({ effect: 'allow' });
    const result = await host.send(sessionId, 'now do it');
    expect(result.ending).toBe('done');
    expect(exists(fixture, 'x')).toBe(true);
  });

  it('stays deferred when the prompt that came with it is refused', async () => {
    const { stage: fixture, decide } = createDeferringFixture();
    const recorder = createModelRecorder([calls(write('x')), { text: 'Done.' }]);
    const options = { model: recorder.model, permissionMode: 'acceptEdits' } as const;
    const first = await fixture.open(options);
    const { sessionId } = await first.start({ prompt: 'write' });
    await first.dispose();
    decide({ effect: 'allow' });
    const second = await fixture.open(options);
    const refused = await second.start({ prompt: '/no-such-command', resume: sessionId });
    expect(refused.result).toMatchObject({ ending: 'refused' });
    expect(exists(fixture, 'x')).toBe(false);
    expect((await second.send(sessionId, 'go on')).ending).toBe('done');
    expect(exists(fixture, 'x')).toBe(true);
  });

  it('is deferred again when the hook still wants so', async () => {
    const { stage: fixture } = createDeferringFixture();
    const recorder = createModelRecorder([calls(write('x')), { text: 'Done.' }]);
    const host = await fixture.open({ model: recorder.model, permissionMode: 'acceptEdits' });
    const { sessionId } = await host.start({ prompt: 'write' });
    await host.dispose();
    const second = await fixture.open({ model: recorder.model, permissionMode: 'acceptEdits' });
    const again = await second.start({ resume: sessionId });
    expect(again.result).toMatchObject({ ending: 'tool_deferred', deferred: { id: 'call_1' } });
    await second.dispose();
    const third = await fixture.open({ model: recorder.model, permissionMode: 'acceptEdits' });
    expect((await third.start({ resume: sessionId })).result?.ending).toBe('tool_deferred');
    expect(recorder.requests).toHaveLength(1);
  });

  it('becomes a question beside other calls', async () => {
    const { stage: fixture } = createDeferringFixture();
    const recorder = createModelRecorder([calls(write('x'), write('y')), { text: 'Done.' }]);
    const host = await fixture.open({ model: recorder.model, permissionMode: 'acceptEdits' });
    const { result } = await host.start({ prompt: 'write' });
    expect(result).toMatchObject({ ending: 'done', deferred: null });
    expect([exists(fixture, 'x'), exists(fixture, 'y')]).toEqual([false, false]);
    expect(resultsIn(recorder.requests[1]?.messages ?? []).map(({ content }) => content)).toEqual([
      expect.stringContaining('somebody must look at it first'),
      expect.stringContaining('somebody must look at it first'),
    ]);
  });

  it('becomes a question in a sub-agent, which cannot be resumed', async () => {
    const fixture = createAgentFixture(
      on('PreToolUse', ({ agent }) =>
        agent.parentId === null ? undefined : { effect: 'defer', reason: 'look first' },
      ),
    );
    const recorder = createModelRecorder([
      calls(['Agent', { description: 'write', prompt: 'write x' }]),
      calls(write('x')),
      { text: 'I may not.' },
      { text: 'Done.' },
    ]);
    const host = await fixture.open({ model: recorder.model, permissionMode: 'acceptEdits' });
    const { result } = await host.start({ prompt: 'delegate' });
    expect(result).toMatchObject({ ending: 'done', text: 'Done.' });
    expect(answersIn(recorder)).toEqual(['I may not.']);
    expect(exists(fixture, 'x')).toBe(false);
  });

  it('becomes a question where a user is present', async () => {
    const { stage: fixture } = createDeferringFixture();
    const recorder = createModelRecorder([calls(write('x')), { text: 'Done.' }]);
    const host = await fixture.open({
      model: recorder.model,
      permissionMode: 'acceptEdits',
      person: { approve: async () => ({ isAllowed: true }), answer: async () => null },
    });
    const { result } = await host.start({ prompt: 'write' });
    expect(result).toMatchObject({ ending: 'done', deferred: null });
    expect(exists(fixture, 'x')).toBe(true);
    expect(named(fixture, 'PermissionRequest')).toHaveLength(1);
  });
});
