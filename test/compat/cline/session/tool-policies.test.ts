import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolApprovalRequest } from '../../../../src/compat/cline/start-input.ts';
import { exampleEntry } from '../../../mcp/servers.ts';
import {
  answers,
  call,
  createSdkFixture,
  DONE,
  type SdkFixture,
  toolPlugin,
} from '../sdk-fixture.ts';

/** The user has a server of the name `srv`, whose tools and resources are those of the example. */
function haveServer({ home }: SdkFixture): void {
  const directory = path.join(home, '.hookline');
  mkdirSync(directory, { recursive: true });
  const text = JSON.stringify({ mcpServers: { srv: exampleEntry() } });
  writeFileSync(path.join(directory, 'mcp.json'), text);
}

const offered = ({ service }: SdkFixture): readonly string[] => service.requests()[0]?.tools ?? [];

const ofServer = (fixture: SdkFixture): readonly string[] =>
  offered(fixture).filter((name) => /srv__|Mcp/.test(name));

const BUILT_IN = [
  'read_files',
  'search_codebase',
  'run_commands',
  'fetch_web_content',
  'editor',
  'apply_patch',
  'skills',
];

describe('tools of MCP servers', () => {
  it('are offered as server__tool, also with the first prompt of a program that can be asked', async () => {
    const fixture = await createSdkFixture([call('srv__echo', { text: 'hi' }), DONE], {
      capabilities: { requestToolApproval: () => ({ approved: true }) },
    });
    haveServer(fixture);
    await fixture.start();
    expect(ofServer(fixture)).toContain('srv__echo');
    expect(ofServer(fixture).filter((name) => name.startsWith('mcp__'))).toEqual([]);
    expect(answers(fixture)).toEqual(['echo: hi']);
  });

  it.each(['srv__echo', 'mcp__srv__echo', 'use_mcp_tool'])(
    'are not offered when a policy disables %s',
    async (name) => {
      const fixture = await createSdkFixture([DONE], {
        toolPolicies: { [name]: { enabled: false } },
      });
      haveServer(fixture);
      await fixture.start();
      expect(ofServer(fixture)).not.toContain('srv__echo');
    },
  );

  it.each(['srv__echo', 'mcp__srv__echo'])(
    'need the approval that a policy of %s wants, under whichever name they are called',
    async (name) => {
      const approvalRequests: ToolApprovalRequest[] = [];
      const input = { text: 'hi' };
      const fixture = await createSdkFixture(
        [
          call('srv__echo', input),
          call('mcp__srv__echo', input),
          call('use_mcp_tool', { server_name: 'srv', tool_name: 'echo', arguments: input }),
          DONE,
        ],
        {
          toolPolicies: { [name]: { autoApprove: false } },
          capabilities: {
            requestToolApproval(request) {
              approvalRequests.push(request);
              return { approved: false };
            },
          },
        },
      );
      haveServer(fixture);
      await fixture.start();
      expect(approvalRequests.map(({ toolName, policy }) => [toolName, policy])).toEqual(
        ['srv__echo', 'mcp__srv__echo', 'use_mcp_tool'].map((called) => [
          called,
          { autoApprove: false },
        ]),
      );
      expect(new Set(answers(fixture))).toEqual(new Set(['The user denied this call.']));
    },
  );

  it('are removed by disableMcpSettingsTools, with their resources', async () => {
    const fixture = await createSdkFixture([DONE]);
    haveServer(fixture);
    await fixture.start({ disableMcpSettingsTools: true });
    expect(offered(fixture)).toEqual(BUILT_IN);
  });

  it('are removed with the built-in ones by enableTools: false; those of plugins stay', async () => {
    const fixture = await createSdkFixture([DONE]);
    haveServer(fixture);
    await fixture.start({ enableTools: false, extensions: [toolPlugin('mine', () => 'ran')] });
    expect(offered(fixture)).toEqual(['mine']);
  });

  it('keep their name before a plugin’s tool that is called the same', async () => {
    const fixture = await createSdkFixture([call('srv__echo', { text: 'server' }), DONE]);
    haveServer(fixture);
    await fixture.start({ extensions: [toolPlugin('srv__echo', () => 'plugin')] });
    expect(offered(fixture).filter((name) => name === 'srv__echo')).toEqual(['srv__echo']);
    expect(answers(fixture)).toEqual(['echo: server']);
  });
});

describe('policies', () => {
  it.each([
    ['editor', 'apply_patch'],
    ['apply_patch', 'editor'],
  ])('that disable %s leave %s', async (disabled, left) => {
    const fixture = await createSdkFixture([DONE]);
    await fixture.start({ toolPolicies: { [disabled]: { enabled: false } } });
    expect(offered(fixture)).toEqual(BUILT_IN.filter((name) => name !== disabled));
    expect(offered(fixture)).toContain(left);
  });

  it('of editor do not cover apply_patch, which makes files all the same', async () => {
    const patch = '*** Begin Patch\n*** Add File: a.txt\n+hello\n*** End Patch';
    const fixture = await createSdkFixture([
      call('apply_patch', { input: patch }),
      call('Write', { file_path: 'b.txt', content: 'x' }),
      DONE,
    ]);
    await fixture.start({ toolPolicies: { editor: { enabled: false } } });
    expect(readFileSync(path.join(fixture.workspace, 'a.txt'), 'utf8')).toBe('hello\n');
    expect(answers(fixture)[1]).toBe('Tool "editor" is disabled by policy');
  });

  it.each([
    [{ run_commands: { enabled: false } }, 'Bash', { command: 'echo hi' }],
    [{ Bash: { enabled: false } }, 'run_commands', { commands: ['echo hi'] }],
    [{ execute_command: { enabled: false } }, 'run_commands', { commands: ['echo hi'] }],
    [
      { '*': { enabled: false }, read_files: { enabled: true } },
      'run_commands',
      { commands: ['echo hi'] },
    ],
    [
      { Bash: { enabled: false }, run_commands: { enabled: true } },
      'run_commands',
      { commands: ['echo hi'] },
    ],
  ])('%j keep %s from running, and it is not offered', async (toolPolicies, name, input) => {
    const fixture = await createSdkFixture([call(name, input), DONE]);
    await fixture.start({ toolPolicies });
    expect(offered(fixture)).toContain('read_files');
    expect(offered(fixture)).not.toContain('run_commands');
    expect(answers(fixture)[0]).toMatch(/There is no tool named|is disabled by policy/);
  });

  it.each([{ approved: 'yes' }, { approved: 1 }, undefined, null])(
    'treat %j as no approval',
    async (input) => {
      const fixture = await createSdkFixture(
        [call('run_commands', { commands: ['echo hi'] }), DONE],
        {
          toolPolicies: { run_commands: { autoApprove: false } },
          capabilities: { requestToolApproval: () => input as never },
        },
      );
      await fixture.start();
      expect(answers(fixture)).toEqual(['The user denied this call.']);
    },
  );
});
