import { describe, expect, test } from 'vitest';
import {
  type AgentState,
  createAgentState,
  createTurn,
} from '../../../../src/agent/session-context.ts';
import { Snapshots } from '../../../../src/host/plugins/events/snapshots.ts';
import type { AgentRuntimeStateSnapshot } from '../../../../src/plugins/contract/snapshot.ts';
import { getSharedMessages } from '../../../../src/plugins/contract/snapshot.ts';
import type { Message } from '../../../../src/sessions/messages.ts';

const SAID: Message = { role: 'user', content: [{ type: 'text', text: 'hello' }] };
const SHOWN = {
  id: 'message-0',
  role: 'user',
  content: [{ type: 'text', text: 'hello' }],
  createdAt: 7,
};
const USAGE = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

interface Scene {
  /** The agent of the session. */
  readonly agent: AgentState;
  readonly of: (agentId: string) => AgentRuntimeStateSnapshot;
  /** How often the conversation was asked for. */
  readonly asked: () => number;
}

function openScene(messages: readonly Message[] = [SAID]): Scene {
  let readCount = 0;
  const agent = createAgentState(
    { id: 's', parentId: null, type: null },
    {
      get messages() {
        readCount += 1;
        return messages;
      },
    },
  );
  const snapshots = new Snapshots({
    sessionId: 's',
    agents: () => new Map([['s', agent]]),
    model: () => null,
    now: () => 7,
  });
  return { agent, of: (id) => snapshots.take(snapshots.findAgent(id)), asked: () => readCount };
}

describe('a snapshot', () => {
  test('describes its agent in a plain object', () => {
    const { of } = openScene();
    const snapshot = of('s');
    const expected = {
      agentId: 's',
      parentAgentId: null,
      conversationId: 's',
      status: 'idle',
      iteration: 0,
      messages: [SHOWN],
      pendingToolCalls: [],
      usage: USAGE,
    };
    expect(Object.keys(snapshot).toSorted()).toEqual(Object.keys(expected).toSorted());
    expect({ ...snapshot }).toEqual(expected);
    expect(structuredClone(snapshot)).toEqual(expected);
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(expected);
    expect(Object.getPrototypeOf(snapshot)).toBe(Object.prototype);
  });

  test('copies the conversation when it is first read, once', () => {
    const { of, asked } = openScene();
    const snapshot = of('s');
    expect(asked()).toBe(0);
    snapshot.messages.push({ ...snapshot.messages[0]!, id: 'own' });
    expect(snapshot.messages.map(({ id }) => id)).toEqual(['message-0', 'own']);
    expect(asked()).toBe(1);
    expect(of('s').messages).toEqual([SHOWN]);
  });

  test('has other messages where a plugin puts them', () => {
    const { of } = openScene();
    const snapshot = of('s');
    snapshot.messages = [];
    expect(snapshot.messages).toEqual([]);
    expect(of('s').messages).toEqual([SHOWN]);
  });

  test('has the conversation for internal readers, without copying', () => {
    const { of } = openScene();
    const shared = getSharedMessages(of('s'));
    expect(shared).toEqual([SHOWN]);
    expect(getSharedMessages(of('s'))).toBe(shared);
    expect(getSharedMessages({})).toBeNull();
  });
});

describe('a cached snapshot', () => {
  test('is used again as long as nothing has changed and no hook has read it', () => {
    const { of } = openScene();
    expect(of('s')).toBe(of('s'));
  });

  test('is not used for another agent, another turn or another role', () => {
    const { agent, of } = openScene();
    const first = of('s');
    expect(of('t')).not.toBe(first);
    const own = of('s');
    Object.assign(agent, { turn: createTurn(2) });
    expect(of('s')).not.toBe(own);
    expect([own.iteration, of('s').iteration]).toEqual([0, 2]);
  });

  test.each([
    ['a run has begun', { runId: 'run' }],
    ['its state is another one', { status: 'running' }],
    ['something failed', { lastError: 'boom' }],
    ['tokens were used', { usage: { ...USAGE, outputTokens: 7 } }],
  ])('is not used when %s', (_, change) => {
    const { agent, of } = openScene();
    const before = of('s');
    Object.assign(agent, change);
    const after = of('s');
    expect(after).toMatchObject(change);
    expect(before).not.toMatchObject(change);
  });

  test('is not used when a call has begun or ended', () => {
    const { agent, of } = openScene();
    const { pendingCalls: pending } = agent;
    const records = [of('s')];
    pending.set('one', { name: 'work', input: {} });
    records.push(of('s'));
    pending.delete('one');
    pending.set('two', { name: 'work', input: {} });
    records.push(of('s'));
    expect(records.map(({ pendingToolCalls }) => pendingToolCalls)).toEqual([[], ['one'], ['two']]);
  });

  test.each([
    ['changed in it', (snapshot: object) => Object.assign(snapshot, { status: 'failed' })],
    ['added to it', (snapshot: object) => Object.assign(snapshot, { mine: true })],
    ['taken from it', (snapshot: object) => Reflect.deleteProperty(snapshot, 'usage')],
  ])('is not used when a plugin has %s something', (_, meddle) => {
    const { of } = openScene();
    const first = of('s');
    const as = structuredClone(of('t'));
    meddle(of('s'));
    expect({ ...of('s'), agentId: 't' }).toEqual(as);
    expect(first).not.toBe(of('s'));
  });
});
