import { existsSync } from 'node:fs';
import { getErrorMessage, isHooklineError, tryOrNull } from '../base/errors.ts';
import { isFile, readTextIfPresent } from '../base/files.ts';
import type { Cause } from '../dialects/install.ts';
import { findInstalledScript } from '../dialects/installed-command.ts';
import { isProgram } from '../process/program-finder.ts';
import type { AgentsMachine } from './agents.ts';
import { hashText, readInstallRecord } from './install-record.ts';

/** Finds out whether the scripts that our entries start can run. */
export function findScriptCauses(
  agent: string,
  commands: readonly string[],
  { stateDirectory, surroundings }: AgentsMachine,
): readonly Cause[] {
  const repair = `Run \`hookline agents enable ${agent}\` again.`;
  const scripts = commands.flatMap((command) => findInstalledScript(command, stateDirectory) ?? []);
  return [...new Set(scripts)].flatMap((script) => [
    ...checkScript(script, surroundings.platform, repair),
    ...checkPrograms(script, stateDirectory, repair),
  ]);
}

function checkScript(script: string, platform: NodeJS.Platform, repair: string): readonly Cause[] {
  if (!isFile(script)) {
    return [{ code: 'program-missing', message: `${script} is missing. ${repair}` }];
  }
  if (platform === 'win32') return [];
  const text = tryOrNull(() => readTextIfPresent(script)) ?? '';
  const interpreter = /^#! *(\S+)/.exec(text)?.[1];
  return [
    ...(isProgram(script)
      ? []
      : [{ code: 'not-executable' as const, message: `${script} is not executable. ${repair}` }]),
    ...(interpreter === undefined || isProgram(interpreter)
      ? []
      : [
          {
            code: 'interpreter-missing' as const,
            message: `${script} needs ${interpreter}, which is missing. ${repair}`,
          },
        ]),
  ];
}

/** Compares the script with what was written, and looks for the programs that it starts. */
function checkPrograms(script: string, stateDirectory: string, repair: string): readonly Cause[] {
  const written = readScriptRecord(stateDirectory);
  if (written === null || !script.startsWith(stateDirectory)) return [];
  if ('message' in written) return [written];
  const text = tryOrNull(() => readTextIfPresent(script));
  return [
    ...(text === null || hashText(text) === written.sha256
      ? []
      : [
          {
            code: 'script-changed' as const,
            message: `${script} is not what Hookline wrote. ${repair}`,
          },
        ]),
    ...written.programs
      .filter((program) => !existsSync(program))
      .map((program) => ({
        code: 'program-missing' as const,
        message: `${script} starts ${program}, which is missing. ${repair}`,
      })),
  ];
}

function readScriptRecord(stateDirectory: string) {
  try {
    return readInstallRecord(stateDirectory).script;
  } catch (error) {
    if (!isHooklineError(error)) throw error;
    return { code: 'file-broken' as const, message: getErrorMessage(error) };
  }
}
