import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ModelRequest } from '../../src/agent/models/model.ts';
import type { ScriptTurn } from '../../src/agent/models/scripted.ts';
import type { Decision } from '../../src/hooks/decision.ts';
import { EVENTS } from '../../src/hooks/events.ts';
import type { HookEvent } from '../../src/hooks/facts.ts';
import type { Answer } from '../../src/hooks/handler.ts';
import type { Host } from '../../src/host/create-host.ts';
import { getToolCalls } from '../../src/sessions/messages.ts';
import { createAgentFixture, type AgentFixture } from './agent-fixture.ts';
import { named, resultsIn, createModelRecorder } from './scripted-session.ts';

const call = fc.constantFrom(
  { name: 'Read', input: { file_path: 'notes.txt' } },
  { name: 'Read', input: { file_path: 'missing.txt' } },
  { name: 'Read', input: '{"file_path": ' },
  { name: 'read_files', input: { files: [{ path: 'notes.txt' }, { path: 'missing.txt' }] } },
  { name: 'Write', input: { file_path: 'x.txt', content: 'x' } },
  { name: 'Bash', input: { command: 'cd sub' } },
  { name: 'run_commands', input: { commands: ['exit 3', 'echo two'] } },
  { name: 'Agent', input: { description: 'help', prompt: 'help me' } },
  { name: 'Agent', input: { description: 'help', prompt: 'help me', subagent_type: 'nobody' } },
  { name: 'Nothing', input: {} },
);
const turn: fc.Arbitrary<ScriptTurn> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.array(call, { minLength: 1, maxLength: 4 }).map((tools) => ({ tools })),
  },
  { weight: 2, arbitrary: fc.constant({ text: 'A word.' }) },
  { weight: 1, arbitrary: fc.constant({ text: 'Full.', usage: { inputTokens: 199_000 } }) },
  { weight: 1, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constant({ failure: { class: 'billing_error' } } as const) },
);
const decisions: readonly Decision[] = [
  { effect: 'deny', reason: 'no' },
  { effect: 'allow' },
  { effect: 'ask', reason: 'sure?' },
  { effect: 'defer', reason: 'later' },
  { stop: { reason: 'stop', pending: 'skip' } },
  { stop: { reason: 'stop', pending: 'run' } },
  { context: 'by the way' },
  { input: { file_path: 'notes.txt' } },
  { input: 7 },
  { output: { odd: true } },
  { messages: [{ role: 'assistant', content: 'mine' }] },
  { messages: ['none'] },
  { prompt: 'another prompt', title: 'A title' },
  { initialMessage: 'before' },
];
const deed = fc.oneof(
  { weight: 12, arbitrary: fc.constant('nothing' as const) },
  { weight: 6, arbitrary: fc.constantFrom(...decisions) },
  { weight: 1, arbitrary: fc.constantFrom('abort' as const, 'steer' as const, 'throw' as const) },
);
type Deed = Decision | 'nothing' | 'abort' | 'steer' | 'throw';

/** Hooks that do these things in turn, whatever the event. */
function unruly(deeds: readonly Deed[], host: () => Host | null) {
  const remainingDeeds = [...deeds];
  return ({ name, sessionId }: HookEvent): Answer | undefined => {
    const isHeard = EVENTS[name].refusal !== null || ['SessionStart', 'RunEnd'].includes(name);
    const next = isHeard ? (remainingDeeds.shift() ?? 'nothing') : 'nothing';
    if (typeof next === 'object') return { decision: next };
    if (next === 'throw') throw new Error('a hook broke');
    // While the host is still being opened there is nothing to abort.
    if (next === 'abort') void host()?.abort(sessionId, 'aborted by a hook').catch(ignore);
    if (next === 'steer') host()?.steer(sessionId, 'and this');
    return undefined;
  };
}

function ignore(): void {}

function expectSafe({ messages }: ModelRequest): void {
  expect(messages.map(({ role }) => role)).toEqual(
    messages.map((_, index) => (index % 2 === 0 ? 'user' : 'assistant')),
  );
  expect(messages.at(-1)?.role).toBe('user');
  messages.forEach((message, index) => {
    const callIds = getToolCalls(message).map(({ id }) => id);
    const inputs = resultsIn(messages.slice(index + 1, index + 2)).map((each) => each.tool_use_id);
    if (message.role === 'assistant') expect(inputs.toSorted()).toEqual(callIds.toSorted());
  });
}

/** Every run that began has ended once; an abort before it began fires RunEnd, too. */
function expectOneEndEach(fixture: AgentFixture): void {
  const startCount = named(fixture, 'RunStart').length;
  const runEnds = named(fixture, 'RunEnd');
  const abortedBefore = fixture.runtimeEvents.filter(
    (news) =>
      news.type === 'run-end' && news.result.status === 'aborted' && news.result.iterations === 0,
  ).length;
  expect(runEnds.length).toBeGreaterThanOrEqual(startCount);
  expect(runEnds.length).toBeLessThanOrEqual(startCount + abortedBefore);
  const starts = fixture.runtimeEvents.filter(({ type }) => type === 'run-start').length;
  expect(starts).toBe(startCount);
}

it('whatever model and hooks do, a run ends once, with a result, and the session can go on', async () => {
  const property = fc.asyncProperty(
    fc.array(turn, { maxLength: 6 }),
    fc.array(deed, { maxLength: 40 }),
    async (turns, deeds) => {
      let host: Host | null = null;
      const fixture = createAgentFixture(unruly(deeds, () => host));
      fixture.write('notes.txt', 'hello\n');
      fixture.write('sub/keep', '');
      const filler = Array.from({ length: 60 }, (): ScriptTurn => ({ text: 'Enough.' }));
      const recorder = createModelRecorder([...turns, ...filler]);
      const options = {
        model: recorder.model,
        permissionMode: 'acceptEdits',
        maxTurns: 8,
      } as const;
      host = await fixture.open({ ...options, allow: ['Bash'] });
      const { result, sessionId } = await host.start({ prompt: 'go' });
      expect(result).toMatchObject({ sessionId, status: expect.any(String) });
      expect(result?.reason ?? '').not.toContain('this is a bug');
      await host.dispose();
      expectOneEndEach(fixture);
      expect(named(fixture, 'SessionEnd')).toHaveLength(1);
      const quiet = createAgentFixture();
      const again = await quiet.open({
        ...options,
        cwd: fixture.workspace,
        roots: [fixture.workspace],
        surroundings: host.surroundings,
        allow: ['Bash'],
      });
      const resumed = await again.start({ prompt: 'and now?', resume: sessionId });
      expect(resumed.result?.status).not.toBe('aborted');
      await again.dispose();
      recorder.requests.forEach(expectSafe);
    },
  );
  await fc.assert(property, { numRuns: 60 });
});
