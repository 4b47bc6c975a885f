import path from 'node:path';
import type { AgentInstall, Cause, InstallPlace } from '../install.ts';
import {
  createEntries,
  findFolderEntry,
  findSwitchedOff,
  joinIfKnown,
  readNested,
  readSettingsObject,
  TIME_LIMIT_SECONDS,
} from '../install-settings.ts';

/** Without the events around each model request: they fire many times per turn and carry whole conversations. */
const EVENTS = [
  'SessionStart',
  'BeforeAgent',
  'BeforeTool',
  'AfterTool',
  'AfterAgent',
  'Notification',
  'SessionEnd',
];

/** Gemini CLI's settings file: groups without a matcher, which is a pattern there, and milliseconds. */
export const geminiInstall: AgentInstall = {
  title: 'Gemini CLI',
  programs: ['gemini'],
  oldestVersion: '0.26.0',
  readsHooks: 'at start',
  events: EVENTS,
  listDirectories: ({ home }) => joinIfKnown(home, '.gemini'),
  listFiles: (place) =>
    listSettings(place).map((file) => ({
      kind: 'entries',
      path: file,
      container: ['hooks'],
      entries: createEntries(EVENTS, {
        hooks: [
          {
            type: 'command',
            name: 'hookline',
            command: place.command,
            timeout: TIME_LIMIT_SECONDS * 1000,
          },
        ],
      }),
    })),
  listFormerFiles: (place) =>
    listSettings(place).map((file) => ({ path: file, container: ['hooks'] })),
  findCauses: (place) => [
    ...findSwitchedOff(listDecidingFiles(place), { keys: ['hooksConfig', 'enabled'], off: false }),
    ...findDisabledByName(place),
    ...findUntrusted(place),
  ],
  matcher: {
    tools: [
      'run_shell_command',
      'write_file',
      'replace',
      'read_file',
      'read_many_files',
      'list_directory',
      'glob',
      'grep_search',
      'search_file_content',
      'web_fetch',
      'google_web_search',
      'save_memory',
      'write_todos',
      'ask_user',
    ],
  },
  timeLimit: { keys: ['timeout'], unitMs: 1 },
};

function listSettings({ surroundings, scope, project }: InstallPlace): readonly string[] {
  return scope === 'project'
    ? [path.join(project, '.gemini', 'settings.json')]
    : joinIfKnown(surroundings.home, '.gemini', 'settings.json');
}

const SYSTEM_SETTINGS: Partial<Record<NodeJS.Platform, string>> = {
  linux: '/etc/gemini-cli/settings.json',
  darwin: '/Library/Application Support/GeminiCli/settings.json',
};

function listDecidingFiles({ surroundings, project }: InstallPlace): readonly string[] {
  const { home, platform, env } = surroundings;
  const system = env['GEMINI_CLI_SYSTEM_SETTINGS_PATH'] ?? SYSTEM_SETTINGS[platform];
  return [
    ...joinIfKnown(home, '.gemini', 'settings.json'),
    path.join(project, '.gemini', 'settings.json'),
    ...(system === undefined ? [] : [system]),
  ];
}

function findDisabledByName(place: InstallPlace): readonly Cause[] {
  return listDecidingFiles(place).flatMap((file) => {
    const names = readNested(readSettingsObject(file), 'hooksConfig', 'disabled');
    if (!Array.isArray(names)) return [];
    if (!names.includes('hookline') && !names.includes(place.command)) return [];
    const message = `${file}: "hooksConfig.disabled" lists our hook. Remove it there, or with /hooks enable hookline.`;
    return [{ code: 'hooks-off', message }];
  });
}

/** Hooks of a project need a trusted folder, where folders are checked at all. */
function findUntrusted({ surroundings, scope, project }: InstallPlace): readonly Cause[] {
  const { home } = surroundings;
  if (scope !== 'project' || home === null) return [];
  const settings = readSettingsObject(path.join(home, '.gemini', 'settings.json'));
  const entry = findFolderEntry(
    readSettingsObject(path.join(home, '.gemini', 'trustedFolders.json')),
    project,
  );
  const isChecked = readNested(settings, 'security', 'folderTrust', 'enabled') === true;
  const isTrusted = entry !== null && entry.value !== 'DO_NOT_TRUST';
  if (isTrusted || (!isChecked && entry === null)) return [];
  const message = `Gemini CLI does not trust ${project}, so that hooks of the project do not run: start it there and trust the folder.`;
  return [{ code: 'not-trusted', message }];
}
