import path from 'node:path';
import type { AgentInstall, Cause, InstallPlace } from '../install.ts';
import {
  createEntries,
  createGroup,
  joinIfKnown,
  readNested,
  TIME_LIMIT_SECONDS,
} from '../install-settings.ts';
import { findOwnDirectory, type Surroundings } from '../machine.ts';
import { askForHooks, type CodexHook } from './ask-for-hooks.ts';
import { readToml } from './read-toml.ts';

const EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PermissionRequest',
  'PostToolUse',
  'SubagentStart',
  'SubagentStop',
  'PreCompact',
  'PostCompact',
  'Stop',
  'SessionEnd',
];

/** Codex's `hooks.json`: Claude's groups. Codex runs a hook only after the user has trusted its text. */
export const codexInstall: AgentInstall = {
  title: 'Codex',
  programs: ['codex'],
  readsHooks: 'at start',
  events: EVENTS,
  listDirectories: (surroundings) => joinIfKnown(findCodexDirectory(surroundings)),
  listFiles: (place) =>
    listHooksFiles(place).map((file) => ({
      kind: 'entries',
      path: file,
      container: ['hooks'],
      entries: createEntries(EVENTS, createGroup(place.command, TIME_LIMIT_SECONDS)),
    })),
  findCauses: async (place) => {
    const off = findOff(place);
    return off.length > 0 ? off : findUntrusted(place);
  },
  matcher: {
    tools: ['Bash', 'apply_patch', 'Write', 'Edit', 'spawn_agent', 'Agent', 'update_plan'],
  },
  timeLimit: { keys: ['timeout'], unitMs: 1000 },
  nextStep: 'Codex skips a hook until you have trusted it: start codex and review it with /hooks.',
};

export function findCodexDirectory(surroundings: Surroundings): string | null {
  return findOwnDirectory(surroundings, 'CODEX_HOME', '.codex');
}

function listHooksFiles({ surroundings, scope, project }: InstallPlace): readonly string[] {
  return scope === 'project'
    ? [path.join(project, '.codex', 'hooks.json')]
    : joinIfKnown(findCodexDirectory(surroundings), 'hooks.json');
}

const SYSTEM_DIRECTORY = '/etc/codex';

function findOff(place: InstallPlace): readonly Cause[] {
  const { surroundings, project } = place;
  const configs = [
    path.join(SYSTEM_DIRECTORY, 'config.toml'),
    ...joinIfKnown(findCodexDirectory(surroundings), 'config.toml'),
    path.join(project, '.codex', 'config.toml'),
  ];
  const switched = configs
    .map((file) => ({ file, value: readNested(readToml(file), 'features', 'hooks') }))
    .findLast(({ value }) => typeof value === 'boolean');
  const requirements = path.join(SYSTEM_DIRECTORY, 'requirements.toml');
  const isManaged = readNested(readToml(requirements), 'allow_managed_hooks_only') === true;
  return [
    ...(switched?.value === false
      ? [
          {
            code: 'hooks-off' as const,
            message: `${switched.file}: "hooks" in [features] is false, so that no hook runs. Set it to true.`,
          },
        ]
      : []),
    ...(isManaged
      ? [
          {
            code: 'hooks-managed' as const,
            message: `${requirements}: "allow_managed_hooks_only" lets only the administrator’s hooks run.`,
          },
        ]
      : []),
  ];
}

/** Codex skips a hook that was not trusted without a word, and only its own server knows which. */
async function findUntrusted(place: InstallPlace): Promise<readonly Cause[]> {
  const hooks = await askForHooks(place);
  if (hooks === null) return [];
  const files = new Set(listHooksFiles(place));
  const own = hooks.filter(
    ({ command, sourcePath }) => place.isOwnCommand(command) && files.has(sourcePath),
  );
  const states = new Map<string, CodexHook[]>();
  for (const hook of own.filter(({ enabled, trustStatus }) => !enabled || isSkipped(trustStatus))) {
    const state = hook.enabled ? hook.trustStatus : 'disabled';
    states.set(state, [...(states.get(state) ?? []), hook]);
  }
  if (own.length === 0) {
    const message = `Codex does not load ${[...files].join(', ')} here${place.scope === 'project' ? ': does it trust the project?' : ''}`;
    return [{ code: 'not-trusted', message }];
  }
  return [...states].map(([state, skipped]) => ({
    code: state === 'disabled' ? 'hooks-off' : 'not-trusted',
    message: `Codex skips ${skipped.length} of ${own.length} hooks, which are ${state}: start codex and review them with /hooks.`,
  }));
}

function isSkipped(trustStatus: string): boolean {
  return trustStatus !== 'trusted' && trustStatus !== 'managed';
}
