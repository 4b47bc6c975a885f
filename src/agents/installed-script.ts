import { chmodSync, statSync } from 'node:fs';
import { formatNodeForm, formatShellForm } from '../bridge/forward/shell-form.ts';
import { getRunFile } from '../bridge/run-file.ts';
import { resolveBuiltFile } from '../base/built-files.ts';
import { readTextIfPresent, replacePrivateFileSync } from '../base/files.ts';
import { getInstalledScript } from '../dialects/installed-command.ts';
import type { Surroundings } from '../dialects/machine.ts';
import { canBashConnect } from '../process/bash.ts';
import { hashText, type InstalledScript } from './install-record.ts';

/** The script that all entries start, as it would be written now. */
export interface ScriptPlan {
  readonly path: string;
  readonly text: string;
  /** Programs that it starts, by their absolute paths. */
  readonly programs: readonly string[];
}

const SCRIPT_MODE = 0o700;

/** Plans the script in the form that this machine can run. */
export function planScript(surroundings: Surroundings, stateDirectory: string): ScriptPlan {
  const { platform, nodePath, home } = surroundings;
  const programPath = resolveBuiltFile('bin/agent-hook.js');
  const paths = {
    home: home ?? '/',
    runFile: getRunFile(stateDirectory),
    nodePath,
    programPath,
  };
  return {
    path: getInstalledScript(stateDirectory, platform),
    text: platform === 'win32' ? formatWindowsForm(paths, stateDirectory) : formatPosixForm(paths),
    programs: [nodePath, programPath],
  };
}

function formatPosixForm(paths: Parameters<typeof formatShellForm>[0]): string {
  return canBashConnect() ? formatShellForm(paths) : formatNodeForm(paths);
}

/** A program of Node, whose path and Node's own stand in the command of the entry. */
function formatWindowsForm(
  { home, programPath }: { readonly home: string; readonly programPath: string },
  stateDirectory: string,
): string {
  const words = ['--home', home, '--state', stateDirectory].map((word) => JSON.stringify(word));
  const program = JSON.stringify(programPath);
  return `// Sends one event of an agent to Hookline. Written by \`hookline agents enable\`.
process.argv = [process.execPath, ${program}, process.argv[2], ${words.join(', ')}];
require(${program});
`;
}

/** Writes the script; false when it is there already. */
export function writeScript({ path, text }: ScriptPlan): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  const isRight = readTextIfPresent(path) === text && ((stats?.mode ?? 0) & 0o777) === SCRIPT_MODE;
  if (isRight) return false;
  replacePrivateFileSync(path, text);
  chmodSync(path, SCRIPT_MODE);
  return true;
}

export function describeScript({ text, programs }: ScriptPlan): InstalledScript {
  return { sha256: hashText(text), programs };
}
