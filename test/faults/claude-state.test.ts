import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Verdict } from '../../src/hooks/decision.ts';
import { type HooklineOptions, jsonOf, runHookline } from '../cli/hookline.ts';
import {
  at,
  createTempWorkspace,
  isRoot,
  NOBODY,
  type TempWorkspace,
  write,
} from '../cli/temp-workspace.ts';

const LONG = { type: 'command', command: 'cat > /dev/null; seq 9999' };
const ENV_FILE = {
  type: 'command',
  command: 'cat > /dev/null; echo "file: ${CLAUDE_ENV_FILE-none}"',
};
const DENY = { type: 'command', command: 'test -n "$(cat)" && echo no >&2; exit 2' };

const HOOKS = JSON.stringify({
  hooks: {
    SessionStart: [{ hooks: [LONG, ENV_FILE] }],
    PreToolUse: [{ hooks: [DENY] }],
  },
});

async function fireBoth(options: HooklineOptions, flags: readonly string[] = []) {
  const fire = async (event: string) => {
    const result = await runHookline(['hooks', 'fire', event, '--json', ...flags], options);
    expect(result.stderr).not.toMatch(/^ {4}at /m);
    const verdict: Verdict = jsonOf(result);
    return { code: result.code, verdict };
  };
  return { start: await fire('SessionStart'), tool: await fire('PreToolUse') };
}

/** What works without a writable directory, and what is reported of the rest. */
function expectWorking({ start, tool }: Awaited<ReturnType<typeof fireBoth>>): void {
  expect(tool).toMatchObject({ code: 1, verdict: { effect: 'deny' } });
  expect(tool.verdict.outcomes.flatMap(({ notes }) => notes).join('\n')).toMatch(/transcript/);
  const [long, envFile] = start.verdict.context;
  expect(start.code).toBe(0);
  expect(long?.text.length).toBeLessThan(20_000);
  expect(long?.text).toMatch(/^1\n2\n3\n|Preview|cut/m);
  expect(envFile?.text).toContain('file: none');
  const notes = start.verdict.outcomes.flatMap((outcome) => outcome.notes).join('\n');
  expect(notes).toMatch(/transcript/);
}

describe('a state directory', () => {
  it('that is a file costs the transcript, variables and the rest of long outputs, not a guard', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, '.claude/settings.json', HOOKS);
    write(workspace.home, '.hookline', '');
    expectWorking(await fireBoth(at(workspace)));
  });

  it.skipIf(!isRoot)('that cannot be written costs the same (needs root)', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, '.claude/settings.json', HOOKS);
    mkdirSync(path.join(workspace.home, '.hookline'), { mode: 0o755 });
    chmodSync(workspace.directory, 0o755);
    expectWorking(await fireBoth(at(workspace, { uid: NOBODY })));
  });

  it('on a full disk costs the same, and keeps its content', async (context) => {
    const workspace = createTempWorkspace();
    const state = path.join(workspace.home, '.hookline');
    mkdirSync(state);
    if (!mountTiny(state)) context.skip('needs root and the right to mount a tmpfs');
    write(workspace.home, '.claude/settings.json', HOOKS);
    fill(path.join(state, 'fill'));
    const { start, tool } = await fireBoth(at(workspace));
    expect(tool).toMatchObject({ code: 1, verdict: { effect: 'deny' } });
    expect(start.code).toBe(0);
    expect(start.verdict.context).toHaveLength(2);
    const notesOf = ({ verdict }: typeof start): string =>
      verdict.outcomes.flatMap(({ notes }) => notes).join('\n');
    expect(notesOf(start)).toContain('was cut because it could not be saved to a file');
    expect(notesOf(tool)).toContain('ENOSPC');
  });
});

describe('no home directory', () => {
  it.skipIf(!isRoot)('costs the same (needs root)', async () => {
    const workspace = createTempWorkspace();
    const settings = write(workspace.directory, 'given.json', HOOKS);
    chmodSync(workspace.directory, 0o755);
    // No user has this id, so the system knows no home either.
    const options = { cwd: workspace.repo, home: null, uid: 54_321 };
    expectWorking(await fireBoth(options, ['--settings', settings]));
  });
});

function mountTiny(directory: TempWorkspace['home']): boolean {
  const options = ['-t', 'tmpfs', '-o', 'size=64k,mode=700'];
  if (spawnSync('mount', [...options, 'tmpfs', directory]).status !== 0) return false;
  onTestFinished(() => {
    spawnSync('umount', [directory]);
  });
  return true;
}

function fill(file: string): void {
  try {
    writeFileSync(file, Buffer.alloc(1024 * 1024));
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' });
  }
}
