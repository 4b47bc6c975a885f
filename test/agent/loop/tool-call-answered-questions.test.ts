import { describe, expect, it } from 'vitest';
import type { Person } from '../../../src/agent/session-context.ts';
import { createAgentFixture, type Reaction } from '../agent-fixture.ts';
import { answersIn, calls, on, createModelRecorder } from '../scripted-session.ts';

const QUESTIONS = ['Which colour?', 'Which sizes?'].map((question) => ({
  question,
  header: 'Look',
  options: [
    { label: 'red', description: '' },
    { label: 'blue', description: '' },
  ],
  multiSelect: false,
}));

const ANSWERS = { 'Which colour?': 'blue', 'Which sizes?': ['S', 'M'] };
const SAID = 'Which colour?\n→ blue\n\nWhich sizes?\n→ S, M';

async function ask(input: object, react: Reaction = () => undefined, user?: Person) {
  const fixture = createAgentFixture(react);
  const recorder = createModelRecorder([calls(['AskUserQuestion', input]), { text: 'Done.' }]);
  const host = await fixture.open({
    model: recorder.model,
    ...(user === undefined ? {} : { person: user }),
  });
  await host.start({ prompt: 'go' });
  return answersIn(recorder);
}

const answering = (answers: unknown) =>
  on('PreToolUse', ({ tool }) => ({
    effect: 'allow',
    input: { ...Object(tool.input), answers },
  }));

describe('a question that a hook answers', () => {
  it('is answered with the hook’s text, though no user is present', async () => {
    expect(await ask({ questions: QUESTIONS }, answering(ANSWERS))).toEqual([SAID]);
  });

  it('is put to no user', async () => {
    const user: Person = {
      approve: async () => ({ isAllowed: true }),
      answer: async () => expect.fail('the person was asked'),
    };
    expect(await ask({ questions: QUESTIONS }, answering(ANSWERS), user)).toEqual([SAID]);
  });

  it('is answered by a hook of PermissionRequest, too', async () => {
    const react = on('PermissionRequest', ({ tool }) => ({
      effect: 'allow',
      input: { ...Object(tool.input), answers: ANSWERS },
    }));
    expect(await ask({ questions: QUESTIONS }, react)).toEqual([SAID]);
  });

  it('is not asked when a hook of PermissionRequest refuses', async () => {
    const react = on('PermissionRequest', { effect: 'deny', reason: 'not now' });
    expect(await ask({ questions: QUESTIONS }, react)).toEqual(['not now']);
  });

  it('is asked when a hook of PermissionRequest only allows it', async () => {
    const user: Person = {
      approve: async () => expect.fail('nothing is to be approved'),
      answer: async () => ({ 'Which colour?': 'red', 'Which sizes?': 'L' }),
    };
    const react = on('PermissionRequest', { effect: 'allow' });
    const [said] = await ask({ questions: QUESTIONS }, react, user);
    expect(said).toContain('→ red');
  });

  it('is asked all the same when an answer is missing', async () => {
    const [said] = await ask({ questions: QUESTIONS }, answering({ 'Which colour?': 'blue' }));
    expect(said).toMatch(/^Nobody is here to answer/);
  });
});

it('a model does not answer its own questions', async () => {
  const [said] = await ask({ questions: QUESTIONS, answers: ANSWERS });
  expect(said).toMatch(/^Nobody is here to answer/);
});
