import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findServers } from '../../../src/host/mcp/find-servers.ts';
import { type HookSearch, openHooks } from '../../../src/host/open-hooks.ts';
import { createHostProtectedPaths } from '../../../src/host/open-permissions.ts';
import { type AgentFixture, createAgentFixture } from '../../agent/agent-fixture.ts';
import { OWN, servers } from './run-with-servers.ts';

const CLINE = '.cline/data/settings/cline_mcp_settings.json';
const ENTRY = { command: 'none' };

function open(fixture: AgentFixture, env: Record<string, string> = {}, search: HookSearch = {}) {
  return openHooks({
    cwd: fixture.workspace,
    roots: [fixture.workspace],
    surroundings: {
      cwd: fixture.workspace,
      env: { HOME: fixture.home, ...env },
      home: fixture.home,
      platform: process.platform,
      nodePath: process.execPath,
    },
    ...search,
  });
}

function list(opened: ReturnType<typeof open>) {
  const { servers: found, broken } = findServers(opened, []);
  return {
    servers: found.map(({ config: { name, source }, withheld }) => [name, source, withheld()]),
    broken: broken.map(({ file, line, why }) => [path.basename(file), line, why]),
  };
}

function writeAll(fixture: AgentFixture): void {
  fixture.write(OWN, servers({ own: ENTRY }));
  fixture.write(
    '~/.claude.json',
    JSON.stringify({
      mcpServers: { claude: ENTRY },
      projects: {
        [fixture.workspace]: {
          mcpServers: { here: ENTRY, off: ENTRY },
          disabledMcpServers: ['off'],
        },
        [fixture.home]: { mcpServers: { elsewhere: ENTRY } },
      },
    }),
  );
  fixture.write(`~/${CLINE}`, servers({ cline: ENTRY }));
  fixture.write('~/.claude/settings.json', servers({ settings: ENTRY }));
  fixture.write('.claude/settings.local.json', servers({ local: ENTRY }));
}

const OF_FILES = (fixture: AgentFixture) => [
  ['here', 'local', null],
  [
    'off',
    'local',
    `disabled: "disabledMcpServers" in ${path.join(fixture.home, '.claude.json')} names it`,
  ],
];
const OF_USER = [
  ['own', 'user', null],
  ['claude', 'user', null],
  ['cline', 'user', null],
];

describe('servers of the user', () => {
  it('come before those of settings files of the same source', () => {
    const fixture = createAgentFixture();
    writeAll(fixture);
    expect(list(open(fixture))).toEqual({
      servers: [
        ...OF_FILES(fixture),
        ['local', 'local', 'untrusted: it was never trusted here'],
        ...OF_USER,
        ['settings', 'user', null],
      ],
      broken: [],
    });
  });

  it('do not depend on whose hooks the caller wants', () => {
    const fixture = createAgentFixture();
    writeAll(fixture);
    const withoutSettings = { servers: [...OF_FILES(fixture), ...OF_USER], broken: [] };
    expect(list(open(fixture, {}, { dialects: ['plugin'] }))).toEqual(withoutSettings);
    expect(list(open(fixture, {}, { dialects: [] }))).toEqual(withoutSettings);
  });

  it('are found while hooks are disabled', () => {
    const fixture = createAgentFixture();
    writeAll(fixture);
    const off = open(fixture, {}, { flags: { 'hooks.enabled': false } });
    expect(list(off)).toEqual(list(open(fixture)));
  });

  it('are read again at each start', () => {
    const fixture = createAgentFixture();
    const opened = open(fixture);
    const before = list(opened);
    writeAll(fixture);
    expect([before.servers, list(opened).servers]).toEqual([
      [],
      [...OF_FILES(fixture), ...OF_USER],
    ]);
  });

  it('are read where the environment moves their files', () => {
    const fixture = createAgentFixture();
    writeAll(fixture);
    fixture.write('~/moved/.claude.json', servers({ moved: ENTRY }));
    fixture.write('~/moved.json', servers({ movedToo: ENTRY }));
    const env = {
      CLAUDE_CONFIG_DIR: path.join(fixture.home, 'moved'),
      CLINE_MCP_SETTINGS_PATH: path.join(fixture.home, 'moved.json'),
    };
    expect(list(open(fixture, env)).servers).toEqual([
      ['local', 'local', 'untrusted: it was never trusted here'],
      ['own', 'user', null],
      ['moved', 'user', null],
      ['movedToo', 'user', null],
    ]);
  });

  it('are ignored in a file of the workspace', () => {
    const fixture = createAgentFixture();
    fixture.write('claude/.claude.json', servers({ planted: ENTRY }));
    fixture.write('cline.json', servers({ planted: ENTRY }));
    const env = {
      CLAUDE_CONFIG_DIR: path.join(fixture.workspace, 'claude'),
      CLINE_MCP_SETTINGS_PATH: path.join(fixture.workspace, 'cline.json'),
    };
    const why = `is ignored: it lies in the workspace ${fixture.workspace}`;
    expect(list(open(fixture, env))).toEqual({
      servers: [],
      broken: [
        ['.claude.json', 1, why],
        ['cline.json', 1, why],
      ],
    });
  });

  it('can only be changed with approval where their file was moved', () => {
    const fixture = createAgentFixture();
    const moved = path.join(fixture.home, 'moved.json');
    const protectedPaths = createHostProtectedPaths(
      open(fixture, { CLINE_MCP_SETTINGS_PATH: moved }),
    );
    const touched = [moved, `${moved}.txt`].map((file) => {
      const input = { file_path: file, content: '' };
      return protectedPaths.findTouched({ names: ['Write'], kind: 'edit', input, cwd: '/' });
    });
    expect(touched).toEqual([moved, null]);
  });

  it('are reported when a file cannot be parsed', () => {
    const fixture = createAgentFixture();
    fixture.write(OWN, '{\n"mcpServers": {\n');
    fixture.write(
      '~/.claude.json',
      `{"projects": {${JSON.stringify(fixture.workspace)}: "mcpServers"}, "mcpServers": 1}`,
    );
    fixture.write(`~/${CLINE}`, '\n["mcpServers"]');
    expect(list(open(fixture)).broken).toMatchInlineSnapshot(`
      [
        [
          "mcp.json",
          3,
          "expected JSON, found the end of the file at column 1 (missing }} at the end)",
        ],
        [
          ".claude.json",
          1,
          "expected an object, found the string "mcpServers"",
        ],
        [
          ".claude.json",
          1,
          ""mcpServers": expected an object of servers, found number 1",
        ],
        [
          "cline_mcp_settings.json",
          1,
          "expected an object, found array",
        ],
      ]
    `);
  });
});
