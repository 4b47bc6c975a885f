import path from 'node:path';
import type { AgentInstall, Cause, InstallPlace } from '../install.ts';
import {
  createEntries,
  createGroup,
  findFolderEntry,
  findSwitchedOff,
  joinIfKnown,
  readNested,
  readSettingsObject,
  TIME_LIMIT_SECONDS,
} from '../install-settings.ts';

/** The events of the oldest version whose hooks are known. */
const EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PermissionRequest',
  'PostToolUse',
  'PostToolUseFailure',
  'Notification',
  'SubagentStart',
  'SubagentStop',
  'PreCompact',
  'Stop',
  'SessionEnd',
];

/** Qwen Code's settings file: Claude's groups, but milliseconds. */
export const qwenInstall: AgentInstall = {
  title: 'Qwen Code',
  programs: ['qwen'],
  readsHooks: 'at start',
  events: EVENTS,
  listDirectories: ({ home }) => joinIfKnown(home, '.qwen'),
  listFiles: (place) =>
    listSettings(place).map((file) => ({
      kind: 'entries',
      path: file,
      container: ['hooks'],
      entries: createEntries(
        EVENTS,
        createGroup(place.command, TIME_LIMIT_SECONDS * 1000, { matcher: '*' }),
      ),
    })),
  findCauses: (place) => [
    ...findSwitchedOff(listDecidingFiles(place), { keys: ['disableAllHooks'], off: true }),
    ...findUntrusted(place),
  ],
  matcher: {
    tools: [
      'run_shell_command',
      'write_file',
      'edit',
      'read_file',
      'read_many_files',
      'list_directory',
      'glob',
      'grep_search',
      'web_fetch',
      'web_search',
      'save_memory',
      'todo_write',
      'task',
      'agent',
      'skill',
      'ask_user_question',
      'Shell',
      'WriteFile',
      'Edit',
      'ReadFile',
    ],
  },
  timeLimit: { keys: ['timeout'], unitMs: 1 },
};

function listSettings({ surroundings, scope, project }: InstallPlace): readonly string[] {
  return scope === 'project'
    ? [path.join(project, '.qwen', 'settings.json')]
    : joinIfKnown(surroundings.home, '.qwen', 'settings.json');
}

function listDecidingFiles({ surroundings, project }: InstallPlace): readonly string[] {
  return [
    ...joinIfKnown(surroundings.home, '.qwen', 'settings.json'),
    path.join(project, '.qwen', 'settings.json'),
    '/etc/qwen-code/settings.json',
  ];
}

/** Hooks of a project need a trusted folder, where folders are checked at all. */
function findUntrusted({ surroundings, scope, project }: InstallPlace): readonly Cause[] {
  const { home } = surroundings;
  if (scope !== 'project' || home === null) return [];
  const settings = readSettingsObject(path.join(home, '.qwen', 'settings.json'));
  const entry = findFolderEntry(
    readSettingsObject(path.join(home, '.qwen', 'trustedFolders.json')),
    project,
  );
  const isChecked = readNested(settings, 'security', 'folderTrust', 'enabled') === true;
  const isTrusted = entry !== null && entry.value !== 'DO_NOT_TRUST';
  if (isTrusted || (!isChecked && entry === null)) return [];
  const message = `Qwen Code does not trust ${project}, so that hooks of the project do not run: start it there and trust the folder.`;
  return [{ code: 'not-trusted', message }];
}
