import { describe, expect, it } from 'vitest';
import { type HooklineResult, runHookline } from './hookline.ts';
import { runInProcess } from './in-process.ts';
import {
  answering,
  at,
  createTempWorkspace,
  HOOKS,
  type TempWorkspace,
  write,
} from './temp-workspace.ts';

const SETTINGS = {
  permissions: { deny: ['Read(./secrets/**)'] },
  hooks: {
    PreToolUse: [
      {
        matcher: 'Bash',
        hooks: [
          { type: 'command', command: 'echo no >&2; exit 2' },
          { type: 'command', command: 'true', timeout: 5 },
        ],
      },
    ],
    Stop: [{ hooks: [{ type: 'comand', command: 'true' }] }],
  },
};
const PLUGIN = `export default { name: 'kit', manifest: { capabilities: ['tools', 'hooks'] },
  setup(api) { api.registerTool({ name: 'greet', description: 'Greets.', inputSchema: { type: 'object' }, execute: () => 'hello' }); },
  hooks: { beforeTool() {} } };`;
const CASE = {
  about: 'is refused',
  fire: { event: 'PreToolUse', tool: 'Bash', input: { command: 'ls' } },
  expect: { effect: 'deny' },
};
const TURNS = [{ tools: [{ name: 'Read', input: { file_path: 'notes.txt' } }] }, { text: 'Done.' }];

function createExample(): TempWorkspace {
  const workspace = createTempWorkspace({
    [`${HOOKS}/PreToolUse`]: answering({ cancel: true, errorMessage: 'not today' }),
    [`${HOOKS}/UserPromptSubmit`]: answering({ contextModification: 'by the way' }),
    [`${HOOKS}/Unheard`]: 'x',
    '.claude/settings.json': JSON.stringify(SETTINGS),
    '.mcp.json': JSON.stringify({ mcpServers: { files: { command: 'node', args: ['x.mjs'] } } }),
    'notes.txt': 'hello\n',
    'turns.json': JSON.stringify(TURNS),
    'cases/one/case.json': JSON.stringify(CASE),
  });
  write(workspace.home, '.cline/plugins/kit.mjs', PLUGIN);
  return workspace;
}

/** What differs from run to run without meaning anything. */
function plain({ code, stdout, stderr }: HooklineResult, { directory }: TempWorkspace) {
  const [out, err] = [stdout, stderr].map((text) =>
    text
      .replaceAll(directory, 'PLACE')
      // Said of a hook that took more than a second.
      .replaceAll(/^slowest: .*\n/gmu, '')
      .replaceAll(/hookline-demo-\w+/gu, 'DEMO')
      .replaceAll(/\b\d+(?:\.\d+)? m?s\b/gu, 'TIME')
      .replaceAll(/ {2,}(?=TIME|P\d\d|MAX)/gu, '  ')
      .replaceAll(/"(\w*(?:Ms|At|Time|at|time|timestamp|taskId))":( ?)"?[\d.]+"?/gu, '"$1":$20')
      .replaceAll(/\b[0-9A-Z]{26}\b|\b[0-9a-f]{64}\b|\b[0-9a-f-]{36}\b|^[0-9a-f]{8}\b/gmu, 'ID')
      .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?/gu, 'DATE'),
  );
  return { code, stdout: out, stderr: err };
}

const bash = ['--tool', 'Bash', '--input', '{"command":"ls"}'];
const writing = ['--tool', 'Write', '--input', '{"file_path":"a","content":"b"}'];
const SEQUENCES: readonly (readonly string[])[][] = [
  [
    ['hooks', 'list'],
    ['hooks', 'list', '--json'],
    ['trust', '--yes'],
    ['hooks', 'list'],
    ['hooks', 'list', '--json'],
  ],
  [
    ['trust', '--yes', '--json'],
    ['hooks', 'explain', 'PreToolUse', ...bash],
    ['hooks', 'explain', 'PreToolUse', ...bash, '--json'],
    ['hooks', 'explain', 'Stop'],
  ],
  [
    ['trust', '--yes'],
    // One hook alone: of several, now one and now another is the slowest.
    ['hooks', 'fire', 'PreToolUse', ...writing],
    ['hooks', 'fire', 'PreToolUse', ...writing, '--json'],
    ['hooks', 'stats'],
    ['hooks', 'stats', '--json'],
    ['hooks', 'fire', 'UserPromptSubmit', '--prompt', 'hi', '--debug'],
  ],
  [['trust', '--yes'], ['untrust'], ['hooks', 'list', '--strict'], ['lock'], ['lock', '--json']],
  [
    ['hooks', 'disable', 'cline:workspace:PreToolUse'],
    ['hooks', 'list', '--json'],
    ['hooks', 'enable', 'cline:workspace:PreToolUse'],
    ['hooks', 'rm', 'cline:workspace:UserPromptSubmit', '--yes'],
    ['hooks', 'disable', 'nobody'],
  ],
  [
    ['hooks', 'new', 'PostToolUse', '--dialect', 'cline', '--lang', 'bash'],
    ['hooks', 'new', 'PostToolUse', '--dialect', 'cline', '--lang', 'bash'],
    ['hooks', 'new', 'Stop', '--dialect', 'claude', '--lang', 'node'],
    ['hooks', 'new', 'own', '--dialect', 'plugin'],
  ],
  [
    ['hooks', 'import', '--from', 'claude', '--yes'],
    ['hooks', 'import', '--from', 'claude', '--json'],
  ],
  [
    ['trust', '--yes'],
    ['hooks', 'test', 'cases'],
    ['hooks', 'test', 'cases', '--json'],
  ],
  [
    ['mcp', 'list'],
    ['mcp', 'list', '--json'],
    ['mcp', 'add', 'other', '--', 'node', 'y.mjs'],
    ['mcp', 'list'],
    ['mcp', 'rm', 'other'],
    ['mcp', 'rm', 'other'],
  ],
  [
    ['plugin', 'list', '--no-load'],
    ['plugin', 'list', '--no-load', '--json'],
    ['plugin', 'disable', 'kit'],
    ['plugin', 'enable', 'kit'],
    ['plugin', 'uninstall', 'nobody'],
    ['plugin', 'update'],
  ],
  [['doctor'], ['doctor', '--json']],
  [
    ['run', '--script', 'turns.json', 'read'],
    ['run', '--script', 'turns.json', '--output', 'json', 'read'],
    ['run', '--script', 'turns.json', '--output', 'stream-json', 'read'],
    ['sessions', 'list'],
    ['sessions', 'list', '--json'],
    ['sessions', 'show', 'nobody'],
    ['sessions', 'rm', 'nobody', '--yes'],
  ],
  [
    ['run', '--script', 'nowhere.json', 'go'],
    ['run', '--resume', 'nobody', 'go'],
    ['hooks', 'fire', 'Nothing'],
    ['hooks', 'list', '--cwd', 'nowhere'],
    ['chat', '--script', 'turns.json'],
    ['lock', '--lock-sha256', 'x'],
  ],
  [['demo'], ['demo', '--json']],
];

describe('the sources answer as the built program does', () => {
  it.each(
    SEQUENCES.map((sequence): [string, readonly (readonly string[])[]] => [
      sequence.map((words) => words.join(' ')).join(', '),
      sequence,
    ]),
  )('%s', async (_name, sequence) => {
    const [built, own] = [createExample(), createExample()];
    for (const args of sequence) {
      const expected = plain(await runHookline(args, at(built)), built);
      expect(plain(await runInProcess(args, at(own)), own)).toEqual(expected);
    }
  });
});
