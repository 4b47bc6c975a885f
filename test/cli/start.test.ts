import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { hooklineProgram, runHookline } from './hookline.ts';
import { answering, at, createTempWorkspace, HOOKS, type TempWorkspace } from './temp-workspace.ts';

/** The program as it is installed, in a directory of its own. */
function install(workspace: TempWorkspace): string {
  const installed = path.join(workspace.directory, 'hookline');
  const built = path.resolve(path.dirname(hooklineProgram()), '..');
  cpSync(built, path.join(installed, 'dist'), { recursive: true });
  return installed;
}

function list(workspace: TempWorkspace, installed: string) {
  return run(workspace, installed, ['hooks', 'list']);
}

function run(workspace: TempWorkspace, installed: string, args: readonly string[]) {
  const program = path.join(installed, 'dist', 'bin', 'hookline.js');
  const env = { HOOKLINE_HOME: path.join(workspace.directory, 'state') };
  return runHookline(args, { ...at(workspace), env, program });
}

function cacheIn(installed: string): string {
  const versioned = `${process.version}-${process.arch}`;
  return path.join(installed, 'node_modules', '.cache', 'hookline', versioned);
}

describe('the V8 compile cache', () => {
  it('is stored beside the program, and used the next time', async () => {
    const workspace = createTempWorkspace();
    const installed = install(workspace);
    const first = await list(workspace, installed);
    const rest = readdirSync(cacheIn(installed));
    expect(rest.length).toBeGreaterThan(1);
    expect(await list(workspace, installed)).toEqual(first);
    expect(readdirSync(cacheIn(installed))).toEqual(rest);
  });

  it('is compiled anew where it is broken or outdated', async () => {
    const workspace = createTempWorkspace();
    const installed = install(workspace);
    const first = await list(workspace, installed);
    for (const name of readdirSync(cacheIn(installed))) {
      writeFileSync(path.join(cacheIn(installed), name), 'garbage');
    }
    writeFileSync(path.join(cacheIn(installed), 'main-old.js.bin'), 'of an older version');
    expect(await list(workspace, installed)).toEqual(first);
    expect(readdirSync(cacheIn(installed))).not.toContain('main-old.js.bin');
  });

  it('is skipped where it cannot be stored', async () => {
    const workspace = createTempWorkspace();
    const installed = install(workspace);
    mkdirSync(path.join(installed, 'node_modules'));
    symlinkSync('/dev/null', path.join(installed, 'node_modules', '.cache'));
    expect(await list(workspace, installed)).toMatchObject({ code: 0, stderr: '' });
  });
});

/** Each part that the first command loads is compiled then, and stored under its name and hash. */
function partsIn(installed: string): readonly string[] {
  return readdirSync(cacheIn(installed)).map((name) => name.replace(/-[\w-]{8}\.js\.bin$/, ''));
}

describe('the parts of the program that a command loads', () => {
  it('are only those that look for hooks, when there is none', async () => {
    const workspace = createTempWorkspace();
    const installed = install(workspace);
    await list(workspace, installed);
    expect(partsIn(installed)).toEqual(['looking', 'main']);
  });

  it('are also those that examine what was found, when there is a hook', async () => {
    const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: answering({}) });
    const installed = install(workspace);
    await list(workspace, installed);
    expect(partsIn(installed)).toEqual(['found', 'looking', 'main']);
  });

  it('are also the agent’s, and nothing of hooks or servers, when a task needs no more', async () => {
    const workspace = createTempWorkspace({
      'one.txt': 'one\n',
      'turns.json': JSON.stringify([
        { tools: [{ name: 'Read', input: { file_path: 'one.txt' } }] },
        { tools: [{ name: 'Bash', input: { command: 'echo hello' } }] },
        { text: 'Done.' },
      ]),
    });
    const installed = install(workspace);
    const { stdout } = await run(workspace, installed, ['run', '--script', 'turns.json', 'go']);
    expect(stdout).toBe('Done.\n');
    const later = ['claude', 'claude-found'];
    expect(partsIn(installed).filter((part) => !later.includes(part))).toEqual([
      'agent',
      'looking',
      'main',
      'program',
      'rolldown-runtime',
      'running',
    ]);
  });
});
