import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { environmentOf, jsonOf, runHookline } from '../cli/hookline.ts';
import {
  createTempWorkspace,
  hasProgram,
  type TempWorkspace,
  trust,
  write,
} from '../cli/temp-workspace.ts';

/** Programs that Hookline or a command that only reads would look for. */
const NAMES = `bash cat env find git grep head jq ls node npm npx printf python3 rg sh stat tail wc which`;

/** Each leaves its name in `$HOME/pwned`, and then does what was asked for. */
function createHostileWorkspace(files: Readonly<Record<string, string>> = {}): TempWorkspace {
  const workspace = createTempWorkspace(files);
  for (const directory of ['bin', '.']) {
    for (const name of NAMES.split(' ')) {
      const file = write(
        workspace.repo,
        path.join(directory, name),
        `#!/bin/sh\necho ${name} >> "${workspace.home}/pwned"\nPATH=/usr/bin:/bin\nexec ${name} "$@"\n`,
      );
      chmodSync(file, 0o755);
    }
  }
  symlinkSync(path.join(workspace.repo, 'bin'), path.join(workspace.directory, 'linked'));
  return workspace;
}

const PATHS = [
  ['a relative directory', () => './bin:'],
  ['an empty entry', () => ':'],
  ['a directory of the workspace', ({ repo }: TempWorkspace) => `${repo}/bin:`],
  ['a link into the workspace', ({ directory }: TempWorkspace) => `${directory}/linked:`],
] as const;

const OWN_PATH = process.env['PATH'] ?? '/usr/bin:/bin';

function readPwned({ home }: TempWorkspace): readonly string[] {
  const file = path.join(home, 'pwned');
  return existsSync(file) ? [...new Set(readFileSync(file, 'utf8').trim().split('\n'))] : [];
}

async function runCommands(
  workspace: TempWorkspace,
  searchPath: string,
  commands: readonly string[],
  args: readonly string[] = [],
) {
  const calls = commands.map((command) => ({ tools: [{ name: 'Bash', input: { command } }] }));
  const turns = JSON.stringify([...calls, { text: 'done' }]);
  const script = write(workspace.directory, 'turns.json', turns);
  const flags = ['--script', script, '--output', 'json', '--sandbox', 'off', ...args];
  return runHookline(['run', ...flags, 'go'], {
    cwd: workspace.repo,
    home: workspace.home,
    env: { PATH: searchPath + OWN_PATH },
  });
}

const READING = [
  'git status',
  'ls',
  'cat README.md | head -2',
  'echo a && ls bin',
  'cd bin && ls',
  'rg text',
  'find . -name x',
];

describe.each(PATHS)('a PATH that begins with %s', (_about, getPath) => {
  let workspace: TempWorkspace;
  beforeEach(() => {
    workspace = createHostileWorkspace({ 'README.md': 'text\n' });
  });

  it('runs no program of the workspace for commands that nobody was asked about', async () => {
    const result = await runCommands(workspace, getPath(workspace), READING);
    expect(readPwned(workspace)).toEqual([]);
    const { denials }: { readonly denials: readonly unknown[] } = jsonOf(result);
    expect(denials.length).toBe(READING.length);
  });

  it('runs no program of the workspace in order to start a command', async () => {
    const result = await runCommands(workspace, getPath(workspace), ['true'], ['--allow', 'Bash']);
    expect(jsonOf(result)).toMatchObject({ denials: [] });
    expect(readPwned(workspace)).toEqual([]);
  });

  it('runs a program of the workspace that a rule allows', async () => {
    await runCommands(workspace, getPath(workspace), ['ls bin'], ['--allow', 'Bash(ls:*)']);
    expect(readPwned(workspace)).toEqual(['ls']);
  });

  it('runs no program of the workspace for hooks and servers of the user', async () => {
    const shell = { type: 'command', command: 'cat > /dev/null; ls > /dev/null' };
    const bash = { ...shell, shell: 'bash' };
    const plain = { type: 'command', command: 'python3', args: ['-c', ''] };
    const hooks = { PreToolUse: [{ hooks: [shell, bash, plain] }] };
    write(workspace.home, '.claude/settings.json', JSON.stringify({ hooks }));
    const hook = 'Documents/Cline/Hooks/PreToolUse';
    chmodSync(write(workspace.home, hook, '#!/usr/bin/env bash\ncat > /dev/null\n'), 0o755);
    write(workspace.home, 'Documents/Cline/Hooks/PostToolUse.py', 'import sys\nsys.stdin.read()\n');
    const servers = { mcpServers: { files: { command: 'node', args: ['-e', ''] } } };
    write(workspace.home, '.claude.json', JSON.stringify(servers));
    await runCommands(workspace, getPath(workspace), ['true'], ['--allow', 'Bash']);
    expect(readPwned(workspace)).toEqual([]);
  });

  it.skipIf(!hasProgram('git'))('runs no program of the workspace for a worktree', async () => {
    spawnSync('sh', ['-c', 'git init -q . && git add README.md && git commit -qm first'], {
      cwd: workspace.repo,
      env: {
        ...environmentOf(workspace),
        GIT_AUTHOR_NAME: 'a',
        GIT_AUTHOR_EMAIL: 'a@b',
        GIT_COMMITTER_NAME: 'a',
        GIT_COMMITTER_EMAIL: 'a@b',
      },
    });
    const { code, stderr } = await runCommands(
      workspace,
      getPath(workspace),
      [],
      ['--worktree', 'w1'],
    );
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(readPwned(workspace)).toEqual([]);
  });
});

