import { expect, it } from 'vitest';
import type { AgentPlugin } from '../../../../src/plugins/contract/plugin.ts';
import { call, createSdkFixture, DONE } from '../sdk-fixture.ts';

it('sub-agents share the plugins of their session, which are set up once and know the parent agent', async () => {
  const records: unknown[] = [];
  const sessions: unknown[] = [];
  const counting: AgentPlugin = {
    name: 'counting',
    manifest: { capabilities: ['tools', 'hooks'] },
    setup(api, ctx) {
      sessions.push(ctx.session?.sessionId);
      api.registerTool({
        name: 'count',
        description: 'counts',
        inputSchema: { type: 'object' },
        execute: (_input, { agentId, snapshot }) =>
          agentId === snapshot?.agentId && snapshot.parentAgentId === 'parent' ? 'one' : 'two',
      });
    },
    hooks: {
      beforeTool({ snapshot, toolCall }) {
        records.push([toolCall.toolName, snapshot.parentAgentId, snapshot.messages.length > 0]);
      },
    },
  };
  const fixture = await createSdkFixture([
    call('spawn_agent', { task: 'count' }),
    call('count'),
    { text: 'There is one.' },
    DONE,
  ]);
  const { sessionId, result } = await fixture.start({
    sessionId: 'parent',
    enableSpawnAgent: true,
    extensions: [counting],
  });
  expect(result).toMatchObject({
    text: 'Done.',
    iterations: 2,
    usage: { inputTokens: 400, outputTokens: 40 },
  });
  expect(JSON.stringify(fixture.service.requests()[2])).toContain('"text":"one"');
  expect(sessions).toEqual([sessionId]);
  expect(records).toEqual([
    ['spawn_agent', null, true],
    ['count', sessionId, true],
  ]);
  const texts = fixture
    .agentEvents()
    .flatMap((event) =>
      event.type === 'content_end' && 'text' in event ? [[event.text, event.parentAgentId]] : [],
    );
  expect(texts).toEqual([
    ['There is one.', sessionId],
    ['Done.', undefined],
  ]);
});
