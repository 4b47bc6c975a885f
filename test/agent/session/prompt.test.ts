import { describe, expect, it } from 'vitest';
import type { HostOptions } from '../../../src/host/create-host.ts';
import { createSessionStore } from '../../../src/sessions/jsonl-session-store.ts';
import { systemClock } from '../../../src/base/clock.ts';
import path from 'node:path';
import { createAgentFixture, label, type Reaction } from '../agent-fixture.ts';
import {
  either,
  named,
  on,
  slowHook,
  createModelRecorder,
  listTexts,
} from '../scripted-session.ts';

async function play(
  prompts: readonly string[],
  react: Reaction = () => undefined,
  options: HostOptions = {},
) {
  const fixture = createAgentFixture(react);
  fixture.write('.claude/commands/greet.md', 'Say hello to $ARGUMENTS.\n');
  const recorder = createModelRecorder([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]);
  const host = await fixture.open({ model: recorder.model, ...options });
  const [first = '', ...others] = prompts;
  const firstRun = await host.start({ prompt: first });
  const results = [firstRun.result];
  for (const prompt of others) results.push(await host.send(firstRun.sessionId, prompt));
  const listLastTexts = () => recorder.requests.map((request) => listTexts(request).at(-1));
  return { fixture, recorder, results, said: listLastTexts, host, sessionId: firstRun.sessionId };
}

describe('TaskStart', () => {
  it('that a hook refuses leaves the task unbegun: the next prompt begins it', async () => {
    const { fixture, results, said } = await play(
      ['bad', 'good'],
      on('TaskStart', ({ prompt }) =>
        prompt === 'bad' ? { effect: 'deny', reason: 'not this', context: 'hm' } : undefined,
      ),
    );
    expect(results).toMatchObject([
      { status: 'failed', ending: 'refused', reason: 'not this' },
      { ending: 'done', text: 'One.' },
    ]);
    expect(named(fixture, 'TaskStart').map(({ prompt }) => prompt)).toEqual(['bad', 'good']);
    expect(named(fixture, 'UserPromptSubmit').map(({ prompt }) => prompt)).toEqual(['good']);
    expect(said()).toEqual(['user: good']);
  });

  it('that a hook stops leaves the task unbegun, too', async () => {
    const { fixture, results } = await play(
      ['bad', 'good'],
      on('TaskStart', ({ prompt }) =>
        prompt === 'bad' ? { stop: { reason: 'stop it', pending: 'skip' } } : undefined,
      ),
    );
    expect(results.map((result) => result?.ending)).toEqual(['refused', 'done']);
    expect(named(fixture, 'TaskStart')).toHaveLength(2);
  });

  it('fires once, however many prompts follow', async () => {
    const { fixture, results } = await play(['one', 'two', 'three']);
    expect(results.map((result) => result?.text)).toEqual(['One.', 'Two.', 'Three.']);
    expect(named(fixture, 'TaskStart')).toHaveLength(1);
    expect(named(fixture, 'UserPromptSubmit')).toHaveLength(3);
    expect(named(fixture, 'RunEnd')).toHaveLength(3);
  });
});

describe('UserPromptSubmit', () => {
  it('that refuses a prompt keeps it from the model, and no run takes place', async () => {
    const { fixture, results, said } = await play(
      ['the password is 1234', 'hello'],
      on('UserPromptSubmit', ({ prompt }) =>
        prompt.includes('password') ? { effect: 'deny', reason: 'no passwords' } : undefined,
      ),
    );
    expect(results[0]).toMatchObject({
      status: 'failed',
      ending: 'refused',
      reason:
        'UserPromptSubmit operation blocked by hook:\nno passwords\n\nOriginal prompt: the password is 1234',
    });
    expect(said()).toEqual(['user: hello']);
    expect(named(fixture, 'RunStart')).toHaveLength(1);
    expect(named(fixture, 'RunEnd')).toHaveLength(1);
  });

  it('may erase the refused prompt', async () => {
    const { results } = await play(
      ['the password is 1234'],
      on('UserPromptSubmit', { effect: 'deny', reason: 'no passwords', suppressPrompt: true }),
    );
    expect(results[0]?.reason).toBe('UserPromptSubmit operation blocked by hook:\nno passwords');
  });

  it('that stops keeps the prompt in the conversation and ends there', async () => {
    let isFirst = true;
    const { results, recorder } = await play(
      ['one', 'two'],
      on('UserPromptSubmit', () => {
        const stop = { reason: 'not before noon', pending: 'skip' } as const;
        const decision = isFirst ? { stop } : undefined;
        isFirst = false;
        return decision;
      }),
    );
    expect(results[0]).toMatchObject({
      ending: 'stopped_by_hook',
      reason: 'Operation stopped by hook: not before noon',
    });
    expect(listTexts(recorder.requests[0])).toEqual([
      'user: oneOperation stopped by hook: not before noontwo',
    ]);
  });

  it('may rewrite the prompt, give context and name the session', async () => {
    const { said, fixture, sessionId, host } = await play(
      ['helo'],
      on('UserPromptSubmit', { prompt: 'hello', context: 'it is noon', title: 'A greeting' }),
    );
    await host.dispose();
    expect(said()).toEqual([expect.stringMatching(/^user: .*it is noon.*hello$/s)]);
    const stateDirectory = path.join(fixture.home, '.hookline');
    const store = createSessionStore({ stateDirectory, clock: systemClock, version: '0' });
    expect(store.list()).toMatchObject([{ id: sessionId, title: 'A greeting' }]);
  });
});

