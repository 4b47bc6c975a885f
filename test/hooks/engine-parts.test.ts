import { expect, test } from 'vitest';
import type { HookEvent } from '../../src/hooks/facts.ts';
import { createHookEngine } from '../../src/hooks/engine.ts';
import type { Handler } from '../../src/hooks/handler.ts';

const EVENTS = ['PostToolUse', 'PostToolUseFailure'] as const;

/** What handlers of a vocabulary were asked about, for a call whose second command failed. */
async function askedIn(vocabulary: Handler['vocabulary']): Promise<readonly string[]> {
  const askedCalls: string[] = [];
  const handlers = EVENTS.map((event): Handler => ({
    id: event,
    dialect: 'test',
    source: 'test',
    event,
    vocabulary,
    onFailure: 'open',
    run: ({ tool }) => {
      askedCalls.push(`${event} ${JSON.stringify(tool?.input)}`);
      return undefined;
    },
  }));
  const moment = (): HookEvent => ({ ...MOMENT, name: 'SessionEnd', reason: '' });
  const engine = createHookEngine({ sources: [{ handlers: () => handlers }], moment });
  const part = (text: string, success: boolean) => ({ response: undefined, text, success });
  const facts = {
    tool: { callId: 'c', name: 'run_commands', input: { commands: ['true', 'false'] } },
    result: { ...part('both', false), parts: [part('fine', true), part('Exit code 1', false)] },
    durationMs: 1,
  };
  for (const name of EVENTS) await engine.dispatch({ name, ...facts });
  return askedCalls;
}

const MOMENT = {
  sessionId: 's',
  taskId: 't',
  ulid: 'u',
  at: 0,
  cwd: '/',
  workspaceRoots: [],
  permissionMode: 'default',
  model: { provider: 'p', id: 'm' },
  agent: { id: 'a', parentId: null, type: null },
  iteration: 1,
  userId: 'u',
  version: '1',
  transcriptPath: null,
  promptId: null,
};

test('a part that worked fires one event, a part that failed the other', async () => {
  expect(await askedIn('claude')).toEqual([
    'PostToolUse {"command":"true"}',
    'PostToolUseFailure {"command":"false"}',
  ]);
});

test('the whole call has failed for handlers that see it as one', async () => {
  expect(await askedIn('sdk')).toEqual(['PostToolUseFailure {"commands":["true","false"]}']);
});
