import { describe, expect, it } from 'vitest';
import type { Tool } from '../../../src/agent/tools/tool.ts';
import { createUserMessage } from '../../../src/sessions/messages.ts';
import { createAgentFixture } from '../../agent/agent-fixture.ts';
import { calls, createModelRecorder, listTexts } from '../../agent/scripted-session.ts';

const finish: Tool = {
  name: 'finish',
  description: 'ends the run',
  schema: { type: 'object' },
  kind: 'plan',
  prepare: () => ({
    input: {},
    run: async () => ({
      response: 'fine',
      text: 'fine',
      success: true,
      finalAnswer: 'All is done.',
    }),
  }),
};

describe('options of an agent', () => {
  it('can be the whole system prompt, evaluated for each request', async () => {
    const fixture = createAgentFixture();
    fixture.write('AGENTS.md', 'Be kind.\n');
    const recorder = createModelRecorder([{ text: 'One.' }, { text: 'Two.' }]);
    let buildCount = 0;
    const buildPrompt = (): string => `prompt ${(buildCount += 1)}`;
    const host = await fixture.open({
      model: recorder.model,
      systemPrompt: { build: buildPrompt },
    });
    const { sessionId } = await host.start({ prompt: 'one' });
    await host.send(sessionId, 'two');
    const [first, second] = recorder.requests.map(({ system }) => system);
    expect(first).toMatch(/^prompt 1\n\n# Instructions\n[\s\S]*Be kind\.\n<\/instructions>$/);
    expect(second).toMatch(/^prompt 2\n\n# Instructions\n/);
  });

  it('can be the list of tools and their order', async () => {
    const fixture = createAgentFixture();
    const recorder = createModelRecorder([{ text: 'One.' }]);
    const host = await fixture.open({
      model: recorder.model,
      tools: () => [finish],
      chooseTools: (all) => all.filter(({ name }) => /^(?:Read|finish)$/.test(name)).toReversed(),
    });
    await host.start({ prompt: 'one' });
    expect(recorder.requests[0]?.tools.map(({ name }) => name)).toEqual(['finish', 'Read']);
  });

  it('can be a function that changes each request last', async () => {
    const fixture = createAgentFixture();
    const recorder = createModelRecorder([{ text: 'One.' }]);
    const host = await fixture.open({
      model: recorder.model,
      shapeRequest: async (request) => ({
        ...request,
        messages: [createUserMessage('other words')],
      }),
    });
    const { sessionId } = await host.start({ prompt: 'one' });
    expect(listTexts(recorder.requests[0])).toEqual(['user: other words']);
    expect(host.session(sessionId).messages()[0]).toEqual(createUserMessage('one'));
  });

  it('can be the id of a session, and its earlier messages', async () => {
    const fixture = createAgentFixture();
    const recorder = createModelRecorder([{ text: 'One.' }]);
    const host = await fixture.open({ model: recorder.model });
    const texts = [
      createUserMessage('I am Ada'),
      { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] } as const,
    ];
    const { sessionId, transcriptPath } = await host.start({
      id: 'mine',
      said: texts,
      prompt: 'one',
    });
    expect([sessionId, transcriptPath?.includes('/mine/')]).toEqual(['mine', true]);
    expect(listTexts(recorder.requests[0])).toEqual([
      'user: I am Ada',
      'assistant: Hello.',
      'user: one',
    ]);
  });
});

it('a tool that completes the run ends it, after all calls of its turn', async () => {
  const fixture = createAgentFixture();
  fixture.write('notes.txt', 'hello\n');
  const recorder = createModelRecorder([
    calls(['finish', {}], ['Read', { file_path: 'notes.txt' }]),
    { text: 'No.' },
  ]);
  const host = await fixture.open({ model: recorder.model, tools: () => [finish] });
  const { result } = await host.start({ prompt: 'one' });
  expect(result).toMatchObject({ ending: 'done', text: 'All is done.', iterations: 1 });
  expect(fixture.runtimeEvents.filter(({ type }) => type === 'tool-end')).toHaveLength(2);
  expect(fixture.fired.find(({ name }) => name === 'RunEnd')).toMatchObject({
    status: 'completed',
    ending: 'done',
    lastText: 'All is done.',
  });
});
