import { describe, expect, it } from 'vitest';
import type { ScriptTurn } from '../../../src/agent/models/scripted.ts';
import type { Decision } from '../../../src/hooks/decision.ts';
import { createAgentFixture } from '../agent-fixture.ts';
import { notices, on, createModelRecorder, listTexts } from '../scripted-session.ts';

async function play(decision: Decision, turns: readonly ScriptTurn[] = [{ text: 'Done.' }]) {
  const fixture = createAgentFixture(on('ModelRequest', decision));
  const recorder = createModelRecorder(turns);
  const host = await fixture.open({ model: recorder.model });
  const { result } = await host.start({ prompt: 'go' });
  return { fixture, recorder, result, request: recorder.requests[0] };
}

describe('a hook of ModelRequest', () => {
  it('may replace the messages, which are normalised again', async () => {
    const { request, result } = await play({
      messages: [
        { role: 'assistant', content: [{ type: 'text', text: 'I was here first.' }] },
        { role: 'user', content: 'so what' },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: 'orphan' }] },
      ],
    });
    expect(result?.ending).toBe('done');
    expect(listTexts(request)).toEqual([
      'user: (The conversation goes on.)',
      'assistant: I was here first.',
      'user: so what',
    ]);
    expect(JSON.stringify(request?.messages)).not.toContain('orphan');
  });

  it('changes only this request: the conversation stays', async () => {
    let isFirst = true;
    const fixture = createAgentFixture(
      on('ModelRequest', () => {
        const messages = isFirst ? [{ role: 'user', content: 'something else' }] : undefined;
        isFirst = false;
        return messages === undefined ? undefined : { messages };
      }),
    );
    const recorder = createModelRecorder([{ text: 'One.' }, { text: 'Two.' }]);
    const host = await fixture.open({ model: recorder.model });
    const { sessionId } = await host.start({ prompt: 'go' });
    await host.send(sessionId, 'on');
    expect(recorder.requests.map(listTexts)).toEqual([
      ['user: something else'],
      ['user: go', 'assistant: One.', 'user: on'],
    ]);
  });

  it('may replace the tools and set options', async () => {
    const tools = [{ name: 'Own', description: 'Its own.', schema: { type: 'object' } }];
    const { request } = await play({ tools, options: { temperature: 0.5, system: 'Be brief.' } });
    expect(request).toMatchObject({ tools, temperature: 0.5, system: 'Be brief.' });
  });

  it.each<readonly [string, Decision, readonly string[]]>([
    [
      'messages without content',
      { messages: [{ role: 'user' }] },
      ['ModelRequest hook: invalid messages (ignored)'],
    ],
    [
      'messages with blocks of no kind',
      { messages: [{ role: 'user', content: [{ type: 'tool_result', content: 'x' }] }] },
      ['ModelRequest hook: invalid messages (ignored)'],
    ],
    [
      'tools without a schema',
      { tools: [{ name: 'Own' }] },
      ['ModelRequest hook: invalid tools (ignored)'],
    ],
    [
      'options that would break the request',
      { options: { messages: 'none', temperature: 'hot' } },
      [
        'ModelRequest hook: invalid option "messages" (ignored)',
        'ModelRequest hook: invalid option "temperature" (ignored)',
      ],
    ],
    [
      'options that are none',
      { options: 'fast' },
      ['ModelRequest hook: options must be an object, found string'],
    ],
  ])('that gives %s changes nothing, with a warning', async (_what, decision, expected) => {
    const { request, result, fixture } = await play(decision);
    expect(result).toMatchObject({ ending: 'done', text: 'Done.' });
    expect(listTexts(request)).toEqual(['user: go']);
    expect(request?.tools.length).toBeGreaterThan(5);
    expect(notices(fixture)).toEqual(expected);
  });
});

describe('a model', () => {
  it('that is overloaded is called again, with a warning', async () => {
    const fixture = createAgentFixture();
    const overloaded: ScriptTurn = { failure: { class: 'overloaded', message: 'busy' } };
    const recorder = createModelRecorder([overloaded, { text: 'Done.' }]);
    const host = await fixture.open({ model: recorder.model });
    const { result } = await host.start({ prompt: 'go' });
    expect(result).toMatchObject({ ending: 'done', iterations: 1 });
    expect(fixture.runtimeEvents.filter(({ type }) => type === 'retry-start')).toMatchObject([
      { failure: { class: 'overloaded', message: 'busy' } },
    ]);
  });

  it('that sends nothing at all is done', async () => {
    const { result } = await play({}, [{}]);
    expect(result).toMatchObject({ ending: 'done', text: '' });
  });
});
