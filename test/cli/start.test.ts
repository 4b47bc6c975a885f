import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { hooklineProgram, runHookline } from './hookline.ts';
import { at, createTempWorkspace, type TempWorkspace } from './temp-workspace.ts';

/** The program as it is installed, in a directory of its own. */
function install(place: TempWorkspace): string {
  const installed = path.join(place.directory, 'hookline');
  const built = path.resolve(path.dirname(hooklineProgram()), '..');
  cpSync(built, path.join(installed, 'dist'), { recursive: true });
  return installed;
}

function list(place: TempWorkspace, installed: string) {
  const program = path.join(installed, 'dist', 'bin', 'hookline.js');
  const env = { HOOKLINE_HOME: path.join(place.directory, 'state') };
  return runHookline(['hooks', 'list'], { ...at(place), env, program });
}

function cacheIn(installed: string): string {
  const versioned = `${process.version}-${process.arch}`;
  return path.join(installed, 'node_modules', '.cache', 'hookline', versioned);
}

describe('the V8 compile cache', () => {
  it('is stored beside the program, and used the next time', async () => {
    const place = createTempWorkspace();
    const installed = install(place);
    const first = await list(place, installed);
    const kept = readdirSync(cacheIn(installed));
    expect(kept.length).toBeGreaterThan(1);
    expect(await list(place, installed)).toEqual(first);
    expect(readdirSync(cacheIn(installed))).toEqual(kept);
  });

  it('is compiled anew where it is broken or outdated', async () => {
    const place = createTempWorkspace();
    const installed = install(place);
    const first = await list(place, installed);
    for (const name of readdirSync(cacheIn(installed))) {
      writeFileSync(path.join(cacheIn(installed), name), 'garbage');
    }
    writeFileSync(path.join(cacheIn(installed), 'main-old.js.bin'), 'of an older version');
    expect(await list(place, installed)).toEqual(first);
    expect(readdirSync(cacheIn(installed))).not.toContain('main-old.js.bin');
  });

  it('is skipped where it cannot be stored', async () => {
    const place = createTempWorkspace();
    const installed = install(place);
    mkdirSync(path.join(installed, 'node_modules'));
    symlinkSync('/dev/null', path.join(installed, 'node_modules', '.cache'));
    expect(await list(place, installed)).toMatchObject({ code: 0, stderr: '' });
  });
});