const IMPORT = `python3 -c 'import json, sys; import beside' < /dev/null`;

describe('a hook of the user that runs Python without a file', () => {
  it('imports nothing from the workspace, and what lies beside it', async () => {
    const workspace = createTempWorkspace();
    const pwn = `open(${JSON.stringify(`${workspace.home}/pwned`)}, 'a').write('json\\n')\n`;
    for (const name of ['json.py', 'beside.py', 'lib/json.py']) write(workspace.repo, name, pwn);
    const leave = `open(${JSON.stringify(`${workspace.home}/ran`)}, 'a').write('ran\\n')\n`;
    for (const directory of ['.claude', 'Documents/Cline/Hooks']) {
      write(workspace.home, `${directory}/beside.py`, leave);
    }
    const named = write(workspace.home, '.claude/guard.sh', `#!/bin/sh\n${IMPORT}\n`);
    write(workspace.home, 'Documents/Cline/Hooks/PreToolUse', `#!/bin/bash\n${IMPORT}\n`);
    const command = { type: 'command', command: named };
    const plain = { type: 'command', command: 'python3', args: ['-c', 'import json'] };
    const hooks = { PreToolUse: [{ hooks: [command, plain] }] };
    write(workspace.home, '.claude/settings.json', JSON.stringify({ hooks }));
    await runHookline(['hooks', 'fire', 'PreToolUse', '--tool', 'Bash'], {
      cwd: workspace.repo,
      home: workspace.home,
      env: { PATH: OWN_PATH, PYTHONPATH: 'lib' },
    });
    expect(readPwned(workspace)).toEqual([]);
    expect(readFileSync(path.join(workspace.home, 'ran'), 'utf8')).toBe('ran\nran\n');
  });
});

const VARIABLES = [
  ['BASH_ENV', 'evil.sh', 'true'],
  ['RIPGREP_CONFIG_PATH', 'ripgreprc', 'rg text README.md'],
  ['GIT_CONFIG_GLOBAL', 'gitconfig', 'git status'],
  ['XDG_CONFIG_HOME', 'config', 'git status'],
] as const;

describe('a variable that names a file of the workspace', () => {
  it.each(VARIABLES)('%s runs nothing of it', async (variable, name, command) => {
    const workspace = createTempWorkspace({ 'README.md': 'text\n' });
    const pwn = `echo ran >> "${workspace.home}/pwned"`;
    write(workspace.repo, 'evil.sh', `#!/bin/sh\n${pwn}\n`);
    write(workspace.repo, 'ripgreprc', `--pre=${workspace.repo}/evil.sh\n`);
    const settings = `[core]\n\tfsmonitor = ${workspace.repo}/evil.sh\n`;
    write(workspace.repo, 'gitconfig', settings);
    write(workspace.repo, 'config/git/config', settings);
    spawnSync('rm', ['-rf', '.git'], { cwd: workspace.repo });
    spawnSync('git', ['init', '-q', '.'], { cwd: workspace.repo });
    const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: 'bash -c true' }] }] };
    write(workspace.home, '.claude/settings.json', JSON.stringify({ hooks }));
    const turns = [{ tools: [{ name: 'Bash', input: { command } }] }, { text: 'done' }];
    const script = write(workspace.directory, 'turns.json', JSON.stringify(turns));
    const flags = ['--script', script, '--output', 'json', '--sandbox', 'off'];
    const env = { PATH: OWN_PATH, [variable]: path.join(workspace.repo, name) };
    const options = { cwd: workspace.repo, home: workspace.home, env };
    const { code } = await runHookline(['run', ...flags, 'go'], options);
    expect([code, readPwned(workspace)]).toEqual([0, []]);
  });
});

