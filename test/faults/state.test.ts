import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type HooklineOptions, type HooklineResult, runHookline } from '../cli/hookline.ts';
import {
  answering,
  at,
  createTempWorkspace,
  GLOBAL_HOOKS,
  HOOKS,
  isRoot,
  NOBODY,
  type TempWorkspace,
  PRE_TOOL_USE,
  trust,
  write,
} from '../cli/temp-workspace.ts';

const OWN_ID = 'cline:global:PreToolUse';

/** A workspace with a hook, and a personal hook that denies. */
function createWorkspaceWithHooks(): TempWorkspace {
  const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: answering({}) });
  write(
    workspace.home,
    `${GLOBAL_HOOKS}/PreToolUse`,
    answering({ cancel: true, errorMessage: 'no' }),
  );
  return workspace;
}

const COMMANDS = {
  list: ['hooks', 'list'],
  fire: ['hooks', 'fire', 'PreToolUse'],
  trust: ['trust', '--yes'],
  disable: ['hooks', 'disable', OWN_ID],
  stats: ['hooks', 'stats'],
  doctor: ['doctor'],
} as const;

type Results = Readonly<Record<keyof typeof COMMANDS, HooklineResult>>;

/** Those that write come last. */
async function runAll(options: HooklineOptions): Promise<Results> {
  const run = async (name: keyof typeof COMMANDS): Promise<HooklineResult> => {
    const result = await runHookline(COMMANDS[name], options);
    expect(result.stderr).not.toMatch(/^ {4}at /m);
    return result;
  };
  const [list, fire, stats, doctor] = await Promise.all([
    run('list'),
    run('fire'),
    run('stats'),
    run('doctor'),
  ]);
  const [trusted, disable] = await Promise.all([run('trust'), run('disable')]);
  return { list, fire, stats, doctor, trust: trusted, disable };
}

function codesOf(results: Results): Readonly<Record<string, number | null>> {
  return Object.fromEntries(Object.entries(results).map(([name, { code }]) => [name, code]));
}

describe('a state directory that is a file', () => {
  it('costs trust and the trace, and not one hook of the user’s own', async () => {
    const workspace = createWorkspaceWithHooks();
    write(workspace.home, '.hookline', '');
    const results = await runAll(at(workspace));
    expect(codesOf(results)).toEqual({
      list: 0,
      fire: 1,
      trust: 2,
      disable: 2,
      stats: 0,
      doctor: 1,
    });
    expect(results.fire.stdout).toContain('PreToolUse: deny (1 hook run)');
    expect(results.fire.stderr).toContain('the trace in');
    expect(results.fire.stdout).toContain(`${PRE_TOOL_USE}: not run: untrusted`);
    expect(results.doctor.stdout).toContain('.hookline is not a directory');
  });
});

