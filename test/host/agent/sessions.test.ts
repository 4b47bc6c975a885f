import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../../src/agent/models/model.ts';
import { createScriptedModel } from '../../../src/agent/models/scripted.ts';
import type { RunResult } from '../../../src/agent/runtime-event.ts';
import type { Host } from '../../../src/host/create-host.ts';
import { createAgentFixture, label, type AgentFixture } from '../../agent/agent-fixture.ts';
import {
  answersIn,
  calls,
  moment,
  named,
  notices,
  on,
  slowHook,
  createModelRecorder,
  listTexts,
} from '../../agent/scripted-session.ts';

/** Starts a run whose only command waits until the run ends; settles when the command runs. */
async function startWaiting(host: Host): Promise<{
  sessionId: string;
  done: ReturnType<Host['start']>;
}> {
  const runStarted = moment<string>();
  host.subscribe((event) => {
    if (event.type === 'tool-delta') runStarted.reach(event.sessionId);
  });
  const done = host.start({ prompt: 'wait' });
  const ended = done.then(({ result }) => expect.fail(`the run ended: ${JSON.stringify(result)}`));
  return { sessionId: await Promise.race([runStarted.reached, ended]), done };
}

const waiting = calls(['Bash', { command: 'echo begun; sleep 100' }]);
const bypass = { permissionMode: 'bypassPermissions' } as const;

async function caught(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return null;
  } catch (error) {
    return error;
  }
}

