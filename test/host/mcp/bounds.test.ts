import { describe, expect, it } from 'vitest';
import { createAgentFixture } from '../../agent/agent-fixture.ts';
import { createModelRecorder } from '../../agent/scripted-session.ts';
import { badEntry, exampleEntry } from '../../mcp/servers.ts';
import { bypass, OWN, run, servers } from './run-with-servers.ts';

const user = {
  approve: async () => ({ isAllowed: true }),
  answer: async () => null,
} as const;

describe('what a server gives', () => {
  it('leaves out a tool whose name services refuse, with a notice', async () => {
    const fixture = createAgentFixture();
    fixture.write(OWN, servers({ odd: badEntry('odd-tools') }));
    const { notices, requests } = await run(fixture, []);
    const offered = requests[0]?.tools.map(({ name }) => name) ?? [];
    expect({
      offered: offered.filter((name) => name.startsWith('mcp__')),
      notices: notices.filter((text) => text.includes('left out')),
    }).toEqual({
      offered: ['wrong-type', 'wrong-property', 'wrong-part', 'newer'].map(
        (name) => `mcp__odd__${name}`,
      ),
      notices: [
        `the MCP tool mcp__odd__${'x'.repeat(80)} is left out: services accept names of at most 64 characters`,
      ],
    });
  });

  it('bounds the text of a prompt', async () => {
    const fixture = createAgentFixture();
    fixture.write(OWN, servers({ odd: badEntry('fine') }));
    const chat = createModelRecorder([{ text: 'Fine.' }]);
    const host = await fixture.open({ model: chat.model, ...bypass });
    await host.start({ prompt: '/mcp__odd__long' });
    const lastBlock = chat.requests[0]?.messages.at(-1)?.content.at(-1);
    expect(lastBlock?.type === 'text' && lastBlock.text.length < 40_000).toBe(true);
  });
});

describe('the first prompt', () => {
  it.each([
    [{ person: user }, false],
    [{ person: user, waitsForServers: true }, true],
    [{}, true],
    [{ waitsForServers: false }, false],
  ])('with %j waits for servers: %s', async (options, waits) => {
    const fixture = createAgentFixture();
    fixture.write(OWN, servers({ srv: exampleEntry() }));
    const { requests } = await run(fixture, [], options);
    const offered = requests[0]?.tools.map(({ name }) => name) ?? [];
    expect(offered.includes('mcp__srv__echo')).toBe(waits);
  });
});
