import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { hooklineProgram, runHookline } from './hookline.ts';
import { at, createTempWorkspace, type TempWorkspace } from './temp-workspace.ts';

/** The program as it is installed, in a directory of its own. */
function install(workspace: TempWorkspace): string {
  const installed = path.join(workspace.directory, 'hookline');
  const built = path.resolve(path.dirname(hooklineProgram()), '..');
  cpSync(built, path.join(installed, 'dist'), { recursive: true });
  return installed;
}

function list(workspace: TempWorkspace, installed: string) {
  const program = path.join(installed, 'dist', 'bin', 'hookline.js');
  const env = { HOOKLINE_HOME: path.join(workspace.directory, 'state') };
  return runHookline(['hooks', 'list'], { ...at(workspace), env, program });
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
