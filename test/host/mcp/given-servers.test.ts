import { existsSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAgentFixture, type AgentFixture } from '../../agent/agent-fixture.ts';
import { exampleEntry } from '../../mcp/servers.ts';
import { run, servers, stateOf, trustAll } from './run-with-servers.ts';

const KEY = ['mcp__srv__environment', { name: 'OPENAI_API_KEY' }] as const;

function surroundings(fixture: AgentFixture) {
  return {
    cwd: fixture.workspace,
    env: { PATH: process.env['PATH'], HOME: fixture.home, OPENAI_API_KEY: 'sk-1' },
    home: fixture.home,
    platform: process.platform,
    nodePath: process.execPath,
  };
}

function touching(fixture: AgentFixture): string {
  return servers({ srv: { command: 'touch', args: [path.join(fixture.workspace, 'started')] } });
}

describe('a file of servers that the caller names', () => {
  it.each(['.mcp.json', 'tools/mcp.json'])(
    'needs trust when it is the workspace’s: %s',
    async (file) => {
      const fixture = createAgentFixture();
      const configFile = fixture.write(file, touching(fixture));
      const { notices } = await run(fixture, [], { mcpConfig: [file] });
      const trust =
        file === '.mcp.json' ? 'hookline trust' : `hookline --settings ${configFile} trust`;
      expect({ notices, isStarted: existsSync(path.join(fixture.workspace, 'started')) }).toEqual({
        notices: [
          `the MCP server srv (${file}:1) is not started (untrusted: it was never trusted here): review it with \`${trust}\``,
        ],
        isStarted: false,
      });
    },
  );

  it('needs trust when it only leads into the workspace', async () => {
    const fixture = createAgentFixture();
    symlinkSync(
      fixture.write('tools/mcp.json', touching(fixture)),
      path.join(fixture.home, 'mine.json'),
    );
    const { notices } = await run(fixture, [], {
      mcpConfig: [path.join(fixture.home, 'mine.json')],
    });
    expect(notices).toEqual([
      expect.stringContaining('is not started (untrusted: it was never trusted here)'),
    ]);
  });

  it('starts once it is trusted as its notice says, without the keys of providers', async () => {
    const fixture = createAgentFixture();
    const file = fixture.write('tools/mcp.json', servers({ srv: exampleEntry() }));
    await trustAll(await fixture.open({ claudeSettings: file }));
    const { answers, notices } = await run(fixture, [KEY], {
      mcpConfig: [file],
      surroundings: surroundings(fixture),
    });
    fixture.write('tools/mcp.json', servers({ srv: exampleEntry('changed') }));
    const changed = await run(fixture, [], { mcpConfig: [file] });
    expect({ answers, notices, changed: changed.notices }).toEqual({
      answers: ['OPENAI_API_KEY=(not set)'],
      notices: [],
      changed: [expect.stringContaining('is not started (modified: ')],
    });
  });

  it('starts with the trust of .mcp.json when it is that file', async () => {
    const fixture = createAgentFixture();
    fixture.write('.mcp.json', servers({ srv: exampleEntry() }));
    await trustAll(await fixture.open({}));
    const host = await fixture.open({ mcpConfig: ['.mcp.json'] });
    expect(stateOf(await host.mcpServers())).toEqual([
      { name: 'srv', source: 'project', state: 'connected', why: '', tools: 10 },
    ]);
  });

  it('is the caller’s own anywhere else, as is a text', async () => {
    const fixture = createAgentFixture();
    const file = fixture.write('~/elsewhere/mcp.json', servers({ srv: exampleEntry() }));
    const outcomes: unknown[] = [];
    for (const input of [file, servers({ srv: exampleEntry() })]) {
      const { answers, notices } = await run(fixture, [KEY], {
        mcpConfig: [input],
        surroundings: surroundings(fixture),
      });
      outcomes.push({ answers, notices });
    }
    const own = { answers: ['OPENAI_API_KEY=sk-1'], notices: [] };
    expect(outcomes).toEqual([own, own]);
  });
});
