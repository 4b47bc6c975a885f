import { describe, expect, it } from 'vitest';
import type { Person } from '../../../src/agent/session-context.ts';
import type { HostOptions } from '../../../src/host/create-host.ts';
import { createAgentFixture, type Reaction } from '../agent-fixture.ts';
import { named, on } from '../scripted-session.ts';

const USAGE = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0 };

async function open(react: Reaction = () => undefined, options: HostOptions = {}) {
  const fixture = createAgentFixture(react);
  const script = [{ text: 'One.', usage: USAGE }, { text: 'Two.' }];
  const host = await fixture.open({ model: { script, model: 'first' }, ...options });
  const { sessionId } = await host.start({ prompt: 'hello' });
  return { fixture, host, sessionId, session: host.session(sessionId) };
}

function answering(answer: string | null): Person {
  return {
    approve: async () => ({ isAllowed: false }),
    answer: async ([question]) => (answer === null ? null : { [question?.question ?? '']: answer }),
  };
}

describe('switching the model', () => {
  it('is announced before and after, with what the switch costs', async () => {
    const { fixture, host, sessionId, session } = await open();
    expect(await host.switchModel(sessionId, 'second', { source: 'command' })).toBeNull();
    const facts = {
      fromModel: 'first',
      toModel: 'second',
      requestedModel: 'second',
      source: 'command',
      contextTokens: 120,
      isCacheWarm: true,
      cacheLifetime: '5m',
      cacheWriteUsd: 0,
      pricing: 'catalog',
    };
    expect(named(fixture, 'PreModelSwitch')).toMatchObject([facts]);
    expect(named(fixture, 'PostModelSwitch')).toMatchObject([
      { ...facts, model: { id: 'second' } },
    ]);
    expect(session.state().model).toEqual({ provider: 'scripted', id: 'second' });
  });

  it('sends the context of its hooks with the next request', async () => {
    const { fixture, host, sessionId } = await open(
      on('PostModelSwitch', () => ({ context: 'be brief with this one' })),
    );
    await host.switchModel(sessionId, 'second');
    await host.send(sessionId, 'again');
    const [, request] = named(fixture, 'ModelRequest');
    expect(JSON.stringify(request?.request)).toContain('be brief with this one');
  });

  it('that a hook refuses leaves the model as it is', async () => {
    const { fixture, host, sessionId, session } = await open(
      on('PreModelSwitch', () => ({ effect: 'deny', reason: 'no haiku' })),
    );
    expect(await host.switchModel(sessionId, 'second')).toBe(
      'Model switch blocked by a PreModelSwitch hook: no haiku',
    );
    expect(session.state().model.id).toBe('first');
    expect(named(fixture, 'PostModelSwitch')).toEqual([]);
  });

  it.each([
    ['Yes', null, 'second'],
    ['No', 'Model switch blocked by a PreModelSwitch hook: confirm', 'first'],
    [null, 'Model switch blocked by a PreModelSwitch hook: confirm', 'first'],
  ])('that a hook wants confirmed, answered with %s', async (answer, refusal, model) => {
    const { host, sessionId, session } = await open(
      on('PreModelSwitch', () => ({ effect: 'ask', reason: 'confirm' })),
      { person: answering(answer) },
    );
    expect(await host.switchModel(sessionId, 'second')).toBe(refusal);
    expect(session.state().model.id).toBe(model);
  });

  it('that must be confirmed stays away when no user is present', async () => {
    const { host, sessionId } = await open(
      on('PreModelSwitch', () => ({ effect: 'ask', reason: 'confirm' })),
    );
    expect(await host.switchModel(sessionId, 'second')).toBe(
      'Model switch blocked by a PreModelSwitch hook: confirm',
    );
  });

  it('is given up when the caller aborts while a hook still runs', async () => {
    const giveUp = new AbortController();
    const { fixture, host, sessionId, session } = await open(
      on('PreModelSwitch', () => {
        giveUp.abort('not any more');
        return undefined;
      }),
    );
    const switching = host.switchModel(sessionId, 'second', { signal: giveUp.signal });
    await expect(switching).rejects.toBe('not any more');
    expect(session.state().model.id).toBe('first');
    expect(named(fixture, 'PostModelSwitch')).toEqual([]);
  });

  it('with the same name is no switch', async () => {
    const { fixture, host, sessionId } = await open();
    expect(await host.switchModel(sessionId, 'first')).toBeNull();
    expect(named(fixture, 'PreModelSwitch')).toEqual([]);
  });
});
