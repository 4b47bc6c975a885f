import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ScriptTurn } from '../../src/agent/models/scripted.ts';
import { startService } from '../e2e/service.ts';
import { createAgentFixture, label, type Reaction, type AgentFixture } from './agent-fixture.ts';
import {
  answersIn,
  calls,
  named,
  on,
  slowHook,
  createModelRecorder,
  listTexts,
} from './scripted-session.ts';

const order = (type?: string): readonly [string, object] => [
  'Agent',
  {
    description: 'look',
    prompt: 'read the notes',
    ...(type === undefined ? {} : { subagent_type: type }),
  },
];

async function play(turns: readonly ScriptTurn[], react: Reaction = () => undefined) {
  const fixture = createAgentFixture(react);
  fixture.write('notes.txt', 'hello\n');
  const recorder = createModelRecorder(turns);
  const host = await fixture.open({ model: recorder.model, permissionMode: 'bypassPermissions' });
  const { result, transcriptPath } = await host.start({ prompt: 'delegate' });
  return { fixture, recorder, result, transcript: transcriptPath ?? '', host };
}

const inside = ({ fired }: AgentFixture) => fired.filter(({ agent }) => agent.parentId !== null);

/** The directory and the model in a system prompt. */
const whereIn = (system: string) =>
  [/Current directory: (.*)/, /Model: (.*)/].map((line) => line.exec(system)?.[1]);