/** A library that leaves the name of its program in `$HOME/pwned`, also by the names of two that `ls` loads. */
function buildLibraries({ repo, home }: TempWorkspace): void {
  const code = `#include <fcntl.h>
#include <unistd.h>
#include <string.h>
extern char *program_invocation_short_name;
static void leave(void) {
  int file = open("${home}/pwned", O_WRONLY | O_CREAT | O_APPEND, 0600);
  write(file, program_invocation_short_name, strlen(program_invocation_short_name));
  write(file, "\\n", 1);
}
__attribute__((constructor)) static void load(void) { leave(); }
unsigned la_version(unsigned version) { leave(); return version; }
`;
  write(repo, 'evil.c', code);
  const names = ['evil.so', 'libcap.so.2', 'libselinux.so.1'];
  const build = names.map((name) => `gcc -shared -fPIC -w -o ${name} evil.c`).join(' && ');
  const { status, stderr } = spawnSync('sh', ['-c', build], { cwd: repo, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
}

const LIBRARIES: readonly (readonly [
  about: string,
  get: (repo: string) => Record<string, string>,
])[] = [
  ['LD_PRELOAD', (repo) => ({ LD_PRELOAD: `${repo}/evil.so` })],
  ['LD_AUDIT', (repo) => ({ LD_AUDIT: `${repo}/evil.so` })],
  ['LD_LIBRARY_PATH', (repo) => ({ LD_LIBRARY_PATH: `/usr/lib:${repo}` })],
  ['an empty entry of LD_LIBRARY_PATH', () => ({ LD_LIBRARY_PATH: '/usr/lib:' })],
  ['LD_PRELOAD by its name', (repo) => ({ LD_PRELOAD: 'evil.so', LD_LIBRARY_PATH: repo })],
];

/** The programs that loaded a library of the workspace; Node.js, which the user started so, is not among them. */
async function listLoading(
  env: (repo: string) => Record<string, string>,
  commands: readonly string[],
  args: readonly string[],
  files: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const workspace = createTempWorkspace({ 'README.md': 'text\n', ...files });
  buildLibraries(workspace);
  if (Object.keys(files).length > 0) trust(workspace);
  const calls = commands.map((command) => ({ tools: [{ name: 'Bash', input: { command } }] }));
  const turns = JSON.stringify([...calls, { text: 'done' }]);
  const script = write(workspace.directory, 'turns.json', turns);
  const flags = ['--script', script, '--output', 'json', ...args];
  const { repo: cwd, home } = workspace;
  const result = await runHookline(['run', ...flags, 'go'], { cwd, home, env: env(cwd) });
  expect(jsonOf(result)).toMatchObject({ denials: [] });
  return readPwned(workspace).filter((name) => name !== 'node');
}

describe.skipIf(!hasProgram('gcc')).each(LIBRARIES)('a library in %s', (_about, env) => {
  const modes = ['off', 'on'];
  it.each(modes)('is not loaded for commands that only read, sandbox %s', async (mode) => {
    const commands = ['ls', 'cat README.md | head -1', 'grep text README.md'];
    expect(await listLoading(env, commands, ['--sandbox', mode])).toEqual([]);
  });

  it.each(modes)('is not loaded in order to start a command, sandbox %s', async (mode) => {
    const args = ['--sandbox', mode, '--allow', 'Bash'];
    expect(await listLoading(env, ['echo "$LD_LIBRARY_PATH$LD_PRELOAD"'], args)).toEqual([]);
  });

  it('is loaded by a command that a rule allows, without a sandbox', async () => {
    const args = ['--sandbox', 'off', '--allow', 'Bash(ls:*)'];
    expect(await listLoading(env, ['ls'], args)).toContain('ls');
  });
});

describe.skipIf(!hasProgram('gcc'))('a library that a trusted hook names', () => {
  it('is not loaded for commands that nobody was asked about', async () => {
    const command = `printf 'export LD_PRELOAD="%s/evil.so"\\n' "$CLAUDE_PROJECT_DIR" >> "$CLAUDE_ENV_FILE"`;
    const hooks = { SessionStart: [{ hooks: [{ type: 'command', command }] }] };
    const files = { '.claude/settings.json': JSON.stringify({ hooks }) };
    const commands = ['ls', 'wc README.md'];
    expect(await listLoading(() => ({}), commands, ['--sandbox', 'off'], files)).toEqual([]);
  });
});

describe('a PATH that a trusted hook extends', () => {
  it('runs no program of the workspace for commands that nobody was asked about', async () => {
    const command = `printf 'export PATH="%s/bin:$PATH"\\n' "$CLAUDE_PROJECT_DIR" >> "$CLAUDE_ENV_FILE"`;
    const hooks = { SessionStart: [{ hooks: [{ type: 'command', command }] }] };
    const workspace = createHostileWorkspace({
      'README.md': 'text\n',
      '.claude/settings.json': JSON.stringify({ hooks }),
    });
    trust(workspace);
    const result = await runCommands(workspace, '', ['ls', 'cat README.md', 'wc README.md']);
    expect(jsonOf(result)).toMatchObject({ denials: [] });
    expect(readPwned(workspace)).toEqual([]);
  });
});
