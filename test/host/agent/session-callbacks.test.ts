import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createScriptedModel } from '../../../src/agent/models/scripted.ts';
import { AttachedSession } from '../../../src/callback/attached-session.ts';
import type { Host } from '../../../src/host/create-host.ts';
import { createAgentFixture, type AgentFixture } from '../../agent/agent-fixture.ts';
import { calls } from '../../agent/scripted-session.ts';
import { hooklineProgram } from '../../cli/hookline.ts';
import { until } from '../../base/directory.ts';

const HOOK = 'cline:workspace:PreToolUse';
/** Writes down its address, and waits until it is ended. */
const WAITING = '#!/bin/sh\ncat > /dev/null\necho "$HOOKLINE_CALLBACK" > $LOG\nexec sleep 600\n';

async function open(fixture: AgentFixture): Promise<Host> {
  return fixture.open({
    model: createScriptedModel([
      calls(['Bash', { command: 'echo hi' }]),
      { text: 'Done.' },
      { text: 'Again.' },
    ]),
    trust: 'all',
    permissionMode: 'bypassPermissions',
    sandbox: 'off',
  });
}

/** The session as its hook sees it, once the hook has started. */
async function attach(fixture: AgentFixture): Promise<AttachedSession> {
  await until(() => fixture.log().length > 0);
  return AttachedSession.fromEnvironment({ HOOKLINE_CALLBACK: fixture.log()[0] });
}

describe('a hook that calls back while the run waits for it', () => {
  it('is answered a hundred times at once during an abort', async () => {
    const fixture = createAgentFixture();
    fixture.write('.clinerules/hooks/PreToolUse', WAITING);
    const host = await open(fixture);
    const started = host.start({ prompt: 'go' });
    const session = await attach(fixture);
    const kinds: readonly (() => Promise<unknown>)[] = [
      () => session.state(),
      () => session.messages(),
      () => session.steer('x'),
      () => session.send('y'),
    ];
    const answers = Array.from({ length: 100 }, async (_, index) =>
      index === 50 ? session.abort('enough') : kinds[index % kinds.length]?.(),
    );
    expect(await Promise.all(answers)).toHaveLength(100);
    expect(await answers[50]).toBe(true);
    expect((await started).result).toMatchObject({ status: 'aborted', reason: 'enough' });
  });

  it('reads the session, and each call is in the trace with its hook', async () => {
    const fixture = createAgentFixture();
    fixture.write('.clinerules/hooks/PreToolUse', WAITING);
    const host = await open(fixture);
    const started = host.start({ prompt: 'go' });
    const session = await attach(fixture);
    expect(await session.state()).toMatchObject({
      isRunning: true,
      permissionMode: 'bypassPermissions',
    });
    expect(await session.messages()).toMatchObject([{ role: 'user' }, { role: 'assistant' }]);
    await session.abort();
    const { sessionId, result } = await started;
    expect(result).toMatchObject({ status: 'aborted', reason: `aborted by the hook ${HOOK}` });
    await host.dispose();
    const trace = readFileSync(path.join(fixture.home, '.hookline/trace/trace.jsonl'), 'utf8');
    const entries = trace
      .trim()
      .split('\n')
      .map((line): Record<string, unknown> => JSON.parse(line));
    const expected = { type: 'call', sessionId, hook: HOOK };
    expect(entries.filter(({ type }) => type === 'call')).toMatchObject([
      { ...expected, call: 'state', text: null, answer: null },
      { ...expected, call: 'messages', text: null, answer: null },
      { ...expected, call: 'abort', text: '', answer: { aborted: true } },
    ]);
    expect(existsSync(path.join(fixture.home, '.hookline/run'))).toBe(true);
    expect(readdirSync(path.join(fixture.home, '.hookline/run'))).toEqual([]);
  });

  it('cannot reach another session of the same host', async () => {
    const fixture = createAgentFixture();
    fixture.write('.clinerules/hooks/PreToolUse', WAITING);
    const host = await open(fixture);
    const first = host.start({ prompt: 'go' });
    const session = await attach(fixture);
    const { sessionId } = await host.start({ idle: true });
    expect((await session.state())['sessionId']).not.toBe(sessionId);
    await session.abort();
    await first;
    expect((await session.state())['isRunning']).toBe(false);
  });
});

describe('a prompt that a SessionStart hook sends', () => {
  const SENDING = `"${process.execPath}" "${hooklineProgram()}" session send QUEUED`;
  const listPrompts = ({ runtimeEvents }: AgentFixture) =>
    runtimeEvents.flatMap((event) => (event.type === 'run-start' ? [event.prompt] : []));

  async function openWithHook() {
    const fixture = createAgentFixture();
    const hooks = { SessionStart: [{ hooks: [{ type: 'command', command: SENDING }] }] };
    fixture.write('~/.claude/settings.json', JSON.stringify({ hooks }));
    return { fixture, host: await open(fixture) };
  }

  it('starts a session that was opened without a prompt', async () => {
    const { fixture, host } = await openWithHook();
    await host.start({});
    await until(() => fixture.runtimeEvents.some(({ type }) => type === 'run-end'));
    expect(listPrompts(fixture)).toEqual(['QUEUED']);
  });

  it('waits in a session that was only opened, until its first prompt has run', async () => {
    const { fixture, host } = await openWithHook();
    const { sessionId } = await host.start({ idle: true });
    expect(listPrompts(fixture)).toEqual([]);
    await host.send(sessionId, 'go');
    expect(listPrompts(fixture)).toEqual(['go', 'QUEUED']);
  });
});

describe('a session without hooks that are programs', () => {
  it('does not listen', async () => {
    const fixture = createAgentFixture();
    const host = await open(fixture);
    await host.start({ prompt: 'go' });
    expect(existsSync(path.join(fixture.home, '.hookline/run'))).toBe(false);
  });
});

describe('a state directory whose path is too long for a socket', () => {
  it('leaves hooks that can call all the same', async () => {
    const fixture = createAgentFixture();
    fixture.write('.clinerules/hooks/PreToolUse', WAITING);
    const long = path.join(fixture.home, 'x'.repeat(100));
    const host = await fixture.open({
      model: createScriptedModel([calls(['Bash', { command: 'echo hi' }]), { text: 'Done.' }]),
      trust: 'all',
      sandbox: 'off',
      surroundings: {
        cwd: fixture.workspace,
        env: { PATH: process.env['PATH'], HOME: fixture.home, HOOKLINE_HOME: long },
        home: fixture.home,
        platform: process.platform,
        nodePath: process.execPath,
      },
    });
    const started = host.start({ prompt: 'go' });
    const session = await attach(fixture);
    expect(await session.abort('enough')).toBe(true);
    expect((await started).result).toMatchObject({ reason: 'enough' });
    const [, socket = ''] = (fixture.log()[0] ?? '').split('@');
    await host.dispose();
    expect(existsSync(path.dirname(socket))).toBe(false);
  });
});