describe('sessions of one host', () => {
  it('run at the same time and do not mix their events', async () => {
    const fixture = createAgentFixture();
    fixture.write('notes.txt', 'hello\n');
    const both = moment();
    let running = 0;
    const model = createScriptedModel([
      calls(['Read', { file_path: 'notes.txt' }]),
      calls(['Read', { file_path: 'notes.txt' }]),
      { text: 'Done.' },
      { text: 'Done.' },
    ]);
    const host = await fixture.open({
      model,
      sources: [
        slowHook('PreToolUse', async () => {
          running += 1;
          if (running === 2) both.reach();
          await both.reached;
          return undefined;
        }),
      ],
    });
    const [one, other] = await Promise.all([
      host.start({ prompt: 'one' }),
      host.start({ prompt: 'other' }),
    ]);
    expect(one.sessionId).not.toBe(other.sessionId);
    for (const { sessionId, transcriptPath } of [one, other]) {
      const own = fixture.fired.filter((event) => event.sessionId === sessionId);
      expect(own.map(label)).toEqual([
        'SessionStart startup',
        'TaskStart',
        'UserPromptSubmit',
        'RunStart',
        'ModelRequest',
        'ModelResponse',
        'PreToolUse Read',
        'PostToolUse Read',
        'PostToolBatch',
        'ModelRequest',
        'ModelResponse',
        'MessageDisplay',
        'Stop',
        'TaskComplete',
        'RunEnd completed',
      ]);
      expect(new Set(own.map((event) => event.transcriptPath))).toEqual(new Set([transcriptPath]));
      const sessionEvents = fixture.runtimeEvents.filter((event) => event.sessionId === sessionId);
      expect(sessionEvents.filter(({ type }) => type === 'run-end')).toHaveLength(1);
    }
  });

  it('take further prompts, one after the other', async () => {
    const fixture = createAgentFixture();
    const recorder = createModelRecorder([{ text: 'One.' }, { text: 'Two.' }]);
    const host = await fixture.open({ model: recorder.model });
    const { sessionId } = await host.start({ prompt: 'one' });
    const result = await host.send(sessionId, 'two');
    expect(result).toMatchObject({ sessionId, status: 'completed', text: 'Two.', iterations: 1 });
    expect(listTexts(recorder.requests[1])).toEqual(['user: one', 'assistant: One.', 'user: two']);
  });

  it('refuse a prompt while they work on another', async () => {
    const fixture = createAgentFixture();
    const host = await fixture.open({ model: createScriptedModel([waiting]), ...bypass });
    const { sessionId, done } = await startWaiting(host);
    expect(await caught(host.send(sessionId, 'two'))).toMatchObject({ code: 'SESSION_BUSY' });
    await host.abort(sessionId, 'enough');
    expect((await done).result).toMatchObject({ status: 'aborted', reason: 'enough' });
  });

  it('go on after an abort, with a result for the call that was interrupted', async () => {
    const fixture = createAgentFixture();
    const recorder = createModelRecorder([waiting, { text: 'Fine.' }, { text: 'Still fine.' }]);
    const host = await fixture.open({ model: recorder.model, ...bypass });
    const { sessionId, done } = await startWaiting(host);
    await host.abort(sessionId, 'enough');
    await done;
    await host.send(sessionId, 'go on');
    await host.send(sessionId, 'and on');
    const interrupted = {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'call_1',
          content: expect.stringMatching(/^begun\n.*aborted/),
          is_error: true,
        },
        { type: 'text', text: 'go on' },
      ],
    };
    expect(recorder.requests[1]?.messages.at(-1)).toEqual(interrupted);
    expect(recorder.requests[2]?.messages[2]).toEqual(interrupted);
  });

  it('are known only while they are open', async () => {
    const fixture = createAgentFixture();
    const host = await fixture.open({ model: createScriptedModel([{ text: 'One.' }]) });
    expect(() => host.steer('nobody', 'hello')).toThrow('session "nobody" is not open here');
    expect(await caught(host.abort('nobody'))).toMatchObject({ code: 'SESSION_UNKNOWN' });
    expect(await caught(host.send('nobody', 'hello'))).toMatchObject({ code: 'SESSION_UNKNOWN' });
    await host.start({ prompt: 'one' });
    expect(await caught(host.send('nobody', 'hello'))).toMatchObject({ code: 'SESSION_UNKNOWN' });
  });

  it('cannot be resumed where they are open already', async () => {
    const fixture = createAgentFixture();
    const model = createScriptedModel([{ text: 'One.' }, { text: 'Two.' }]);
    const host = await fixture.open({ model });
    const { sessionId } = await host.start({ prompt: 'one' });
    expect(await caught(host.start({ prompt: 'two', resume: sessionId }))).toMatchObject({
      code: 'SESSION_BUSY',
    });
    expect((await host.send(sessionId, 'two')).text).toBe('Two.');
  });

  it('can be opened without a prompt', async () => {
    const fixture = createAgentFixture();
    const host = await fixture.open({ model: createScriptedModel([{ text: 'One.' }]) });
    const { sessionId, result } = await host.start({});
    expect(result).toBe(null);
    expect((await host.send(sessionId, 'one')).text).toBe('One.');
    expect(named(fixture, 'TaskStart')).toHaveLength(1);
  });

  it('let the agent read the output that was too long for the model', async () => {
    const fixture = createAgentFixture();
    const first = createModelRecorder([calls(['Bash', { command: 'seq 1 100000' }])]);
    const requests: ModelRequest[] = [];
    const host = await fixture.open({
      allow: ['Bash(seq:*)'],
      model: {
        ...first.model,
        async *stream(request, signal) {
          requests.push(request);
          const [output = ''] = answersIn({ ...first, requests });
          const [file_path = ''] = /\/\S*tool-results\/[^\s"]+/.exec(output) ?? [];
          const turns = [
            calls(['Bash', { command: 'seq 1 100000' }]),
            calls(['Read', { file_path, offset: 50_000, limit: 1 }]),
            { text: 'Done.' },
          ];
          yield* createScriptedModel(turns.slice(requests.length - 1)).stream(request, signal);
        },
      },
    });
    const { result } = await host.start({ prompt: 'count' });
    expect(result?.denials).toEqual([]);
    expect(answersIn({ ...first, requests })[1]).toContain('50000');
  });

  it('are copied by a fork, and go on apart', async () => {
    const fixture = createAgentFixture();
    const recorder = createModelRecorder([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]);
    const host = await fixture.open({ model: recorder.model });
    const { sessionId } = await host.start({ prompt: 'one' });
    const forked = await host.start({ prompt: 'two', resume: sessionId, fork: true });
    expect(forked.sessionId).not.toBe(sessionId);
    await host.send(sessionId, 'three');
    expect(listTexts(recorder.requests[1])).toEqual(['user: one', 'assistant: One.', 'user: two']);
    expect(listTexts(recorder.requests[2])).toEqual([
      'user: one',
      'assistant: One.',
      'user: three',
    ]);
    expect(named(fixture, 'SessionStart').map(({ source }) => source)).toEqual(['startup', 'fork']);
  });
});