describe('an initial message of SessionStart', () => {
  it('runs before the user’s own prompt, in a run of its own', async () => {
    const { fixture, said, results } = await play(
      ['mine'],
      on('SessionStart', { initialMessage: 'theirs' }),
    );
    expect(said()).toEqual(['user: theirs', 'user: mine']);
    expect(results[0]?.text).toBe('Two.');
    expect(named(fixture, 'TaskStart').map(({ prompt }) => prompt)).toEqual(['theirs']);
    expect(named(fixture, 'RunEnd')).toHaveLength(2);
  });

  it('that is aborted ends with a result, and the prompt is not run', async () => {
    const fixture = createAgentFixture(on('SessionStart', { initialMessage: 'theirs' }));
    const recorder = createModelRecorder([{ text: 'One.' }]);
    const host = await fixture.open({
      model: recorder.model,
      sources: [
        slowHook('UserPromptSubmit', async ({ sessionId }) => {
          await host.abort(sessionId, 'no');
          return undefined;
        }),
      ],
    });
    const { result } = await host.start({ prompt: 'mine' });
    expect(result).toMatchObject({ status: 'aborted', reason: 'no' });
    expect(named(fixture, 'RunEnd')).toMatchObject([{ status: 'aborted' }]);
    expect(recorder.requests).toEqual([]);
  });
});

describe('a slash command', () => {
  it('expands to its text, and hooks receive the expansion', async () => {
    const { said, fixture } = await play(
      ['/greet the world'],
      on('UserPromptExpansion', { context: 'be kind' }),
    );
    expect(said()).toEqual([expect.stringMatching(/be kind[\s\S]*Say hello to the world\.$/)]);
    expect(named(fixture, 'UserPromptExpansion')).toMatchObject([
      { command: 'greet', commandArguments: 'the world', prompt: '/greet the world' },
    ]);
  });

  it('that a hook refuses to expand is not run', async () => {
    const { results, recorder, fixture } = await play(
      ['/greet me'],
      on('UserPromptExpansion', { effect: 'deny', reason: 'no greetings' }),
    );
    expect(results[0]).toMatchObject({
      ending: 'refused',
      reason:
        'UserPromptExpansion operation blocked by hook:\nno greetings\n\nOriginal prompt: /greet me',
    });
    expect(recorder.requests).toEqual([]);
    expect(named(fixture, 'RunStart')).toEqual([]);
  });

  it('that is unknown is refused with a suggestion', async () => {
    const { results, recorder } = await play(['/gret me']);
    expect(results[0]).toMatchObject({
      ending: 'refused',
      reason: 'Unknown command /gret. Did you mean /greet?',
    });
    expect(recorder.requests).toEqual([]);
  });
});

describe('an abort before anything ran', () => {
  it.each(['TaskStart', 'UserPromptSubmit'] as const)(
    'during a hook of %s fires RunEnd once, and the next prompt begins the task',
    async (name) => {
      let isFirst = true;
      const fixture = createAgentFixture();
      const recorder = createModelRecorder([{ text: 'One.' }]);
      const host = await fixture.open({
        model: recorder.model,
        sources: [
          slowHook(name, async ({ sessionId }, signal) => {
            if (!isFirst) return undefined;
            isFirst = false;
            await host.abort(sessionId, 'never mind');
            signal.throwIfAborted();
            return undefined;
          }),
        ],
      });
      const { result, sessionId } = await host.start({ prompt: 'go' });
      expect(result).toMatchObject({
        status: 'aborted',
        ending: 'aborted',
        reason: 'never mind',
        iterations: 0,
      });
      expect(named(fixture, 'RunEnd')).toMatchObject([{ status: 'aborted', reason: 'never mind' }]);
      expect(named(fixture, 'RunStart')).toEqual([]);
      expect((await host.send(sessionId, 'after all')).text).toBe('One.');
      expect(listTexts(recorder.requests[0])).toEqual(['user: after all']);
    },
  );

  it('of TaskStart lets TaskStart fire again', async () => {
    let isFirst = true;
    const fixture = createAgentFixture();
    const recorder = createModelRecorder([{ text: 'One.' }]);
    const host = await fixture.open({
      model: recorder.model,
      sources: [
        slowHook('TaskStart', async ({ sessionId }) => {
          if (isFirst) await host.abort(sessionId, 'no');
          isFirst = false;
          return undefined;
        }),
      ],
    });
    const { sessionId } = await host.start({ prompt: 'go' });
    await host.send(sessionId, 'again');
    expect(fixture.fired.map(label).filter((each) => each === 'TaskStart')).toHaveLength(2);
  });
});

describe('Setup', () => {
  it('fires before the session starts, when it is asked for, and may add context for the model', async () => {
    const { fixture, said } = await play(
      ['go'],
      either(on('Setup', { context: 'all is installed' })),
      { setup: 'init' },
    );
    expect(fixture.fired.map(label).slice(0, 2)).toEqual(['Setup', 'SessionStart startup']);
    expect(said()).toEqual([expect.stringContaining('all is installed')]);
  });
});