describe('a broken configuration', () => {
  it.each([
    ['{"hooks": ', 'should be a JSON object, found'],
    ['[]', 'should be a JSON object, found array'],
    ['null', 'should be a JSON object, found null'],
    ['', 'should be a JSON object, found'],
    ['\u0000\uFFFD', 'should be a JSON object, found'],
  ])('%j is reported, is not overwritten, and hooks go on', async (text, says) => {
    const workspace = createWorkspaceWithHooks();
    const file = write(workspace.home, '.hookline/config.json', text);
    chmodSync(path.dirname(file), 0o700);
    const results = await runAll(at(workspace));
    expect(codesOf(results)).toEqual({
      list: 0,
      fire: 1,
      trust: 0,
      disable: 2,
      stats: 0,
      doctor: 1,
    });
    expect(results.fire.stderr).toContain(`${file}: ${says}`);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('loses only the setting that is wrong', async () => {
    const workspace = createWorkspaceWithHooks();
    write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, '#!/bin/sh\nexit 1\n');
    const config = {
      hooks: { timeoutMs: -1, onFailure: 'block', colour: 1 },
      trace: [],
      $schema: 5,
    };
    write(workspace.home, '.hookline/config.json', `\uFEFF${JSON.stringify(config)}\r\n`);
    const { code, stderr } = await runHookline(['hooks', 'fire', 'PreToolUse'], at(workspace));
    expect(code).toBe(1);
    expect(stderr).toContain(
      '"hooks.timeoutMs" should be a number above 0, found -1; the default is used',
    );
    expect(stderr).toContain('unknown setting "hooks.colour"');
    expect(stderr).toContain('unknown setting "trace"');
  });
});

describe('a broken trust record', () => {
  it.each([
    ['{"version": 1, "entries": [', 'it is not JSON'],
    ['[]', 'it must be an object, found array'],
    ['{"version": 2, "entries": []}', 'version must be 1'],
    ['{"version": 1, "entries": [{"id": 5}]}', 'entries[0].id must be a string, found number'],
  ])('%s trusts nothing, says so and is not overwritten', async (text, says) => {
    const workspace = createWorkspaceWithHooks();
    trust(workspace);
    const file = path.join(workspace.home, '.hookline/trust.json');
    writeFileSync(file, text);
    const results = await runAll(at(workspace));
    expect(codesOf(results)).toEqual({
      list: 0,
      fire: 1,
      trust: 2,
      disable: 0,
      stats: 0,
      doctor: 1,
    });
    expect(results.list.stdout).toContain(says);
    expect(results.trust.stderr).toContain('Move it away and trust your hooks again');
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('is not believed when others may write it', async () => {
    const workspace = createWorkspaceWithHooks();
    trust(workspace);
    chmodSync(path.join(workspace.home, '.hookline/trust.json'), 0o666);
    const { stdout } = await runHookline(['hooks', 'list'], at(workspace));
    expect(stdout).toMatch(/is ignored: others may write .*trust\.json/);
  });
});

describe('a broken trace', () => {
  it('loses only the lines that cannot be read', async () => {
    const workspace = createWorkspaceWithHooks();
    const good = '{"type":"dispatch","outcomes":[{"hook":"a","durationMs":1,"status":"decided"}]}';
    const lines = ['garbage', good, 'null', '{"outcomes":5}', '\uFFFD', good.slice(0, 30)];
    write(workspace.home, '.hookline/trace/trace.jsonl', lines.join('\n'));
    // The last line is not taken while somebody may be writing it.
    utimesSync(path.join(workspace.home, '.hookline/trace/trace.jsonl'), 1, 1);
    const { code, stdout } = await runHookline(['hooks', 'stats', '--json'], at(workspace));
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ hooks: [{ hook: 'a', runs: 1 }], unreadable: 5 });
  });

  it('that is a directory is a note of `fire`, and `stats` counts what is stored', async () => {
    const workspace = createWorkspaceWithHooks();
    mkdirSync(path.join(workspace.home, '.hookline/trace/trace.jsonl'), {
      recursive: true,
      mode: 0o700,
    });
    const results = await runAll(at(workspace));
    expect(results.fire).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the trace in'),
    });
    expect(results.stats).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('No hook has run'),
    });
  });
});

/** Another user can run the program only where the way to it is open to all. */
const canBecomeNobody =
  isRoot &&
  spawnSync(process.execPath, ['--version'], { uid: NOBODY, gid: NOBODY }).status === 0 &&
  isOpenToAll();

function isOpenToAll(): boolean {
  const options = { uid: NOBODY, gid: NOBODY, cwd: '/' };
  return (
    spawnSync(
      process.execPath,
      ['-e', `fs.accessSync(${JSON.stringify(import.meta.filename)})`],
      options,
    ).status === 0
  );
}