describe('a host that is closed', () => {
  it('while a run is under way ends it: RunEnd, then SessionEnd, each once', async () => {
    const fixture = createAgentFixture();
    const host = await fixture.open({ model: createScriptedModel([waiting]), ...bypass });
    const { done } = await startWaiting(host);
    await Promise.all([host.dispose(), host.dispose()]);
    expect((await done).result).toMatchObject({
      status: 'aborted',
      reason: 'the session was closed',
    });
    await host.dispose();
    expect(fixture.fired.map(label).slice(-2)).toEqual(['RunEnd aborted', 'SessionEnd other']);
    expect(named(fixture, 'SessionEnd')).toHaveLength(1);
    expect(fixture.runtimeEvents.filter(({ type }) => type === 'session-end')).toHaveLength(1);
  });

  it('opens no further session, and says so', async () => {
    const fixture = createAgentFixture();
    const host = await fixture.open({ model: createScriptedModel([{ text: 'One.' }]) });
    await host.start({ prompt: 'one' });
    await host.dispose();
    expect(await caught(host.start({ prompt: 'two' }))).toMatchObject({
      message: 'the host was closed, and with it every session',
    });
  });

  it('before any session was opened opens none, either', async () => {
    const fixture = createAgentFixture();
    const host = await fixture.open({ model: createScriptedModel([{ text: 'One.' }]) });
    await host.dispose();
    expect(await caught(host.start({ prompt: 'one' }))).toMatchObject({
      message: 'the host was closed, and with it every session',
    });
  });

  it('while a session is being opened leaves none behind', async () => {
    const fixture = createAgentFixture();
    const opening = moment();
    const host = await fixture.open({
      model: createScriptedModel([{ text: 'One.' }]),
      sources: [
        slowHook('SessionStart', async (_event, signal) => {
          opening.reach();
          await new Promise<void>((resolve) => {
            signal.addEventListener('abort', () => resolve(), { once: true });
          });
          return undefined;
        }),
      ],
    });
    const starting = caught(host.start({ prompt: 'one' }));
    await opening.reached;
    await host.dispose();
    expect(await starting).toMatchObject({
      message: 'the host was closed, and with it every session',
    });
    expect(named(fixture, 'RunStart')).toEqual([]);
    expect(named(fixture, 'SessionEnd')).toHaveLength(1);
  });
});

