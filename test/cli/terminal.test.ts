import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlive, pidsIn, until } from '../process/programs.ts';
import {
  environmentOf,
  hooklineProgram,
  resultOf,
  runHookline,
  startHookline,
} from './hookline.ts';
import {
  answering,
  at,
  createTempWorkspace,
  GLOBAL_HOOKS,
  HOOKS,
  type TempWorkspace,
  PRE_TOOL_USE,
  write,
} from './temp-workspace.ts';
import { hasTerminal, runInTerminal } from './terminal.ts';

const ESCAPE = '\u001B';
const QUESTION = 'Trust 1 hook to run with your permissions';

describe.skipIf(!hasTerminal)('in a terminal (skipped without python3)', () => {
  it.each([
    ['y', 0, 'Trusted 1 hook', 'ready'],
    ['n', 1, 'Nothing was trusted', 'untrusted'],
    ['\u0003', 1, 'Nothing was trusted', 'untrusted'],
  ])('asks before it trusts, and obeys %j', async (key, code, says, state) => {
    const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: answering({}) });
    const result = await runInTerminal(['trust'], at(workspace), { dialogue: [[QUESTION, key]] });
    expect(result).toMatchObject({ code, stdout: expect.stringContaining(says) });
    const { stdout } = await runHookline(['hooks', 'list'], at(workspace));
    expect(stdout).toContain(`${PRE_TOOL_USE}  PreToolUse  ${state}`);
  });

  it('shows an entry of a settings file before it removes it, and asks before it imports', async () => {
    const entry = { type: 'command', command: 'true' };
    const settings = JSON.stringify({ hooks: { Stop: [{ hooks: [entry] }] } });
    const workspace = createTempWorkspace({ '.claude/settings.json': settings });
    const imported = await runInTerminal(['hooks', 'import', '--from', 'claude'], at(workspace), {
      dialogue: [['Write 1 hook to', 'y']],
    });
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining('Wrote 1 hook.') });
    const id = 'claude:project:Stop:true';
    const declined = await runInTerminal(['hooks', 'rm', id], at(workspace), {
      dialogue: [['Remove this Stop entry', 'n']],
    });
    expect(declined).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('"command": "true"'),
    });
    expect(readFileSync(path.join(workspace.repo, '.claude', 'settings.json'), 'utf8')).toBe(
      settings,
    );
  });

  it('alerts the user who is waited for, as terminals understand it', async () => {
    const workspace = createTempWorkspace();
    const turns = [{ tools: [{ name: 'Bash', input: { command: 'touch made' } }] }];
    const script = write(workspace.directory, 'turns.json', JSON.stringify(turns));
    const { stdout, code } = await runInTerminal(
      ['chat', '--script', script, 'go'],
      at(workspace),
      {
        dialogue: [
          ['notify;Hookline;', '\u0003'],
          ['interrupted by the user', '\u0003'],
          ['again', '\u0003'],
        ],
      },
    );
    expect(code).toBe(0);
    const notification = 'Hookline needs your permission to use Bash';
    expect(stdout).toContain(
      `${ESCAPE}]9;${notification}\u0007${ESCAPE}]777;notify;Hookline;${notification}\u0007`,
    );
    expect(existsSync(path.join(workspace.repo, 'made'))).toBe(false);
  });

  it('names the hook it waits for, and clears the line again', async () => {
    const workspace = createTempWorkspace();
    const go = path.join(workspace.directory, 'go');
    write(
      workspace.home,
      `${GLOBAL_HOOKS}/PreToolUse`,
      `#!/bin/sh\nuntil [ -e ${go} ]; do sleep 0.05; done\n`,
    );
    const { stdout, code } = await runInTerminal(['hooks', 'fire', 'PreToolUse'], at(workspace), {
      onShown: (output) => output.includes('waiting for') && write(workspace.directory, 'go', ''),
    });
    expect(code).toBe(0);
    expect(stdout).toContain('waiting for cline:global:PreToolUse …');
    expect(stdout).toContain(`\r${ESCAPE}[2K`);
    expect(stdout).toContain('slowest: cline:global:PreToolUse');
  });

  it('uses colours, but none with NO_COLOR', async () => {
    const workspace = createTempWorkspace();
    const [coloured, plain] = await Promise.all([
      runInTerminal(['doctor'], at(workspace)),
      runInTerminal(['doctor'], at(workspace, { env: { NO_COLOR: '1' } })),
    ]);
    expect(coloured.stdout).toContain(`${ESCAPE}[32m✓${ESCAPE}[39m hookline`);
    expect(plain.stdout).not.toContain(ESCAPE);
  });

  it('lets no hook steer the terminal', async () => {
    const workspace = createTempWorkspace();
    const answer = { cancel: true, errorMessage: `${ESCAPE}[2J${ESCAPE}[31mred\u0007\u202E` };
    write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, answering(answer));
    const { stdout } = await runInTerminal(['hooks', 'fire', 'PreToolUse'], at(workspace));
    expect(stdout).toContain(String.raw`\u{1b}[2J`);
    expect(stdout).not.toContain(`${ESCAPE}[2J`);
    expect(stdout).not.toContain('\u0007');
    expect(stdout).not.toContain('\u202E');
  });
});

