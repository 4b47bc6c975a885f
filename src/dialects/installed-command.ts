import path from 'node:path';

/** The script that other agents start. On Windows it is a program of Node. */
export function getInstalledScript(
  stateDirectory: string,
  platform: NodeJS.Platform = 'linux',
): string {
  return platform === 'win32'
    ? path.win32.join(stateDirectory, 'bin', 'hook.cjs')
    : path.join(stateDirectory, 'bin', 'hook');
}

/**
 * Formats the command of an entry: one quoted path and one word, without a port, an address, a version or
 * an operator of a shell. It never changes, because Codex asks again for trust when it does, and Cursor
 * ignores a file with an address in it.
 */
export function formatInstalledCommand(
  script: string,
  agent: string,
  { platform, nodePath }: { readonly platform: NodeJS.Platform; readonly nodePath: string },
): string {
  if (platform === 'win32') return `"${nodePath}" "${script}" ${agent}`;
  return `'${script.replaceAll("'", String.raw`'\''`)}' ${agent}`;
}

/** Why Hookline's own host does not run the hooks that it has installed in other agents. */
export const FORWARDING =
  'records events of another agent and is not run here: `hookline agents enable` has installed it';

/**
 * Finds the script that a command of ours starts; null for any other command. Ours is the one of this
 * state directory, and that of any directory named `.hookline`: another one may have been used before.
 */
export function findInstalledScript(command: string, stateDirectory: string | null): string | null {
  const posix = /^'((?:[^']|'\\'')*)' [a-z]+$/.exec(command.trim());
  const windows = /^"[^"]+" "([^"]+)" [a-z]+$/.exec(command.trim());
  const script = posix?.[1]?.replaceAll(String.raw`'\''`, "'") ?? windows?.[1];
  if (script === undefined) return null;
  const isHere = stateDirectory !== null && script === getInstalledScript(stateDirectory);
  return isHere || /[/\\]\.hookline[/\\]bin[/\\]hook(?:\.cjs)?$/.test(script) ? script : null;
}
