import { describe, expect, it } from 'vitest';
import { createAgentFixture } from '../agent-fixture.ts';
import { named } from '../scripted-session.ts';

const USAGE = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0 };

async function open() {
  const fixture = createAgentFixture();
  fixture.write('.claude/commands/greet.md', '---\ndescription: Says hello\n---\nHello $1.\n');
  const script = [
    { text: 'One.', usage: USAGE },
    { text: 'Two.', usage: USAGE },
  ];
  const host = await fixture.open({ model: { script, model: 'first' } });
  const { sessionId } = await host.start({ prompt: 'hello' });
  return { fixture, host, sessionId, session: host.session(sessionId) };
}

describe('an open session', () => {
  it('returns its state over all its runs', async () => {
    const { fixture, host, sessionId, session } = await open();
    await host.send(sessionId, 'again');
    expect(session.state()).toEqual({
      title: null,
      cwd: fixture.workspace,
      model: { provider: 'scripted', id: 'first' },
      permissionMode: 'default',
      contextTokens: 120,
      contextLimit: 200_000,
      usage: { inputTokens: 200, outputTokens: 40, cacheReadTokens: 0, cacheWriteTokens: 0 },
      costUsd: 0,
      finishReason: 'stop',
    });
    expect(session.commands()).toMatchObject([{ name: 'greet', description: 'Says hello' }]);
    expect(session.messages()).toHaveLength(4);
  });

  it('changes its mode, which hooks see from then on', async () => {
    const { fixture, host, sessionId, session } = await open();
    session.setPermissionMode('plan');
    await host.send(sessionId, 'again');
    expect(named(fixture, 'UserPromptSubmit').map((event) => event.permissionMode)).toEqual([
      'default',
      'plan',
    ]);
  });

  it('is closed alone, with its reason, which is the source of the next session', async () => {
    const { fixture, host, sessionId } = await open();
    await host.end(sessionId, 'clear');
    expect(named(fixture, 'SessionEnd').map(({ reason }) => reason)).toEqual(['clear']);
    expect(() => host.session(sessionId)).toThrow(/session .* is not open here/);
    const next = await host.start({ afterClear: true });
    expect(next.sessionId).not.toBe(sessionId);
    expect(named(fixture, 'SessionStart').map(({ source }) => source)).toEqual([
      'startup',
      'clear',
    ]);
  });
});
