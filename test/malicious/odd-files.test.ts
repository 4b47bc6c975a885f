import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, write } from '../cli/temp-workspace.ts';

/** Every file that Hookline reads of a workspace. */
const IN_REPO = `
.hookline/config.json .claude/settings.json .claude/settings.local.json .cline/hooks.json .cline/settings.json
.mcp.json CLAUDE.md CLAUDE.local.md AGENTS.md .clinerules/rule.md .cursorrules .claude/rules/a.md .gitignore
.claude/commands/a.md .claude/skills/s/SKILL.md .claude/agents/a.md .clinerules/workflows/w.md
.clinerules/hooks/PreToolUse .clinerules/hooks/helper.py .cline/plugins/p/package.json .cline/plugins/q.ts
.claude-plugin/plugin.json .git/HEAD .git/config .git/commondir .git/info/exclude hookline.lock cases/one/case.json
`;
/** The same in the home directory. */
const IN_HOME = `
.claude/settings.json .claude.json .claude/CLAUDE.md .claude/plugins/installed_plugins.json
.cline/plugins/p/package.json .cline/data/settings/cline_mcp_settings.json .hookline/config.json .gitconfig
`;

const KINDS: readonly (readonly [string, (file: string) => void])[] = [
  ['a FIFO', (file) => void execFileSync('mkfifo', [file])],
  ['a device', (file) => symlinkSync('/dev/zero', file)],
  [
    'a file of 6 GB',
    (file) => {
      const handle = openSync(file, 'w');
      ftruncateSync(handle, 6 * 1024 ** 3);
      closeSync(handle);
    },
  ],
];

function place(directory: string, names: string, create: (file: string) => void): void {
  for (const name of names.trim().split(/\s+/)) {
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    create(file);
  }
}

const COMMANDS = [
  ['hooks', 'list'],
  ['hooks', 'fire', 'PreToolUse', '--tool', 'Bash'],
  ['hooks', 'test', 'cases'],
  ['trust', '--yes'],
  ['lock', '--check'],
  ['plugin', 'list'],
  ['mcp', 'list'],
  ['doctor'],
];

async function run(workspace: TempWorkspace, args: readonly string[]) {
  const { code, stdout, stderr } = await runHookline(args, at(workspace));
  const stack = /^ {4}at /m.test(stderr) || /out of memory|INTERNAL/i.test(stderr);
  return { args: args.join(' '), ended: code !== null, stack, output: stdout.length < 200_000 };
}

describe.each(KINDS)('%s in place of every file', (_kind, create) => {
  it('of a workspace makes no command hang or crash', async () => {
    const workspace = createTempWorkspace();
    place(workspace.repo, IN_REPO, create);
    const script = write(workspace.directory, 'turns.json', JSON.stringify([{ text: 'done' }]));
    const commands = [...COMMANDS, ['run', '--script', script, '--sandbox', 'off', 'go']];
    for (const args of commands) {
      expect(await run(workspace, args)).toEqual({
        args: args.join(' '),
        ended: true,
        stack: false,
        output: true,
      });
    }
  });

  it('of the home directory makes no command hang or crash', async () => {
    const workspace = createTempWorkspace();
    place(workspace.home, IN_HOME, create);
    const script = write(workspace.directory, 'turns.json', JSON.stringify([{ text: 'done' }]));
    const commands = [...COMMANDS, ['run', '--script', script, '--sandbox', 'off', 'go']];
    for (const args of commands) {
      expect(await run(workspace, args)).toEqual({
        args: args.join(' '),
        ended: true,
        stack: false,
        output: true,
      });
    }
  });
});
