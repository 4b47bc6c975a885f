import { describe, expect, test } from 'vitest';
import {
  type AgentState,
  createAgentState,
  createTurn,
} from '../../../../src/agent/session-context.ts';
import { Snapshots } from '../../../../src/host/plugins/events/snapshots.ts';
import type { AgentRuntimeStateSnapshot } from '../../../../src/plugins/contract/snapshot.ts';
import { getSharedMessages } from '../../../../src/plugins/contract/snapshot.ts';
import { createResultMessage } from '../../../../src/plugins/messages/agent-messages.ts';
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
  /** Says something more. */
  readonly add: (message: Message) => void;
  readonly addResult: (callId: string) => void;
}

function openScene(): Scene {
  const messages: Message[] = [SAID];
  const agent = createAgentState({ id: 's', parentId: null, type: null }, { messages });
  const snapshots = new Snapshots({
    sessionId: 's',
    agents: () => new Map([['s', agent]]),
    model: () => null,
    now: () => 7,
  });
  return {
    agent,
    of: (id) => snapshots.take(snapshots.findAgent(id)),
    add: (message) => void messages.push(message),
    addResult: (callId) => {
      const part = { type: 'tool-result', toolCallId: callId, toolName: 't', output: 1 } as const;
      snapshots.recordResult(agent, createResultMessage(part, 7));
    },
  };
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

  test('has a copy of the conversation that its reader may change', () => {
    const { of } = openScene();
    const snapshot = of('s');
    snapshot.messages.push({ ...snapshot.messages[0]!, id: 'own' });
    expect(snapshot.messages.map(({ id }) => id)).toEqual(['message-0', 'own']);
    expect(of('s').messages).toEqual([SHOWN]);
  });

  test('has the conversation as it was, also when it is read later', () => {
    const { of, add } = openScene();
    const before = of('s');
    add({ role: 'assistant', content: [{ type: 'text', text: 'hi' }] });
    expect(of('s').messages).toHaveLength(2);
    expect(before.messages).toEqual([SHOWN]);
  });

  test('has the results of a batch before they are in the conversation, and once afterwards', () => {
    const { of, add, addResult } = openScene();
    const before = of('s');
    addResult('1');
    const between = of('s');
    addResult('2');
    expect(of('s').messages.map(({ id }) => id)).toEqual(['message-0', 'result-1', 'result-2']);
    expect(between.messages.map(({ id }) => id)).toEqual(['message-0', 'result-1']);
    expect(before.messages).toEqual([SHOWN]);
    const content = [{ type: 'tool_result', tool_use_id: '1', content: '1' }] as const;
    add({ role: 'user', content });
    expect(of('s').messages.map(({ id }) => id)).toEqual(['message-0', 'result-1']);
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
