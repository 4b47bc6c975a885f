import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runProgram } from '../../src/process/run.ts';
import { planShellCommand } from '../../src/process/shell.ts';
import { program } from './programs.ts';

const command = 'echo "$HOME" | cat';

function machine(platform: NodeJS.Platform, ...programs: string[]) {
  const findProgram = (name: string) =>
    programs.find((file) => file === name || path.win32.parse(file).name === name) ?? null;
  return { platform, findProgram };
}

const powershellArgs = ['-NoProfile', '-ExecutionPolicy', 'Bypass', '-Command', command];

describe('on POSIX', () => {
  test('the system shell is the default', () => {
    expect(planShellCommand(command, machine('linux', '/opt/bash'))).toEqual({
      file: '/bin/sh',
      args: ['-c', command],
    });
  });

  test('bash and PowerShell are looked for, and named when they are missing', () => {
    const found = machine('darwin', '/opt/bash', '/opt/pwsh');
    const bare = machine('darwin');
    expect(planShellCommand(command, { ...found, shell: 'bash' })).toEqual({
      file: '/opt/bash',
      args: ['-c', command],
    });
    expect(planShellCommand(command, { ...bare, shell: 'bash' }).file).toBe('bash');
    expect(planShellCommand(command, { ...found, shell: 'powershell' })).toEqual({
      file: '/opt/pwsh',
      args: powershellArgs,
    });
    expect(planShellCommand(command, { ...bare, shell: 'powershell' }).file).toBe('pwsh');
  });
});

describe('on Windows', () => {
  const git = String.raw`C:\Git\cmd\git.exe`;
  const gitBash = String.raw`C:\Git\bin\bash.exe`;
  const wsl = String.raw`C:\Windows\System32\bash.exe`;
  const powershell = String.raw`C:\powershell.exe`;

  test('the bash of Git is the default, never that of WSL', () => {
    const { findProgram } = machine('win32', wsl, git, gitBash, powershell);
    const shellPlan = planShellCommand(command, { platform: 'win32', findProgram });
    expect(shellPlan).toEqual({ file: gitBash, args: ['-c', command] });
  });

  test('without it PowerShell is', () => {
    expect(planShellCommand(command, machine('win32', wsl, powershell))).toEqual({
      file: powershell,
      args: powershellArgs,
    });
    expect(planShellCommand(command, machine('win32')).file).toBe('powershell');
  });

  test('the current PowerShell goes before the old one', () => {
    const both = machine('win32', powershell, String.raw`C:\pwsh.exe`);
    expect(planShellCommand(command, { ...both, shell: 'powershell' }).file).toBe(
      String.raw`C:\pwsh.exe`,
    );
  });
});

test('a command line runs as a user would type it', async () => {
  const shell = planShellCommand(`printf '%s' "it's $COLOUR" | cat`, machine('linux'));
  const result = await runProgram(program({ ...shell, env: { COLOUR: 'blue' } }));
  expect(result).toMatchObject({ ending: 'exit', exitCode: 0, stdout: { text: "it's blue" } });
});
