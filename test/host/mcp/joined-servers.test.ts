import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { McpServers } from '../../../src/host/mcp/mcp-servers.ts';
import { openHooks } from '../../../src/host/open-hooks.ts';
import { readPluginServers } from '../../../src/host/plugins/contributions/mcp-servers.ts';
import type { ServerConfig } from '../../../src/mcp/server-config.ts';
import { createAgentFixture, type AgentFixture } from '../../agent/agent-fixture.ts';
import { exampleEntry, serveExample } from '../../mcp/servers.ts';
import { pluginWith } from '../plugins/contributions/plugin-servers.ts';
import { OWN, servers } from './run-with-servers.ts';

function open(fixture: AgentFixture): { mcp: McpServers; notices: string[] } {
  const notices: string[] = [];
  const env = { PATH: process.env['PATH'], HOME: fixture.home };
  const opened = openHooks({
    cwd: fixture.workspace,
    roots: [fixture.workspace],
    surroundings: {
      cwd: fixture.workspace,
      env,
      home: fixture.home,
      platform: process.platform,
      nodePath: process.execPath,
    },
  });
  const mcp = new McpServers(opened, [], (text) => notices.push(text));
  onTestFinished(() => mcp.close());
  return { mcp, notices };
}

async function fromPlugin(transport: object, name = 'docs', more: object = {}) {
  const active = [await pluginWith('bringer', { name, transport, ...more })];
  const means = { findDirectory: () => null, env: {}, reservedNames: [] };
  return readPluginServers(active, means, () => undefined);
}

const example = (...args: readonly string[]): Promise<readonly ServerConfig[]> =>
  fromPlugin({ type: 'stdio', ...exampleEntry(...args) });

const toolsOf = (mcp: McpServers, name: string): number =>
  mcp.tools().filter(({ name: tool }) => tool.startsWith(`mcp__${name}__`)).length;

const { signal } = new AbortController();

describe('servers that plugins register', () => {
  it('exist until their plugin leaves: tools, prompts, resources and calls of hooks', async () => {
    const { mcp, notices } = open(createAgentFixture());
    await mcp.start();
    const joined = mcp.add(await example());
    await mcp.waitUntilSettled();
    const during = {
      tools: toolsOf(mcp, 'docs'),
      hasResources: mcp.tools().some(({ name }) => name === 'ReadMcpResourceTool'),
      commands: mcp.commands().length > 0,
      answer: await mcp.call(
        { server: 'docs', tool: 'environment', input: { name: 'HOME' } },
        signal,
      ),
      states: (await mcp.report()).statuses.map(({ config, state }) => [config.name, state]),
    };
    await joined.remove();
    const after = {
      tools: mcp.tools().length,
      commands: mcp.commands().length,
      answer: await mcp.call({ server: 'docs', tool: 'environment', input: {} }, signal),
      states: (await mcp.report()).statuses,
    };
    expect(during).toMatchObject({
      tools: 10,
      hasResources: true,
      commands: true,
      answer: { isError: false },
      states: [['docs', 'connected']],
    });
    expect([after, notices]).toEqual([{ tools: 0, commands: 0, answer: null, states: [] }, []]);
  });

  it('are shared by plugins that register the same, and end with the last of them', async () => {
    const { mcp } = open(createAgentFixture());
    const first = mcp.add(await example());
    const second = mcp.add(await example());
    await mcp.waitUntilSettled();
    await first.remove();
    await first.remove();
    expect(toolsOf(mcp, 'docs')).toBe(10);
    await second.remove();
    expect(toolsOf(mcp, 'docs')).toBe(0);
  });

  it('that a changed plugin registers differently replace those it registered before', async () => {
    const { mcp, notices } = open(createAgentFixture());
    const before = mcp.add(await fromPlugin({ type: 'stdio', ...exampleEntry() }));
    await mcp.waitUntilSettled();
    const after = mcp.add(
      await fromPlugin({ type: 'stdio', ...exampleEntry() }, 'docs', { env: { TOKEN: 'new' } }),
    );
    await mcp.waitUntilSettled();
    await before.remove();
    const call = { server: 'docs', tool: 'environment', input: { name: 'TOKEN' } };
    expect(await mcp.call(call, signal)).toEqual({ text: 'TOKEN=new', isError: false });
    await after.remove();
    expect([toolsOf(mcp, 'docs'), notices]).toEqual([0, []]);
  });

  it('that two plugins register under one name: the last counts as long as it is there, which is reported', async () => {
    const { mcp, notices } = open(createAgentFixture());
    mcp.add(await example());
    const [docs] = await fromPlugin({ type: 'stdio', command: '/no/such/program' });
    const other = mcp.add(docs === undefined ? [] : [{ ...docs, file: '/plugins/other' }]);
    await mcp.waitUntilSettled();
    expect(toolsOf(mcp, 'docs')).toBe(0);
    await other.remove();
    await mcp.waitUntilSettled();
    expect(toolsOf(mcp, 'docs')).toBe(10);
    expect(notices).toContain(
      'the MCP server docs (/plugins/other:1) replaces another one with this name',
    );
  });

  it('do not replace a configured server', async () => {
    const fixture = createAgentFixture();
    fixture.write(OWN, servers({ docs: exampleEntry() }));
    const { mcp, notices } = open(fixture);
    await mcp.start();
    expect(mcp.names()).toEqual(['docs']);
    mcp.add(await fromPlugin({ type: 'stdio', command: 'no-such-program' }));
    await mcp.waitUntilSettled();
    expect(toolsOf(mcp, 'docs')).toBe(10);
    expect(notices.at(-1)).toContain('is not started: another one has this name');
  });

  it('may be services, and expand no variables in their entry', async () => {
    const service = await serveExample();
    const { mcp } = open(createAgentFixture());
    const headers = { 'x-token': '${HOME}' };
    mcp.add(await fromPlugin({ type: 'streamableHttp', url: service.url, headers }));
    await mcp.waitUntilSettled();
    expect(toolsOf(mcp, 'docs')).toBe(10);
    expect(service.seen[0]).toMatchObject({ 'x-token': '${HOME}' });
  });

  it('get the variables that their plugin gave them', async () => {
    const { mcp } = open(createAgentFixture());
    const transport = { type: 'stdio', ...exampleEntry() };
    mcp.add(await fromPlugin(transport, 'docs', { env: { TOKEN: 'secret ${X}' } }));
    await mcp.waitUntilSettled();
    const call = { server: 'docs', tool: 'environment', input: { name: 'TOKEN' } };
    expect(await mcp.call(call, signal)).toEqual({ text: 'TOKEN=secret ${X}', isError: false });
  });

  it('that do not start are reported, and do not affect the others', async () => {
    const { mcp, notices } = open(createAgentFixture());
    mcp.add([
      ...(await fromPlugin({ type: 'stdio', command: path.resolve('/no/such/program') }, 'gone')),
      ...(await example()),
    ]);
    await mcp.waitUntilSettled();
    expect([toolsOf(mcp, 'docs'), toolsOf(mcp, 'gone')]).toEqual([10, 0]);
    expect(notices).toEqual([
      expect.stringMatching(/^the MCP server gone is not connected: .*no\/such\/program/),
    ]);
  });

  it('that are added and removed at once leave nothing behind', async () => {
    const { mcp } = open(createAgentFixture());
    await mcp.add(await example()).remove();
    await mcp.waitUntilSettled();
    expect((await mcp.report()).statuses).toEqual([]);
  });
});