describe.skipIf(!canBecomeNobody)(
  'as another user (skipped unless run as root in an open directory)',
  () => {
    function openPlace(): TempWorkspace {
      const workspace = createWorkspaceWithHooks();
      chmodSync(workspace.directory, 0o755);
      return workspace;
    }

    it('works with a home that cannot be written, and says what was not kept', async () => {
      const workspace = openPlace();
      const results = await runAll(at(workspace, { uid: NOBODY }));
      expect(codesOf(results)).toEqual({
        list: 0,
        fire: 1,
        trust: 2,
        disable: 2,
        stats: 0,
        doctor: 1,
      });
      expect(results.fire.stdout).toContain('PreToolUse: deny (1 hook run)');
      expect(results.fire.stderr).toContain('the trace in');
      expect(results.trust.stderr).toContain('could not be written: EACCES');
      expect(results.doctor.stdout).toContain('.hookline cannot be created: EACCES');
    });

    it('works without a home, and trusts nothing', async () => {
      const workspace = openPlace();
      // No user has this id, so the system knows no home either.
      const results = await runAll({ cwd: workspace.repo, home: null, uid: 54_321 });
      expect(codesOf(results)).toEqual({
        list: 0,
        fire: 0,
        trust: 2,
        disable: 2,
        stats: 0,
        doctor: 1,
      });
      expect(results.fire.stdout).toContain(
        `${PRE_TOOL_USE}: not run: untrusted: no home directory`,
      );
      expect(results.trust.stderr).toContain('Set HOME or HOOKLINE_HOME');
    });

    it.each(['Documents/Cline/Hooks', 'Documents/Cline'])(
      'reports that ~/%s cannot be read',
      async (name) => {
        const workspace = openPlace();
        const directory = path.join(workspace.home, name);
        chmodSync(directory, 0o700);
        const [lenient, strict, list, doctor] = await Promise.all([
          runHookline(['hooks', 'fire', 'PreToolUse'], at(workspace, { uid: NOBODY })),
          runHookline(['hooks', 'fire', 'PreToolUse', '--strict'], at(workspace, { uid: NOBODY })),
          runHookline(['hooks', 'list'], at(workspace, { uid: NOBODY })),
          runHookline(['doctor'], at(workspace, { uid: NOBODY })),
        ]);
        expect([lenient.code, strict.code, list.code, doctor.code]).toEqual([0, 3, 0, 1]);
        expect(lenient.stderr).toContain(
          `a guard may be missing: ${workspace.home}/Documents/Cline/Hooks`,
        );
        expect(list.stdout).toContain('cannot be read: EACCES');
      },
    );

    it('reports files that cannot be read: its own as a failure, the workspace’s as untrusted', async () => {
      const workspace = openPlace();
      for (const file of [`home/${GLOBAL_HOOKS}/PreToolUse`, `repo/${HOOKS}/PreToolUse`]) {
        chmodSync(path.join(workspace.directory, file), 0o600);
      }
      const { code, stdout } = await runHookline(
        ['hooks', 'fire', 'PreToolUse', '--strict'],
        at(workspace, { uid: NOBODY }),
      );
      expect(code).toBe(3);
      expect(stdout).toMatch(new RegExp(`✗ ${OWN_ID}: failed .*\\n.*it cannot be read: EACCES`));
      expect(stdout).toContain(`${PRE_TOOL_USE}: not run: untrusted`);
    });

    it('does not believe a trust record that belongs to another user', async () => {
      const workspace = openPlace();
      trust(workspace);
      chmodSync(path.join(workspace.home, '.hookline'), 0o755);
      chmodSync(path.join(workspace.home, '.hookline/trust.json'), 0o644);
      chownSync(workspace.home, NOBODY, NOBODY);
      const { stdout } = await runHookline(['hooks', 'list'], at(workspace, { uid: NOBODY }));
      expect(stdout).toMatch(/is ignored: .*belongs to user 0/);
    });
  },
);

describe('a full disk', () => {
  it('loses nothing that was there, and says what was not written', async (context) => {
    const ownWorkspace = createWorkspaceWithHooks();
    if (!mountTiny(ownWorkspace.home)) context.skip('needs root and the right to mount a tmpfs');
    write(
      ownWorkspace.home,
      `${GLOBAL_HOOKS}/PreToolUse`,
      answering({ cancel: true, errorMessage: 'no' }),
    );
    trust(ownWorkspace);
    await runHookline(['hooks', 'disable', PRE_TOOL_USE], at(ownWorkspace));
    const rest = readState(ownWorkspace);
    write(ownWorkspace.repo, `${HOOKS}/PreToolUse`, answering({ context: 'changed' }));
    fill(path.join(ownWorkspace.home, 'fill'));

    const results = await runAll(at(ownWorkspace));
    expect(codesOf(results)).toEqual({
      list: 0,
      fire: 1,
      trust: 2,
      disable: 2,
      stats: 0,
      doctor: 0,
    });
    expect(results.fire.stdout).toContain('PreToolUse: deny (1 hook run)');
    expect(results.fire.stderr).toContain('ENOSPC');
    expect(results.trust.stderr).toContain('ENOSPC');
    expect(results.disable.stderr).toContain('ENOSPC');
    expect(readState(ownWorkspace)).toEqual(rest);
  });
});

function mountTiny(directory: string): boolean {
  const mounted = spawnSync('mount', [
    '-t',
    'tmpfs',
    '-o',
    'size=128k,mode=700',
    'tmpfs',
    directory,
  ]);
  if (mounted.status !== 0) return false;
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

function readState({ home }: TempWorkspace): readonly string[] {
  return ['trust.json', '../.local/state/hookline/trust.seal', 'config.json'].map((name) =>
    readFileSync(path.join(home, '.hookline', name), 'utf8'),
  );
}