describe('a sub-agent', () => {
  it('has a conversation of its own, and its last text is the call’s result', async () => {
    const { recorder, result } = await play([
      calls(order('Explore')),
      calls(['Read', { file_path: 'notes.txt' }]),
      { text: 'They say hello.' },
      { text: 'Done.' },
    ]);
    expect(result?.text).toBe('Done.');
    expect(listTexts(recorder.requests[1])).toEqual(['user: read the notes']);
    expect(listTexts(recorder.requests[3])).toHaveLength(3);
    expect(answersIn(recorder)).toEqual(['They say hello.']);
  });

  it('gets its own directory and model in its system prompt', async () => {
    const fixture = createAgentFixture();
    fixture.write('deep/x', '');
    fixture.write('.claude/agents/small.md', '---\nname: small\nmodel: tiny\n---\nBe small.');
    const [name, input] = order('small');
    const service = await startService([
      { tools: [{ name: 'Bash', input: { command: 'cd deep' } }] },
      { tools: [{ name, input }] },
      { text: 'Well.' },
      { text: 'Done.' },
    ]);
    const host = await fixture.open({
      model: { provider: 'openai-compatible', model: 'large', baseUrl: service.url, key: 'k' },
      permissionMode: 'bypassPermissions',
    });
    await host.start({ prompt: 'delegate' });
    const deep = path.join(fixture.workspace, 'deep');
    expect(service.requests().map(({ model, system }) => [model, ...whereIn(system)])).toEqual([
      ['large', fixture.workspace, 'large'],
      ['large', deep, 'large'],
      ['tiny', deep, 'tiny'],
      ['large', deep, 'large'],
    ]);
  });

  it('has a transcript of its own beside the session’s, which does not repeat it', async () => {
    const { fixture, transcript } = await play([
      calls(order()),
      { text: 'A secret of its own.' },
      { text: 'Done.' },
    ]);
    const [stopped] = named(fixture, 'SubagentStop');
    const own = stopped?.agentTranscriptPath ?? '';
    expect(path.dirname(path.dirname(own))).toBe(path.dirname(transcript));
    const lines = (file: string) =>
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { isSidechain?: boolean; agentId?: string });
    expect(lines(own).map(({ agentId, isSidechain }) => [agentId, isSidechain])).toEqual([
      [stopped?.agent.id, true],
      [stopped?.agent.id, true],
    ]);
    expect(readFileSync(transcript, 'utf8')).not.toContain('read the notes\\"');
    expect(lines(transcript).some(({ isSidechain }) => isSidechain === true)).toBe(false);
  });

  it('goes on when a hook of SubagentStop refuses', async () => {
    let refusals = 0;
    const { recorder, fixture } = await play(
      [calls(order()), { text: 'Too short.' }, { text: 'Long enough.' }, { text: 'Done.' }],
      on('SubagentStop', () => {
        refusals += 1;
        return refusals === 1 ? { effect: 'deny', reason: 'say more' } : undefined;
      }),
    );
    expect(answersIn(recorder)).toEqual(['Long enough.']);
    expect(listTexts(recorder.requests[2]).at(-1)).toBe('user: Stop hook feedback:\nsay more');
    expect(named(fixture, 'SubagentStop').map(({ again }) => again)).toEqual([false, true]);
    expect(named(fixture, 'TaskComplete')).toHaveLength(1);
  });

  it('gets the context of SubagentStart hooks', async () => {
    const { recorder } = await play(
      [calls(order()), { text: 'Well.' }, { text: 'Done.' }],
      on('SubagentStart', { context: 'be brief' }),
    );
    expect(listTexts(recorder.requests[1])).toEqual([
      expect.stringMatching(/be brief[\s\S]*read the notes$/),
    ]);
  });

  it('has only the tools of its kind', async () => {
    const { recorder, fixture } = await play([
      calls(order('Explore')),
      calls(['Write', { file_path: 'x', content: 'x' }]),
      { text: 'I cannot.' },
      { text: 'Done.' },
    ]);
    expect(recorder.requests[1]?.tools.map(({ name }) => name).toSorted()).toEqual([
      'Glob',
      'Grep',
      'Read',
      'WebFetch',
    ]);
    expect(existsSync(path.join(fixture.workspace, 'x'))).toBe(false);
    expect(JSON.stringify(recorder.requests[2]?.messages)).toContain('There is no tool named');
  });

  it('of a kind that there is not is refused with the kinds that there are', async () => {
    const { recorder, fixture } = await play([calls(order('wizard')), { text: 'Done.' }]);
    expect(answersIn(recorder)).toEqual([
      'The wizard agent did not finish its task.\nThere is no kind of agent named "wizard". These are there: general-purpose, Explore.',
    ]);
    expect(named(fixture, 'SubagentStart')).toEqual([]);
  });

  it('whose model fails is a failed call, and the agent goes on', async () => {
    const { recorder, result, fixture } = await play([
      calls(order()),
      { failure: { class: 'billing_error', message: 'no money for that' } },
      { text: 'Done without.' },
    ]);
    expect(result).toMatchObject({ ending: 'done', text: 'Done without.' });
    expect(answersIn(recorder)).toEqual([expect.stringContaining('no money for that')]);
    expect(
      named(fixture, 'RunEnd').map(({ agent, status }) => [agent.parentId === null, status]),
    ).toEqual([
      [false, 'failed'],
      [true, 'completed'],
    ]);
  });

  it('adds its usage to the session’s', async () => {
    const usage = {
      inputTokens: 1000,
      outputTokens: 10,
      cacheReadTokens: 100,
      cacheWriteTokens: 1,
    };
    const { result } = await play([
      { ...calls(order()), usage },
      { text: 'Well.', usage },
      { text: 'Done.', usage },
    ]);
    expect(result?.usage).toEqual({
      inputTokens: 3000,
      outputTokens: 30,
      cacheReadTokens: 300,
      cacheWriteTokens: 3,
    });
  });

  it('carries its parent’s id in all its events', async () => {
    const { fixture, result } = await play([
      calls(order()),
      calls(['Read', { file_path: 'notes.txt' }]),
      { text: 'Well.' },
      { text: 'Done.' },
    ]);
    expect(new Set(inside(fixture).map(({ agent }) => agent.parentId))).toEqual(
      new Set([result?.sessionId]),
    );
    const [own] = named(fixture, 'SubagentStart');
    const subagentEvents = fixture.runtimeEvents.filter(({ agentId }) => agentId === own?.agent.id);
    expect(new Set(subagentEvents.map(({ parentAgentId }) => parentAgentId))).toEqual(
      new Set([result?.sessionId]),
    );
    expect(subagentEvents.map(({ type }) => type)).toContain('tool-end');
  });

  it('works beside others of its turn', async () => {
    const fixture = createAgentFixture();
    const recorder = createModelRecorder([
      calls(order(), order()),
      { text: 'Well.' },
      { text: 'Well.' },
      { text: 'Done.' },
    ]);
    const startedAgents: string[] = [];
    let bothStarted: () => void = () => undefined;
    const both = new Promise<void>((resolve) => {
      bothStarted = resolve;
    });
    const host = await fixture.open({
      model: recorder.model,
      sources: [
        slowHook('SubagentStart', async ({ agent }) => {
          startedAgents.push(agent.id);
          if (startedAgents.length === 2) bothStarted();
          await both;
          return undefined;
        }),
      ],
    });
    const { result } = await host.start({ prompt: 'delegate' });
    expect(result?.text).toBe('Done.');
    expect(answersIn(recorder)).toEqual(['Well.', 'Well.']);
  });

  it('ends with the run that is aborted, and so do its commands', async () => {
    const fixture = createAgentFixture();
    const recorder = createModelRecorder([
      calls(order()),
      calls(['Bash', { command: 'echo $$ > pid; echo begun; sleep 100' }]),
    ]);
    const host = await fixture.open({
      model: recorder.model,
      permissionMode: 'bypassPermissions',
      // A process id of the sandbox means nothing outside.
      flags: { 'sandbox.mode': 'off' },
    });
    host.subscribe((event) => {
      if (event.type === 'tool-delta') void host.abort(event.sessionId, 'enough');
    });
    const { result } = await host.start({ prompt: 'delegate' });
    expect(result).toMatchObject({ status: 'aborted', reason: 'enough' });
    const pid = Number(readFileSync(path.join(fixture.workspace, 'pid'), 'utf8'));
    expect(() => process.kill(pid, 0)).toThrow();
    expect(fixture.fired.map(label).at(-1)).toBe('RunEnd aborted');
  });
});

it('a resumed session gets the directory in which it goes on', async () => {
  const fixture = createAgentFixture();
  fixture.write('deep/x', '');
  const recorder = createModelRecorder([
    calls(['Bash', { command: 'cd deep' }]),
    { text: 'Done.' },
    { text: 'Done again.' },
  ]);
  const options = { model: recorder.model, permissionMode: 'bypassPermissions' } as const;
  const first = await fixture.open(options);
  const { sessionId } = await first.start({ prompt: 'one' });
  await first.dispose();
  const second = await fixture.open(options);
  await second.start({ prompt: 'two', resume: sessionId });
  const deep = path.join(fixture.workspace, 'deep');
  expect(whereIn(recorder.requests.at(-1)?.system ?? '')).toEqual([deep, recorder.model.id]);
});
