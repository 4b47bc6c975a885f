import { chmodSync, statSync } from 'node:fs';
import { readTextIfPresent, replacePrivateFileSync } from '../base/files.ts';
import { resolveBuiltFile } from '../base/built-files.ts';
import type { Surroundings } from '../dialects/machine.ts';
import { formatInstalledCommand, getInstalledScript } from '../dialects/installed-command.ts';
import { formatHookScript } from './hook-script.ts';
import { hashText, type InstalledScript } from './install-record.ts';

/** The script that all entries start, as it would be written now. */
export interface ScriptPlan {
  readonly path: string;
  readonly text: string;
  /** Programs that it starts, by their absolute paths. */
  readonly programs: readonly string[];
}

const SCRIPT_MODE = 0o700;

export function planScript(surroundings: Surroundings, stateDirectory: string): ScriptPlan {
  const { platform, nodePath, home } = surroundings;
  const program = resolveBuiltFile('bin/hookline.js');
  return {
    path: getInstalledScript(stateDirectory, platform),
    text: formatHookScript({ platform, nodePath, program, stateDirectory, home }),
    programs: [nodePath, program],
  };
}

/** Writes the script; false when it is there already. */
export function writeScript({ path, text }: ScriptPlan): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  const isRight = readTextIfPresent(path) === text && (stats?.mode ?? 0) % 0o1000 === SCRIPT_MODE;
  if (isRight) return false;
  replacePrivateFileSync(path, text);
  chmodSync(path, SCRIPT_MODE);
  return true;
}

export function describeScript({ text, programs }: ScriptPlan): InstalledScript {
  return { sha256: hashText(text), programs };
}

/** Formats the command of an agent's entries. */
export function formatCommand(
  agent: string,
  { path }: ScriptPlan,
  surroundings: Surroundings,
): string {
  return formatInstalledCommand(path, agent, surroundings);
}
