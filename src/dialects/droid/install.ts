import path from 'node:path';
import { isFile } from '../../base/files.ts';
import { isRecord } from '../../base/json.ts';
import type { AgentInstall, Cause, EntriesFile, InstallPlace } from '../install.ts';
import {
  createEntries,
  createGroup,
  findSwitchedOff,
  joinIfKnown,
  readNested,
  readSettingsObject,
  TIME_LIMIT_SECONDS,
} from '../install-settings.ts';

const EVENTS = [
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

/**
 * Droid reads a bare map of events, and `hooks` of its settings. Where both have an event, only the map
 * counts, so that each entry goes to the file that already has the event: it would hide the user's otherwise.
 */
export const droidInstall: AgentInstall = {
  title: 'Droid',
  programs: ['droid'],
  readsHooks: 'at start',
  events: EVENTS,
  listDirectories: ({ home }) => joinIfKnown(home, '.factory'),
  listFiles: (place) => listFactoryDirectories(place).flatMap((each) => listFilesIn(each, place)),
  listFormerFiles: (place) =>
    listFactoryDirectories(place).flatMap((directory) => [
      { path: path.join(directory, 'settings.json'), container: ['hooks'] },
      { path: findMapFile(directory), container: [] },
    ]),
  findCauses: (place) =>
    listFactoryDirectories(place).flatMap((directory) => [
      ...findOff(directory),
      ...findWrapped(directory),
      ...findShadowed(directory, place),
    ]),
  matcher: {
    tools: [
      'Execute',
      'Create',
      'Edit',
      'MultiEdit',
      'ApplyPatch',
      'Read',
      'Glob',
      'Grep',
      'LS',
      'Task',
      'FetchUrl',
      'WebSearch',
      'TodoWrite',
    ],
  },
  timeLimit: { keys: ['timeout'], unitMs: 1000 },
};

function listFactoryDirectories({ surroundings, scope, project }: InstallPlace): readonly string[] {
  return scope === 'project'
    ? [path.join(project, '.factory')]
    : joinIfKnown(surroundings.home, '.factory');
}

/** The older place counts only while the newer one has no file. */
function findMapFile(directory: string): string {
  const file = path.join(directory, 'hooks.json');
  const older = path.join(directory, 'hooks', 'hooks.json');
  return !isFile(file) && isFile(older) ? older : file;
}

function listFilesIn(directory: string, place: InstallPlace): readonly EntriesFile[] {
  const settings = path.join(directory, 'settings.json');
  const map = findMapFile(directory);
  const inSettings = new Set(
    EVENTS.filter(
      (event) =>
        hasForeignEntry(readNested(readSettingsObject(settings), 'hooks', event), place) &&
        isFree(readNested(readSettingsObject(map), event), place),
    ),
  );
  const group = createGroup(place.command, TIME_LIMIT_SECONDS);
  const inMap = EVENTS.filter((event) => !inSettings.has(event));
  return [
    { kind: 'entries', path: map, container: [], entries: createEntries(inMap, group) },
    ...(inSettings.size === 0 && !hasOwnEntry(settings, place)
      ? []
      : [
          {
            kind: 'entries' as const,
            path: settings,
            container: ['hooks'],
            entries: createEntries([...inSettings], group),
          },
        ]),
  ];
}

function listCommands(list: unknown): readonly string[] {
  if (!Array.isArray(list)) return [];
  return list
    .flatMap((group) => readNested(group, 'hooks'))
    .map((handler) => readNested(handler, 'command'))
    .filter((command) => typeof command === 'string');
}

function hasForeignEntry(list: unknown, { isOwnCommand }: InstallPlace): boolean {
  return listCommands(list).some((command) => !isOwnCommand(command));
}

/** Whether a map has no entry for an event, or only ours. */
function isFree(list: unknown, place: InstallPlace): boolean {
  if (list === undefined) return true;
  return listCommands(list).length > 0 && !hasForeignEntry(list, place);
}

function hasOwnEntry(settings: string, { isOwnCommand }: InstallPlace): boolean {
  const hooks = readNested(readSettingsObject(settings), 'hooks');
  return isRecord(hooks) && Object.values(hooks).flatMap(listCommands).some(isOwnCommand);
}

function findOff(directory: string): readonly Cause[] {
  const settings = path.join(directory, 'settings.json');
  const files = [settings, findMapFile(directory)];
  const managed = readNested(readSettingsObject(settings), 'allowManagedHooksOnly') === true;
  return [
    ...findSwitchedOff(files, { keys: ['hooksDisabled'], off: true }),
    ...(managed
      ? [
          {
            code: 'hooks-managed' as const,
            message: `${settings}: "allowManagedHooksOnly" lets only the organisation’s hooks run.`,
          },
        ]
      : []),
  ];
}

/** The documentation shows the file with "hooks" around it; Droid then loads nothing of that. */
function findWrapped(directory: string): readonly Cause[] {
  const map = findMapFile(directory);
  if (!isRecord(readNested(readSettingsObject(map), 'hooks'))) return [];
  const message = `${map}: expected the events themselves, found them in "hooks", where Droid does not look. Remove the "hooks" around them.`;
  return [{ code: 'file-wrapped', message }];
}

function findShadowed(directory: string, { isOwnCommand }: InstallPlace): readonly Cause[] {
  const settings = path.join(directory, 'settings.json');
  const map = findMapFile(directory);
  const older = path.join(directory, 'hooks', 'hooks.json');
  const ownIn = (file: string, ...keys: readonly string[]): readonly string[] =>
    EVENTS.filter((event) =>
      listCommands(readNested(readSettingsObject(file), ...keys, event)).some(isOwnCommand),
    );
  const hidden = ownIn(settings, 'hooks').filter(
    (event) =>
      readNested(readSettingsObject(map), event) !== undefined && !ownIn(map).includes(event),
  );
  const inOlder = map === older ? [] : ownIn(older);
  return [
    ...hidden.map((event) => describeShadowed(settings, event, map)),
    ...inOlder.map((event) => describeShadowed(older, event, map)),
  ];
}

function describeShadowed(file: string, event: string, by: string): Cause {
  const message = `${file}: ${event} does not count, because ${by} is read instead. Run \`hookline agents enable droid\` again.`;
  return { code: 'file-shadowed', message };
}
