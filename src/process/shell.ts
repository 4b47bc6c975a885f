import path from 'node:path';
import type { FindProgram } from './program-finder.ts';

export interface ShellCommand {
  readonly file: string;
  readonly args: readonly string[];
}

export interface ShellMachine {
  readonly platform: NodeJS.Platform;
  readonly findProgram: FindProgram;
}

/** How a shell is started with a command line: the named shell, or the default one of the system. */
export function planShellCommand(
  command: string,
  machine: ShellMachine & { readonly shell?: 'bash' | 'powershell' },
): ShellCommand {
  const { shell, platform } = machine;
  if (shell === 'powershell') return planPowershell(command, machine);
  if (shell === 'bash') return { file: findBash(machine) ?? 'bash', args: ['-c', command] };
  if (platform === 'win32') return planWindowsShell(command, machine);
  return { file: '/bin/sh', args: ['-c', command] };
}

/** On Windows the one that comes with Git: a plain `bash` there is often WSL's, another machine. */
export function findBash({ platform, findProgram }: ShellMachine): string | null {
  if (platform !== 'win32') return findProgram('bash');
  const git = findProgram('git');
  const gitRoot = git === null ? null : path.win32.dirname(path.win32.dirname(git));
  const gitBash =
    gitRoot === null ? null : findProgram(path.win32.join(gitRoot, 'bin', 'bash.exe'));
  if (gitBash !== null) return gitBash;
  const bash = findProgram('bash');
  return bash !== null && /\\(system32|windowsapps)\\/i.test(bash) ? null : bash;
}

/** PowerShell 7, else on Windows the one that comes with it. */
export function findPowershell({ platform, findProgram }: ShellMachine): string | null {
  const current = findProgram('pwsh');
  return current === null && platform === 'win32' ? findProgram('powershell') : current;
}

function planWindowsShell(command: string, machine: ShellMachine): ShellCommand {
  const bash = findBash(machine);
  return bash === null ? planPowershell(command, machine) : { file: bash, args: ['-c', command] };
}

function planPowershell(command: string, machine: ShellMachine): ShellCommand {
  const fallback = machine.platform === 'win32' ? 'powershell' : 'pwsh';
  return {
    file: findPowershell(machine) ?? fallback,
    args: ['-NoProfile', '-ExecutionPolicy', 'Bypass', '-Command', command],
  };
}
