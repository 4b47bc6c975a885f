import { tryOrNull } from '../base/errors.ts';
import { readSettingsTextIfPresent } from '../base/files.ts';
import type { AgentInstall, InstallPlace } from '../dialects/install.ts';
import { listEntries } from './entries.ts';

/** Packages whose commands stand in the settings of agents, and which npm no longer has. */
const FORMER_PACKAGES = [
  '@principal-ai/agent-hooks',
  '@principal-ade/agent-manager',
  '@a24z/agent-manager',
];

/** Finds the vanished package that a command starts; null when it starts none. */
function findFormerPackage(command: string): string | null {
  return FORMER_PACKAGES.find((name) => command.includes(name)) ?? null;
}

export function isFormerCommand(command: string): boolean {
  return findFormerPackage(command) !== null;
}

/** Lists the places of entries that start a package which no longer exists, as `file:line` or a file. */
export function listFormerEntries(install: AgentInstall, place: InstallPlace): readonly string[] {
  const places = (install.listFormerFiles?.(place) ?? []).flatMap(({ path, container }) => {
    if (container === undefined) return [path];
    const text = tryOrNull(() => readSettingsTextIfPresent(path));
    const entries = text === null ? [] : (tryOrNull(() => listEntries(text, container)) ?? []);
    return entries
      .filter(({ command }) => isFormerCommand(command))
      .map(({ line }) => `${path}:${line}`);
  });
  return [...new Set(places)];
}
