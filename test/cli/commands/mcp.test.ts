import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { exampleEntry } from '../../mcp/servers.ts';
import { jsonOf, runHookline } from '../hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, trust, write } from '../temp-workspace.ts';

const { command, args } = exampleEntry();
const EXAMPLE = [command, ...args];

function ownFile({ home }: TempWorkspace): string {
  return path.join(home, '.hookline', 'mcp.json');
}

function run(
  workspace: TempWorkspace,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  return runHookline(['mcp', ...words], at(workspace, { env }));
}

describe('hookline mcp add', () => {
  it('writes the user’s own servers into a private file', async () => {
    const workspace = createTempWorkspace();
    const results = [
      await run(workspace, [
        'add',
        'files',
        '--env',
        'A=b=c',
        '--',
        'npx',
        '-y',
        'files',
        '--root',
        '.',
      ]),
      await run(workspace, [
        'add',
        'docs',
        '--url',
        'https://example.org/mcp',
        '--header',
        'X-Key: ${KEY}',
      ]),
    ];
    expect(results.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
      { code: 0, stderr: '' },
      { code: 0, stderr: '' },
    ]);
    expect(JSON.parse(readFileSync(ownFile(workspace), 'utf8'))).toEqual({
      mcpServers: {
        files: { command: 'npx', args: ['-y', 'files', '--root', '.'], env: { A: 'b=c' } },
        docs: { type: 'http', url: 'https://example.org/mcp', headers: { 'X-Key': '${KEY}' } },
      },
    });
    expect(statSync(ownFile(workspace)).mode & 0o777).toBe(0o600);
  });

  it('writes shared servers into .mcp.json, which then has to be reviewed', async () => {
    const workspace = createTempWorkspace({ '.mcp.json': '{\n  // ours\n  "mcpServers": {}\n}\n' });
    const added = await run(workspace, ['add', 'team', '--scope', 'project', '--', 'serve']);
    expect(added).toEqual({
      code: 0,
      stdout: `Added the MCP server team to ${workspace.repo}/.mcp.json.\n`,
      stderr: 'It needs review before it starts: run `hookline trust`\n',
    });
    expect(readFileSync(path.join(workspace.repo, '.mcp.json'), 'utf8')).toBe(
      '{\n  // ours\n  "mcpServers": {\n    "team": {\n      "command": "serve"\n    }\n  }\n}\n',
    );
  });

  it.each([
    [['add', 'x'], 'expected either a command after `--`, or --url'],
    [
      ['add', 'x', '--url', 'https://a.b', '--', 'c'],
      'expected either a command after `--`, or --url',
    ],
    [['add', 'x', '--url', 'ftp://a.b'], '--url must be an http or https URL, found "ftp://a.b"'],
    [['add', 'x', '--env', 'A', '--', 'c'], '--env must be NAME=VALUE, found "A"'],
    [
      ['add', 'my files', '--', 'c'],
      'a server name must consist of letters, digits, dashes and underscores, found "my files"',
    ],
    [['add', 'x', '--header', 'A:b', '--', 'c'], '--header requires --url'],
  ])('refuses %j', async (words, message) => {
    const { code, stderr } = await run(createTempWorkspace(), words);
    expect({ code, stderr: stderr.split('\n')[0] }).toEqual({
      code: 2,
      stderr: `hookline: mcp add: ${message}`,
    });
  });

  it('refuses a second server of one name, and to run inside a session', async () => {
    const workspace = createTempWorkspace();
    await run(workspace, ['add', 'one', '--', 'x']);
    const [again, inside] = [
      await run(workspace, ['add', 'one', '--', 'y']),
      await run(workspace, ['add', 'two', '--', 'x'], { HOOKLINE_SESSION: 's' }),
    ];
    expect([again.stderr.split('\n')[0], inside.stderr.split('\n')[0]]).toEqual([
      `hookline: ${ownFile(workspace)}: MCP server "one" already exists`,
      'hookline: `hookline mcp add` cannot run inside an agent session or a hook: HOOKLINE_SESSION is set',
    ]);
  });
});

