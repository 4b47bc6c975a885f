import type { HookEvent } from '../../../hooks/facts.ts';
import type { Grant } from '../../discovery.ts';
import { type Environment, PROVIDER_KEYS } from '../../../process/environment.ts';
import { cleanEnvironment } from '../../../process/search-path.ts';
import type { Entry, Source } from '../entry.ts';
import { hasEffort } from '../input/payload.ts';
import type { ClaudeSession } from '../session.ts';

/** Builds the part of a command hook's environment that is the same for every event. */
export function buildBaseEnvironment(
  entry: Entry,
  session: ClaudeSession,
  base: Readonly<Environment>,
): Environment {
  const inherited = {
    ...filterInherited(base),
    ...selectSettingsVariables(entry, session, base),
    ...entry.environment,
  };
  const isForeign = entry.source.place === 'workspace';
  return {
    ...(isForeign
      ? inherited
      : cleanEnvironment(inherited, session.untrusted, session.machine.platform)),
    CLAUDECODE: '1',
    CLAUDE_CODE_CHILD_SESSION: '1',
    CLAUDE_CODE_ENTRYPOINT: session.isAttended ? 'cli' : 'sdk-cli',
    CLAUDE_CODE_SESSION_ATTENDED: session.isAttended ? '1' : '0',
    CLAUDE_PID: String(process.pid),
    COREPACK_ENABLE_AUTO_PIN: '0',
    NoDefaultCurrentDirectoryInExePath: '1',
    ...buildPlaceVariables(entry, session),
    ...buildOptionVariables(entry),
  };
}

/**
 * Selects variables of the user's settings. Hooks of a workspace do not get provider keys this way
 * either.
 */
export function selectSettingsVariables(
  { source }: Entry,
  { settingsEnv }: ClaudeSession,
  base: Readonly<Environment>,
): Environment {
  if (source.place !== 'workspace') return settingsEnv;
  const allowed = Object.entries(settingsEnv).filter(
    ([name]) => name in base || !PROVIDER_KEYS.includes(name),
  );
  return Object.fromEntries(allowed);
}

/** Builds the variables that depend on the event. */
export function buildEventEnvironment(
  event: HookEvent,
  envFile: string | null,
  { callback }: Pick<Grant, 'callback'>,
): Environment {
  return {
    ...callback?.(event),
    CLAUDE_CODE_SESSION_ID: event.sessionId,
    AI_AGENT: `hookline_${event.version.replaceAll('.', '-')}_harness`,
    ...(event.effort === undefined || !hasEffort(event.name)
      ? {}
      : { CLAUDE_EFFORT: event.effort }),
    ...(envFile === null ? {} : { CLAUDE_ENV_FILE: envFile }),
  };
}

/** Builds the variables that are also replaced as `${NAME}` in a command without a shell. */
export function buildPlaceVariables({ source }: Entry, session: ClaudeSession): Environment {
  const { plugin } = source;
  return {
    CLAUDE_PROJECT_DIR: getProjectDirectory(source, session),
    ...(plugin === null ? {} : { CLAUDE_PLUGIN_ROOT: plugin.root }),
    ...(plugin === null || plugin.data === null ? {} : { CLAUDE_PLUGIN_DATA: plugin.data }),
  };
}

/** For `.cline/hooks.json` it is the root that contains the file, not the start directory. */
export function getProjectDirectory(
  { isCline, root }: Source,
  { startDirectory }: ClaudeSession,
): string {
  return isCline && root !== null ? root : startDirectory;
}

function buildOptionVariables({ source: { plugin } }: Entry): Environment {
  const options = Object.entries(plugin?.options ?? {});
  return Object.fromEntries(
    options.map(([key, value]) => [`CLAUDE_PLUGIN_OPTION_${key.toUpperCase()}`, value]),
  );
}

const NOT_MEANT_FOR_HOOKS = [
  // Hooks would send telemetry as the host.
  /^OTEL_/,
  // A process inside a hook of another session inherits that hook's values.
  /^CLAUDE_(?:ENV_FILE|EFFORT|PLUGIN_ROOT|PLUGIN_DATA|PLUGIN_OPTION_\w+)$/,
];

function filterInherited(base: Readonly<Environment>): Environment {
  const inherited = Object.entries(base).filter(
    ([name]) => !NOT_MEANT_FOR_HOOKS.some((pattern) => pattern.test(name)),
  );
  return Object.fromEntries(inherited);
}
