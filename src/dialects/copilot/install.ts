import path from 'node:path';
import type { AgentInstall, Cause, InstallPlace } from '../install.ts';
import {
  findSwitchedOff,
  joinIfKnown,
  readNested,
  readSettingsObject,
  TIME_LIMIT_SECONDS,
} from '../install-settings.ts';
import { findOwnDirectory, type Surroundings } from '../machine.ts';
import { findRealPath, isInside } from '../../base/paths.ts';
import { isRecord, parseJson } from '../../base/json.ts';

/** In the spelling whose payloads name their event. */
const EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'Stop',
  'SessionEnd',
];

/** A file of our own in the directory of hooks of Copilot CLI, which runs those of all files. */
export const copilotInstall: AgentInstall = {
  title: 'Copilot CLI',
  programs: ['copilot'],
  readsHooks: 'at start',
  events: EVENTS,
  listDirectories: (surroundings) => joinIfKnown(findCopilotDirectory(surroundings)),
  listFiles: (place) =>
    listHookFiles(place).map((file) => ({
      kind: 'own',
      path: file,
      text: formatHooks(place.command),
      mode: 0o644,
      isOurs: (text) => areOurHooks(text, place),
    })),
  findCauses: (place) => [
    ...findSwitchedOff(listDecidingFiles(place), { keys: ['disableAllHooks'], off: true }),
    ...findUntrusted(place),
  ],
  timeLimit: { keys: ['timeoutSec', 'timeout'], unitMs: 1000 },
};

function findCopilotDirectory(surroundings: Surroundings): string | null {
  return findOwnDirectory(surroundings, 'COPILOT_HOME', '.copilot');
}

function listHookFiles({ surroundings, scope, project }: InstallPlace): readonly string[] {
  return scope === 'project'
    ? [path.join(project, '.github', 'hooks', 'hookline.json')]
    : joinIfKnown(findCopilotDirectory(surroundings), 'hooks', 'hookline.json');
}

function formatHooks(command: string): string {
  const entry = { type: 'command', command, timeoutSec: TIME_LIMIT_SECONDS };
  const lists = EVENTS.map((event): [string, unknown] => [event, [entry]]);
  return `${JSON.stringify({ version: 1, hooks: Object.fromEntries(lists) }, null, 2)}\n`;
}

/** Whether all commands of a file are ours. */
function areOurHooks(text: string, { isOwnCommand }: InstallPlace): boolean {
  const parsed = parseJson(text);
  const hooks = parsed.ok ? readNested(parsed.value, 'hooks') : null;
  if (!isRecord(hooks)) return false;
  const commands = Object.values(hooks)
    .flat()
    .map((entry) => readNested(entry, 'command'));
  return (
    commands.length > 0 && commands.every((each) => typeof each === 'string' && isOwnCommand(each))
  );
}

function listDecidingFiles(place: InstallPlace): readonly string[] {
  const { surroundings, project } = place;
  const directory = findCopilotDirectory(surroundings);
  return [
    ...joinIfKnown(directory, 'config.json'),
    ...joinIfKnown(directory, 'settings.json'),
    path.join(project, '.github', 'copilot', 'settings.json'),
    path.join(project, '.github', 'copilot', 'settings.local.json'),
    ...listHookFiles(place),
  ];
}

/** Hooks of a repository run in folders that the user confirmed. */
function findUntrusted({ surroundings, scope, project }: InstallPlace): readonly Cause[] {
  if (scope !== 'project') return [];
  const folders = joinIfKnown(findCopilotDirectory(surroundings), 'config.json').flatMap((file) => {
    const settings = readSettingsObject(file);
    const listed =
      readNested(settings, 'trusted_folders') ?? readNested(settings, 'trustedFolders');
    return Array.isArray(listed) ? listed.filter((each) => typeof each === 'string') : [];
  });
  const real = findRealPath(project) ?? project;
  if (folders.some((folder) => isInside(findRealPath(folder) ?? folder, real))) return [];
  const message = `Copilot CLI does not trust ${project}, so that hooks of the repository do not run: start it there and trust the folder. With -p it also needs GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS.`;
  return [{ code: 'not-trusted', message }];
}