describe('a signal', () => {
  it('that has aborted before the session is opened opens none', async () => {
    const fixture = createAgentFixture();
    const host = await fixture.open({ model: createScriptedModel([{ text: 'One.' }]) });
    const error = await caught(host.start({ prompt: 'one', signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ name: 'AbortError' });
    expect(named(fixture, 'SessionStart')).toEqual([]);
    expect(named(fixture, 'RunStart')).toEqual([]);
  });

  it('that aborts while a command runs aborts the run', async () => {
    const fixture = createAgentFixture();
    const interrupt = new AbortController();
    const host = await fixture.open({ model: createScriptedModel([waiting]), ...bypass });
    host.subscribe((event) => {
      if (event.type === 'tool-delta') interrupt.abort();
    });
    const { result } = await host.start({ prompt: 'wait', signal: interrupt.signal });
    expect(result).toMatchObject({ status: 'aborted', reason: 'interrupted by the user' });
    expect(named(fixture, 'RunEnd')).toHaveLength(1);
  });

  it('that aborts while a prompt runs that a plugin has queued aborts that run', async () => {
    const fixture = createAgentFixture();
    const interrupt = new AbortController();
    const queueing = {
      name: 'queueing',
      manifest: { capabilities: ['tools'] },
      setup: (_api: unknown, ctx: { emitEvent: (name: string, payload: object) => void }) =>
        ctx.emitEvent('queue_message', { prompt: 'and then' }),
    };
    const host = await fixture.open({
      model: createScriptedModel([{ text: 'One.' }, waiting, { text: 'Never said.' }]),
      plugins: { objects: [queueing] },
      ...bypass,
    });
    host.subscribe((event) => {
      if (event.type === 'tool-delta') interrupt.abort();
    });
    const { result } = await host.start({ prompt: 'one', signal: interrupt.signal });
    expect(result).toMatchObject({ status: 'aborted', reason: 'interrupted by the user' });
    expect(named(fixture, 'RunEnd')).toHaveLength(2);
  });

  it('is obeyed while a plugin queues one prompt after the other', async () => {
    const fixture = createAgentFixture();
    const interrupt = new AbortController();
    let runs = 0;
    const endless = {
      name: 'endless',
      manifest: { capabilities: ['hooks'] },
      hooks: {
        afterRun() {
          runs += 1;
          if (runs === 1) setTimeout(() => interrupt.abort(), 1);
          Reflect.get(globalThis, '__clinePluginHost').emitEvent('queue_message', {
            prompt: 'once more',
          });
        },
      },
    };
    const host = await fixture.open({
      model: createScriptedModel(Array.from({ length: 10_000 }, () => ({ text: 'Done.' }))),
      plugins: { objects: [endless] },
    });
    await host.start({ prompt: 'one', signal: interrupt.signal });
    expect(runs).toBeLessThan(1000);
  });
});

describe('errors in a run', () => {
  it('a disk that is full ends it with the reason, and the session can go on', async () => {
    const fixture = createAgentFixture();
    fixture.write('notes.txt', 'hello\n');
    let transcript = '';
    const fill = (): undefined => {
      transcript = fixture.fired[0]?.transcriptPath ?? '';
      rmSync(transcript);
      symlinkSync('/dev/full', transcript);
    };
    const full = createFilling(fixture, fill);
    const host = await fixture.open({
      model: createScriptedModel([
        calls(['Read', { file_path: 'notes.txt' }]),
        { text: 'Never said.' },
        { text: 'Said at last.' },
      ]),
      sources: [full],
    });
    const { result, sessionId } = await host.start({ prompt: 'read' });
    expect(result).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/^the session cannot be stored in .*ENOSPC/),
    });
    expect(result?.reason).not.toContain('bug');
    expect(named(fixture, 'RunEnd')).toMatchObject([{ status: 'failed' }]);
    rmSync(transcript);
    expect(await host.send(sessionId, 'again')).toMatchObject({ ending: 'done' });
    expect(readFileSync(transcript, 'utf8')).toContain('again');
  });

  it('a subscriber that throws changes nothing', async () => {
    const fixture = createAgentFixture();
    const warned = moment<string>();
    process.once('warning', (warning) => warned.reach(warning.message));
    const host = await fixture.open({ model: createScriptedModel([{ text: 'One.' }]) });
    host.subscribe((event) => {
      if (event.type === 'turn-start') throw new Error('a bad listener');
    });
    const events: string[] = [];
    host.subscribe(({ type }) => events.push(type));
    const { result } = await host.start({ prompt: 'one' });
    expect(result).toMatchObject({ ending: 'done', text: 'One.' });
    expect(events).toContain('turn-start');
    expect(await warned.reached).toContain('a bad listener');
  });

  it('a subscriber that has left receives nothing more', async () => {
    const fixture = createAgentFixture();
    const host = await fixture.open({ model: createScriptedModel([{ text: 'One.' }]) });
    const events: string[] = [];
    const leave = host.subscribe(({ type }) => events.push(type));
    leave();
    await host.start({ prompt: 'one' });
    expect(events).toEqual([]);
  });

  it('a model that breaks its contract and throws fails the run, not the host', async () => {
    const fixture = createAgentFixture();
    const model = createScriptedModel([]);
    const host = await fixture.open({
      model: {
        ...model,
        stream: () => ({
          [Symbol.asyncIterator]: () => ({
            next: () => Promise.reject(new Error('socket hang up')),
          }),
        }),
      },
    });
    const { result } = await host.start({ prompt: 'one' });
    expect(result).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('socket hang up'),
    });
    expect(named(fixture, 'RunEnd')).toHaveLength(1);
  });

  it('the title that a hook gives does not matter more than the run', async () => {
    const fixture = createAgentFixture(on('UserPromptSubmit', { title: 'x'.repeat(1000) }));
    const host = await fixture.open({ model: createScriptedModel([{ text: 'One.' }]) });
    expect((await host.start({ prompt: 'one' })).result?.ending).toBe('done');
    expect(notices(fixture)).toEqual([]);
  });
});

function createFilling({ fired }: AgentFixture, fill: () => undefined) {
  return slowHook('PreToolUse', async () => {
    if (fired.length > 0) fill();
    return undefined;
  });
}

describe('a prompt that is queued', () => {
  it('runs once the run under way has ended, in the order in which it came', async () => {
    const fixture = createAgentFixture();
    const model = createScriptedModel([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]);
    const host = await fixture.open({ model });
    const later: Promise<RunResult>[] = [];
    host.subscribe((event) => {
      if (event.type !== 'run-start' || later.length > 0) return;
      later.push(host.queue(event.sessionId, 'two'), host.queue(event.sessionId, 'three'));
    });
    const { result } = await host.start({ prompt: 'one' });
    const results = await Promise.all(later);
    expect([result, ...results].map((each) => each?.text)).toEqual(['One.', 'Two.', 'Three.']);
  });
});
