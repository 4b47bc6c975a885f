import path from 'node:path';
import type { AgentInstall, InstallFile, InstallPlace } from '../install.ts';
import { findForwardingCommand } from './forwarding-hook.ts';
import {
  createEntries,
  createGroup,
  joinIfKnown,
  TIME_LIMIT_SECONDS,
} from '../install-settings.ts';
import { findClineDirectory, findDocuments } from '../shared-directories.ts';
import { FILE_HOOK_NAMES } from './events.ts';

/** The events of `hooks.json`, which is in Claude's format. */
const CONFIG_EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'Notification',
  'SubagentStop',
  'PreCompact',
  'Stop',
  'SessionEnd',
];

/** Cline's `hooks.json`, and one file per event in its directory of hooks. */
export const clineInstall: AgentInstall = {
  title: 'Cline',
  programs: ['cline'],
  readsHooks: 'at start',
  events: FILE_HOOK_NAMES,
  listDirectories: (surroundings) => [
    ...joinIfKnown(findClineDirectory(surroundings)),
    ...findDocuments(surroundings).map((directory) => path.join(directory, 'Cline')),
  ],
  listFiles: (place) => [...listConfigFiles(place), ...listHookFiles(place)],
  listFormerFiles: (place) =>
    ['hooks.json', 'settings.json'].flatMap((name) =>
      listInOwnDirectory(place, name).map((file) => ({ path: file, container: ['hooks'] })),
    ),
  timeLimit: { keys: ['timeout'], unitMs: 1000 },
  explainOccupied: ({ command }) =>
    `Add this line to your hook, after it has read its input: printf '%s' "$input" | ${command}`,
};

function listInOwnDirectory(place: InstallPlace, name: string): readonly string[] {
  const { surroundings, scope, project } = place;
  return scope === 'project'
    ? [path.join(project, '.cline', name)]
    : joinIfKnown(findClineDirectory(surroundings), name);
}

function listConfigFiles(place: InstallPlace): readonly InstallFile[] {
  const group = createGroup(place.command, TIME_LIMIT_SECONDS, { matcher: '*' });
  return listInOwnDirectory(place, 'hooks.json').map((file) => ({
    kind: 'entries',
    path: file,
    container: ['hooks'],
    entries: createEntries(CONFIG_EVENTS, group),
  }));
}

/** Directories that no version of Cline reads together: it would run the hook twice. */
function listHookDirectories({ surroundings, scope, project }: InstallPlace): readonly string[] {
  return scope === 'project'
    ? [path.join(project, '.clinerules', 'hooks')]
    : findDocuments(surroundings).map((directory) => path.join(directory, 'Cline', 'Hooks'));
}

const EXECUTABLE = 0o755;

function listHookFiles(place: InstallPlace): readonly InstallFile[] {
  const isWindows = place.surroundings.platform === 'win32';
  return listHookDirectories(place).flatMap((directory) =>
    FILE_HOOK_NAMES.map((name) => ({
      kind: 'own',
      path: path.join(directory, isWindows ? `${name}.ps1` : name),
      text: isWindows ? formatPowerShell(place.command) : formatShell(place.command),
      mode: EXECUTABLE,
      isOurs: (text) => isForwardingHook(text, place.isOwnCommand),
    })),
  );
}

const NOTICE =
  '# Written by `hookline agents enable cline`; `hookline agents disable cline` removes it.';

function formatShell(command: string): string {
  return `#!/bin/sh\n${NOTICE}\nexec ${command}\n`;
}

function formatPowerShell(command: string): string {
  return `${NOTICE}\n$input | & ${command}\n`;
}

/** Whether a hook file does nothing but forward its event to us. */
function isForwardingHook(text: string, isOwnCommand: (command: string) => boolean): boolean {
  const command = findForwardingCommand(text);
  return command !== null && isOwnCommand(command);
}
