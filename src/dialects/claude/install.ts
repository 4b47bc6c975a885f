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
import { findClaudeDirectory, findManagedDirectory } from './directories.ts';

/** Events that every version since the first with hooks ignores or knows. */
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

/** Claude Code's settings file: groups with a matcher, time limits in seconds. */
export const claudeInstall: AgentInstall = {
  title: 'Claude Code',
  programs: ['claude'],
  oldestVersion: '1.0.38',
  readsHooks: 'at once',
  events: EVENTS,
  listDirectories: (surroundings) => joinIfKnown(findClaudeDirectory(surroundings)),
  listFiles: (place) =>
    listSettings(place).map((file) => ({
      kind: 'entries',
      path: file,
      container: ['hooks'],
      entries: createEntries(
        EVENTS,
        createGroup(place.command, TIME_LIMIT_SECONDS, { matcher: '*' }),
      ),
    })),
  listFormerFiles: (place) =>
    listSettings(place).map((file) => ({ path: file, container: ['hooks'] })),
  findCauses: (place) => [
    ...findSwitchedOff(listDecidingFiles(place), { keys: ['disableAllHooks'], off: true }),
    ...findManaged(place),
    ...findUntrusted(place),
  ],
  matcher: {
    tools: [
      'Bash',
      'Read',
      'Write',
      'Edit',
      'MultiEdit',
      'NotebookEdit',
      'Glob',
      'Grep',
      'WebFetch',
      'WebSearch',
      'Task',
      'Agent',
      'TodoWrite',
      'TaskCreate',
      'TaskUpdate',
      'AskUserQuestion',
      'Skill',
    ],
  },
  timeLimit: { keys: ['timeout'], unitMs: 1000 },
};

function listSettings({ surroundings, scope, project }: InstallPlace): readonly string[] {
  return scope === 'project'
    ? [path.join(project, '.claude', 'settings.json')]
    : joinIfKnown(findClaudeDirectory(surroundings), 'settings.json');
}

/** The files that switch hooks off, the strongest last. */
function listDecidingFiles({ surroundings, project }: InstallPlace): readonly string[] {
  return [
    ...joinIfKnown(findClaudeDirectory(surroundings), 'settings.json'),
    path.join(project, '.claude', 'settings.json'),
    path.join(project, '.claude', 'settings.local.json'),
    ...joinIfKnown(findManagedDirectory(surroundings), 'managed-settings.json'),
  ];
}

function findManaged({ surroundings }: InstallPlace): readonly Cause[] {
  const files = joinIfKnown(findManagedDirectory(surroundings), 'managed-settings.json');
  return files.flatMap((file) => {
    const settings = readSettingsObject(file);
    const plugins = readNested(settings, 'strictPluginOnlyCustomization');
    const isForHooks = plugins === true || (Array.isArray(plugins) && plugins.includes('hooks'));
    const name =
      readNested(settings, 'allowManagedHooksOnly') === true
        ? 'allowManagedHooksOnly'
        : 'strictPluginOnlyCustomization';
    if (name === 'strictPluginOnlyCustomization' && !isForHooks) return [];
    const message = `${file}: "${name}" lets only the administrator’s hooks run.`;
    return [{ code: 'hooks-managed', message }];
  });
}

/** Interactive sessions run no hook, not even the user's own, in a folder that was not accepted. */
function findUntrusted({ surroundings, project }: InstallPlace): readonly Cause[] {
  const { env, home } = surroundings;
  const moved = env['CLAUDE_CONFIG_DIR'] ?? '';
  const directory = moved === '' ? home : moved;
  return joinIfKnown(directory, '.claude.json').flatMap((file) => {
    const projects = readNested(readSettingsObject(file), 'projects');
    const entry = findFolderEntry(projects, project);
    if (entry === null || readNested(entry.value, 'hasTrustDialogAccepted') !== false) return [];
    const message = `Claude Code does not trust ${entry.folder} yet: start it there and accept its question.`;
    return [{ code: 'not-trusted', message }];
  });
}