describe('hookline mcp rm', () => {
  it('takes a server out and leaves the rest', async () => {
    const workspace = createTempWorkspace({
      '.mcp.json': '{ "mcpServers": { "a": {}, "b": { "command": "x" } } }',
    });
    const removed = await run(workspace, ['rm', 'a', '--json']);
    expect(jsonOf(removed)).toEqual({
      removed: { name: 'a', file: path.join(workspace.repo, '.mcp.json') },
    });
    expect(readFileSync(path.join(workspace.repo, '.mcp.json'), 'utf8')).toBe(
      '{ "mcpServers": { "b": { "command": "x" } } }',
    );
  });

  it('names the file of a server that it may not remove, and suggests a similar name', async () => {
    const workspace = createTempWorkspace();
    write(
      workspace.home,
      '.claude.json',
      JSON.stringify({ mcpServers: { files: { command: 'x' } } }),
    );
    const [foreign, unknown] = [
      await run(workspace, ['rm', 'files']),
      await run(workspace, ['rm', 'filez']),
    ];
    expect([foreign.stderr, unknown.stderr]).toEqual([
      'hookline: the MCP server "files" is configured in ~/.claude.json:1, which belongs to another program\n  Remove it there.\n',
      'hookline: MCP server "filez" not found\n  Did you mean files?\n',
    ]);
    const files = [ownFile(workspace), path.join(workspace.repo, '.mcp.json')];
    expect(files.map((file) => existsSync(file))).toEqual([false, false]);
  });
});

describe('hookline mcp list', () => {
  it('prints for every server whether it may start, whether it answers, and its tools', async () => {
    const workspace = createTempWorkspace({
      '.mcp.json': JSON.stringify({ mcpServers: { ours: { command, args }, odd: 7 } }),
    });
    await run(workspace, ['add', 'mine', '--', ...EXAMPLE]);
    await run(workspace, ['add', 'gone', '--', 'no-such-program']);
    const before = await run(workspace, ['list']);
    trust(workspace);
    const after = jsonOf(await run(workspace, ['list', '--json']));
    const runs = EXAMPLE.join(' ');
    const tools = 'echo, fail, environment, picture, big, die, hang, grow, ask, ask-url';
    expect({ ...before, stdout: before.stdout.split('\n\n') }).toEqual({
      code: 0,
      stderr: '',
      stdout: [
        `ours  withheld: untrusted: it was never trusted here\n  project · .mcp.json:1 · stdio ${runs}`,
        `mine  connected\n  user · ~/.hookline/mcp.json:3 · stdio ${runs}\n  10 tools: ${tools}`,
        'gone  failed: Could not start no-such-program: no program of this name is on the PATH.\n  user · ~/.hookline/mcp.json:9 · stdio no-such-program',
        'broken  .mcp.json:1: the MCP server "odd": expected an object, found number 7',
        '1 server needs review: run `hookline trust`\n',
      ],
    });
    expect(after).toEqual({
      servers: [
        expect.objectContaining({ name: 'ours', state: 'connected', tools: tools.split(', ') }),
        expect.objectContaining({ name: 'mine', state: 'connected' }),
        expect.objectContaining({ name: 'gone', state: 'failed' }),
      ],
      broken: [expect.objectContaining({ name: 'odd', line: 1 })],
    });
  });

  it('says so when there is none', async () => {
    expect(await run(createTempWorkspace(), ['list'])).toEqual({
      code: 0,
      stdout: 'No MCP servers configured.\nAdd one with `hookline mcp add NAME -- COMMAND`.\n',
      stderr: '',
    });
  });
});

describe('hookline trust', () => {
  it('shows a server beside hooks, with the files that it names', async () => {
    const workspace = createTempWorkspace({
      '.mcp.json': JSON.stringify({
        mcpServers: { ours: { command: 'node', args: ['serve.mjs'] } },
      }),
      'serve.mjs': 'process.exit(0);\n',
    });
    const { stdout } = await runHookline(['trust', '--yes'], at(workspace));
    expect(stdout.split('\n').slice(0, 5)).toEqual([
      'claude:project:mcp:ours  untrusted: it was never trusted here',
      `  file      ${workspace.repo}/.mcp.json:1`,
      '  starts    with every session, as an MCP server',
      '  binds     this entry, serve.mjs',
      '  not bound node (interpreter)',
    ]);
  });
});
