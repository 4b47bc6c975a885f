import { describe, expect, it } from 'vitest';
import { createAgentFixture, type Reaction } from './agent-fixture.ts';
import { answersIn, calls, named, on, createModelRecorder } from './scripted-session.ts';

async function play(react: Reaction, ...turns: readonly ReturnType<typeof calls>[]) {
  const fixture = createAgentFixture(react);
  const recorder = createModelRecorder([...turns, { text: 'Done.' }]);
  const host = await fixture.open({ model: recorder.model });
  await host.start({ prompt: 'plan' });
  return { fixture, answers: answersIn(recorder) };
}

const create = calls(['TaskCreate', { subject: 'Write it', description: 'All of it' }]);
const complete = calls(['TaskUpdate', { taskId: '1', status: 'completed' }]);

describe('the task list', () => {
  it('fires a hook event for every item that is made and completed, once', async () => {
    const { fixture, answers } = await play(() => undefined, create, complete, complete);
    expect(named(fixture, 'TaskCreated')).toMatchObject([
      { itemId: '1', subject: 'Write it', description: 'All of it' },
    ]);
    expect(named(fixture, 'TaskCompleted')).toMatchObject([{ itemId: '1', subject: 'Write it' }]);
    expect(answers).toHaveLength(3);
  });

  it('is shared by all agents, and hook events name the agent that made or completed an item', async () => {
    const { fixture } = await play(
      () => undefined,
      create,
      calls([
        'Agent',
        { description: 'help', prompt: 'plan, too', subagent_type: 'general-purpose' },
      ]),
      calls(['TaskCreate', { subject: 'Help', description: '' }]),
      calls(['TaskUpdate', { taskId: '1', status: 'completed' }]),
    );
    const [started] = named(fixture, 'SubagentStart');
    const own = { agent: { id: named(fixture, 'SessionStart')[0]?.sessionId, parentId: null } };
    const helper = { agent: { ...started?.agent, type: 'general-purpose' } };
    expect(started?.agent.parentId).toBe(own.agent.id);
    expect(named(fixture, 'TaskCreated')).toMatchObject([
      { itemId: '1', ...own },
      { itemId: '2', ...helper },
    ]);
    expect(named(fixture, 'TaskCompleted')).toMatchObject([{ itemId: '1', ...helper }]);
  });

  it('does not take up an item that a hook refuses, and the model gets the reason', async () => {
    const { answers, fixture } = await play(
      on('TaskCreated', { effect: 'deny', reason: 'too vague' }),
      create,
      complete,
    );
    expect(answers).toEqual([expect.stringContaining('too vague'), 'There is no task #1.']);
    expect(named(fixture, 'TaskCompleted')).toEqual([]);
  });

  it('keeps an item open whose completion a hook refuses', async () => {
    let askCount = 0;
    const { answers, fixture } = await play(
      on('TaskCompleted', () => {
        askCount += 1;
        return askCount === 1 ? { effect: 'deny', reason: 'no tests' } : undefined;
      }),
      create,
      complete,
      complete,
    );
    expect(answers[1]).toContain('no tests');
    expect(named(fixture, 'TaskCompleted')).toHaveLength(2);
  });
});
