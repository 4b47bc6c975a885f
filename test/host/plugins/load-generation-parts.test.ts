import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { AgentPlugin } from '../../../src/plugins/contract/plugin.ts';
import { exampleEntry } from '../../mcp/servers.ts';
import {
  noticesIn,
  answers,
  call,
  createSdkFixture,
  DONE,
  toolPlugin,
} from '../../compat/cline/sdk-fixture.ts';
import { createAgentFixture } from '../../agent/agent-fixture.ts';
import { answersIn, calls, createModelRecorder } from '../../agent/scripted-session.ts';

function bringing(server: object, name = 'bringer'): AgentPlugin {
  return {
    name,
    manifest: { capabilities: ['mcp'] },
    setup: (api) => api.registerMcpServer(server as never),
  };
}

it('MCP servers of plugins serve the session from its first request on', async () => {
  const fixture = await createSdkFixture([
    call('mcp__docs__environment', { name: 'DOCS_TOKEN' }),
    DONE,
  ]);
  const server = {
    name: 'docs',
    transport: { type: 'stdio', ...exampleEntry() },
    env: { DOCS_TOKEN: { fromEnv: 'NOT_SET_ANYWHERE', value: 'given' } },
  };
  const pigeon = { name: 'pigeon', transport: { type: 'sse', url: 'https://example.test' } };
  const { result } = await fixture.start({
    extensions: [bringing(server), bringing(pigeon, 'other')],
  });
  expect([result?.text, answers(fixture)]).toEqual(['Done.', ['DOCS_TOKEN=given']]);
  expect(fixture.service.requests()[0]?.tools).toContain('docs__environment');
  expect(noticesIn(fixture)).toEqual([
    expect.stringContaining(
      'plugin other: the MCP server "pigeon" is left out: its transport is "sse"',
    ),
  ]);
});

it('skills of a package are offered, and used by name', async () => {
  const fixture = await createSdkFixture([call('skills', { skill: 'ship' }), DONE]);
  const root = path.join(fixture.home, 'package');
  mkdirSync(path.join(root, 'skills/ship'), { recursive: true });
  const manifest = {
    name: 'shipper',
    version: '1.0.0',
    cline: { plugins: [{ paths: ['./index.ts'] }] },
  };
  writeFileSync(path.join(root, 'package.json'), JSON.stringify(manifest));
  writeFileSync(
    path.join(root, 'index.ts'),
    'export default { name: "shipper", manifest: { capabilities: ["skills"] } };',
  );
  writeFileSync(
    path.join(root, 'skills/ship/SKILL.md'),
    '---\nname: ship\ndescription: Ships things\n---\nTie a knot first.\n',
  );
  const { result } = await fixture.start({ pluginPaths: [root] });
  expect(result?.text).toBe('Done.');
  expect(answers(fixture).join()).toContain('Tie a knot first.');
});

it('a tool named like one of Hookline’s own is left out of any session, with a notice about its plugin', async () => {
  const fixture = createAgentFixture();
  const notices: string[] = [];
  const chat = createModelRecorder([calls(['Bash', { command: 'echo mine' }]), { text: 'Done.' }]);
  const host = await fixture.open({
    model: chat.model,
    permissionMode: 'bypassPermissions',
    plugins: { objects: [toolPlugin('Bash', () => 'not the shell')], discovers: false },
    onNotice: (text) => notices.push(text),
  });
  await host.start({ prompt: 'go' });
  expect(answersIn(chat)).toEqual(['mine']);
  expect(notices.filter((text) => text.includes('Bash'))).toEqual([
    "plugin Bash-plugin: the tool Bash is left out: one of Hookline's own has this name; give it another one",
  ]);
});
