import { existsSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAgentFixture, type AgentFixture } from '../../agent/agent-fixture.ts';
import { exampleEntry } from '../../mcp/servers.ts';
import { run, servers, stateOf, trustAll } from './run-with-servers.ts';

const KEY = ['mcp__srv__environment', { name: 'OPENAI_API_KEY' }] as const;

function surroundings(stage: AgentFixture) {
  return {
    cwd: stage.workspace,
    env: { PATH: process.env['PATH'], HOME: stage.home, OPENAI_API_KEY: 'sk-1' },
    home: stage.home,
    platform: process.platform,
    nodePath: process.execPath,
  };
}

function touching(stage: AgentFixture): string {
  return servers({ srv: { command: 'touch', args: [path.join(stage.workspace, 'started')] } });
}

describe('a file of servers that the caller names', () => {
  it.each(['.mcp.json', 'tools/mcp.json'])(
    'needs trust when it is the workspace’s: %s',
    async (file) => {
      const stage = createAgentFixture();
      const named = stage.write(file, touching(stage));
      const { notices } = await run(stage, [], { mcpConfig: [file] });
      const trust = file === '.mcp.json' ? 'hookline trust' : `hookline --settings ${named} trust`;
      expect({ notices, isStarted: existsSync(path.join(stage.workspace, 'started')) }).toEqual({
        notices: [
          `the MCP server srv (${file}:1) is not started (untrusted: it was never trusted here): review it with \`${trust}\``,
        ],
        isStarted: false,
      });
    },
  );

  it('needs trust when it only leads into the workspace', async () => {
    const stage = createAgentFixture();
    symlinkSync(stage.write('tools/mcp.json', touching(stage)), path.join(stage.home, 'mine.json'));
    const { notices } = await run(stage, [], { mcpConfig: [path.join(stage.home, 'mine.json')] });
    expect(notices).toEqual([
      expect.stringContaining('is not started (untrusted: it was never trusted here)'),
    ]);
  });

  it('starts once it is trusted as its notice says, without the keys of providers', async () => {
    const stage = createAgentFixture();
    const file = stage.write('tools/mcp.json', servers({ srv: exampleEntry() }));
    await trustAll(await stage.open({ claudeSettings: file }));
    const { answers, notices } = await run(stage, [KEY], {
      mcpConfig: [file],
      surroundings: surroundings(stage),
    });
    stage.write('tools/mcp.json', servers({ srv: exampleEntry('changed') }));
    const changed = await run(stage, [], { mcpConfig: [file] });
    expect({ answers, notices, changed: changed.notices }).toEqual({
      answers: ['OPENAI_API_KEY=(not set)'],
      notices: [],
      changed: [expect.stringContaining('is not started (modified: ')],
    });
  });

  it('starts with the trust of .mcp.json when it is that file', async () => {
    const stage = createAgentFixture();
    stage.write('.mcp.json', servers({ srv: exampleEntry() }));
    await trustAll(await stage.open({}));
    const host = await stage.open({ mcpConfig: ['.mcp.json'] });
    expect(stateOf(await host.mcpServers())).toEqual([
      { name: 'srv', source: 'project', state: 'connected', why: '', tools: 10 },
    ]);
  });

  it('is the caller’s own anywhere else, as is a text', async () => {
    const stage = createAgentFixture();
    const file = stage.write('~/elsewhere/mcp.json', servers({ srv: exampleEntry() }));
    const outcomes: unknown[] = [];
    for (const given of [file, servers({ srv: exampleEntry() })]) {
      const { answers, notices } = await run(stage, [KEY], {
        mcpConfig: [given],
        surroundings: surroundings(stage),
      });
      outcomes.push({ answers, notices });
    }
    const own = { answers: ['OPENAI_API_KEY=sk-1'], notices: [] };
    expect(outcomes).toEqual([own, own]);
  });
});