describe('Ctrl-C while a hook runs', () => {
  it('kills a hook that does not end when Ctrl-C is repeated', async () => {
    const workspace = createTempWorkspace();
    const pids = path.join(workspace.directory, 'pids');
    write(
      workspace.home,
      `${GLOBAL_HOOKS}/PreToolUse`,
      `#!/bin/sh\ntrap '' TERM\nsleep 60 &\nprintf '%s\\n%s\\n' $$ $! >> ${pids}\nwhile :; do wait; done\n`,
    );
    const child = startHookline(['hooks', 'fire', 'PreToolUse'], at(workspace));
    const result = resultOf(child);
    await until(() => pidsOf(pids).length === 2);
    child.kill('SIGINT');
    child.kill('SIGHUP');
    expect(await result).toMatchObject({ code: 130, stdout: '' });
    await until(() => !pidsOf(pids).some(isAlive));
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'ends with 130 on %s, and nothing that the hook started is left',
    async (signal) => {
      const workspace = createTempWorkspace();
      const pids = path.join(workspace.directory, 'pids');
      write(
        workspace.home,
        `${GLOBAL_HOOKS}/PreToolUse`,
        `#!/bin/sh\nsleep 60 &\nsh -c 'sleep 60 & echo $! >> ${pids}; wait' &\nprintf '%s\\n%s\\n' $$ $! >> ${pids}\nwait\n`,
      );
      const child = startHookline(['hooks', 'fire', 'PreToolUse'], at(workspace));
      const result = resultOf(child);
      await until(() => pidsOf(pids).length === 3);
      child.kill(signal);
      expect(await result).toMatchObject({ code: 130, stdout: '' });
      await until(() => !pidsOf(pids).some(isAlive));
    },
  );
});

function pidsOf(file: string): number[] {
  return existsSync(file) ? pidsIn(readFileSync(file, 'utf8')) : [];
}

describe('output', () => {
  it.each(['hooks list', 'hooks list 2>&1', 'hooks list --json'])(
    'survives a reader that goes away: %s | head -1',
    async (command) => {
      const workspace = manyIgnoredFiles();
      const { code, stdout, stderr } = await shell(workspace, `"$@" ${command} | head -1; exit 0`);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout.split('\n')).toHaveLength(2);
    },
  );

  it('keeps its exit code although no program reads the answer', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, answering({ cancel: true }));
    const script = '{ "$@" hooks fire PreToolUse; echo $? >&2; } | true';
    expect((await shell(workspace, script)).stderr).toBe('1\n');
  });

  it.skipIf(!isDevice('/dev/full'))('says that the answer could not be written', async () => {
    const { code, stderr } = await shell(createTempWorkspace(), '"$@" hooks list > /dev/full');
    expect(code).toBe(1);
    expect(stderr).toContain('cannot write output: ENOSPC');
    expect(stderr).not.toMatch(/^ {4}at /m);
  });
});

function isDevice(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isCharacterDevice() === true;
}

function manyIgnoredFiles(): TempWorkspace {
  const names = Array.from({ length: 1500 }, (_, number) => `${HOOKS}/${'x'.repeat(80)}-${number}`);
  return createTempWorkspace(Object.fromEntries(names.map((name) => [name, ''])));
}

/** Runs a shell script in which `"$@"` is the built program. */
function shell({ repo, home }: TempWorkspace, script: string) {
  const command = [process.execPath, hooklineProgram()];
  return resultOf(
    spawn('/bin/sh', ['-c', script, 'sh', ...command], { cwd: repo, env: environmentOf({ home }) }),
  );
}
