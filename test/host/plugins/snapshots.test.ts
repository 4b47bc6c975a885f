import { describe, expect, test } from 'vitest';
import { createAgentStates } from '../../../src/host/plugins/events/agent-state.ts';
import { createSnapshots, type Snapshots } from '../../../src/host/plugins/events/snapshots.ts';
import type { AgentStates } from '../../../src/host/plugins/events/agent-state.ts';
import { getSharedMessages } from '../../../src/plugins/contract/snapshot.ts';
import type { Message } from '../../../src/sessions/messages.ts';

const SAID: Message = { role: 'user', content: [{ type: 'text', text: 'hello' }] };
const SHOWN = {
  id: 'message-0',
  role: 'user',
  content: [{ type: 'text', text: 'hello' }],
  createdAt: 7,
};
const USAGE = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

interface Scene {
  readonly mirror: AgentStates;
  readonly snapshots: Snapshots;
  /** How often the conversation was asked for. */
  readonly asked: () => number;
}

function openScene(messages: readonly Message[] = [SAID]): Scene {
  const mirror = createAgentStates();
  let asked = 0;
  const snapshots = createSnapshots({
    sessionId: 's',
    mirror,
    messages() {
      asked += 1;
      return messages;
    },
    model: () => null,
    now: () => 7,
  });
  return { mirror, snapshots, asked: () => asked };
}

describe('a snapshot', () => {
  test('describes its agent in a plain object', () => {
    const { snapshots } = openScene();
    const snapshot = snapshots.of('s');
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
    const { snapshots, asked } = openScene();
    const snapshot = snapshots.of('s');
    expect(asked()).toBe(0);
    snapshot.messages.push({ ...snapshot.messages[0]!, id: 'own' });
    expect(snapshot.messages.map(({ id }) => id)).toEqual(['message-0', 'own']);
    expect(asked()).toBe(1);
    expect(snapshots.of('s').messages).toEqual([SHOWN]);
  });

  test('has other messages where a plugin puts them', () => {
    const { snapshots } = openScene();
    const snapshot = snapshots.of('s');
    snapshot.messages = [];
    expect(snapshot.messages).toEqual([]);
    expect(snapshots.of('s').messages).toEqual([SHOWN]);
  });

  test('has the conversation for internal readers, without copying', () => {
    const { snapshots } = openScene();
    const shared = getSharedMessages(snapshots.of('s'));
    expect(shared).toEqual([SHOWN]);
    expect(getSharedMessages(snapshots.of('s'))).toBe(shared);
    expect(getSharedMessages({})).toBeNull();
  });
});

describe('a cached snapshot', () => {
  test('is used again as long as nothing has changed and no hook has read it', () => {
    const { snapshots } = openScene();
    expect(snapshots.of('s')).toBe(snapshots.of('s'));
  });

  test('is not used for another agent, another turn or another role', () => {
    const { mirror, snapshots } = openScene();
    const first = snapshots.of('s');
    expect(snapshots.of('t')).not.toBe(first);
    const own = snapshots.of('s');
    Object.assign(mirror.agent('s'), { iteration: 2 });
    expect(snapshots.of('s')).not.toBe(own);
    expect([own.iteration, snapshots.of('s').iteration]).toEqual([0, 2]);
  });

  test.each([
    ['a run has begun', { runId: 'run' }],
    ['its state is another one', { status: 'running' }],
    ['something failed', { lastError: 'boom' }],
    ['tokens were used', { usage: { ...USAGE, outputTokens: 7 } }],
  ])('is not used when %s', (_, change) => {
    const { mirror, snapshots } = openScene();
    const before = snapshots.of('s');
    Object.assign(mirror.agent('s'), change);
    const after = snapshots.of('s');
    expect(after).toMatchObject(change);
    expect(before).not.toMatchObject(change);
  });

  test('is not used when a call has begun or ended', () => {
    const { mirror, snapshots } = openScene();
    const { pending } = mirror.agent('s');
    const seen = [snapshots.of('s')];
    pending.set('one', { tool: 'work', input: {} });
    seen.push(snapshots.of('s'));
    pending.delete('one');
    pending.set('two', { tool: 'work', input: {} });
    seen.push(snapshots.of('s'));
    expect(seen.map(({ pendingToolCalls }) => pendingToolCalls)).toEqual([[], ['one'], ['two']]);
  });

  test.each([
    ['changed in it', (snapshot: object) => Object.assign(snapshot, { status: 'failed' })],
    ['added to it', (snapshot: object) => Object.assign(snapshot, { mine: true })],
    ['taken from it', (snapshot: object) => Reflect.deleteProperty(snapshot, 'usage')],
  ])('is not used when a plugin has %s something', (_, meddle) => {
    const { snapshots } = openScene();
    const first = snapshots.of('s');
    const as = structuredClone(snapshots.of('t'));
    meddle(snapshots.of('s'));
    expect({ ...snapshots.of('s'), agentId: 't' }).toEqual(as);
    expect(first).not.toBe(snapshots.of('s'));
  });
});
