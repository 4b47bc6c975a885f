import { lstatSync } from 'node:fs';
import path from 'node:path';
import { memoize } from '../../base/memoize.ts';
import { type ExpectedPath, isSettingsLike } from '../../base/misspelt-paths.ts';
import type { Discoverer } from '../dialect.ts';
import { findInstalledScript, FORWARDING } from '../installed-command.ts';
import {
  type AnnouncedFile,
  type DiscoveredUnit,
  type Discovery,
  type FoundHook,
  type FoundPermissions,
  type Ignored,
  listMisspeltPlaces,
} from '../discovery.ts';
import type { BrokenEntry, Entry, Source, SourceKind } from './entry.ts';
import { EntryHandlers, type RanOnce } from './entry-handlers.ts';
import { createBrokenGate, createFoundHook } from './found-hook.ts';
import { PendingSettings } from './pending-settings.ts';
import { compileEntryMatcher } from './match/entry-matcher.ts';
import { formatNickname } from './identity.ts';
import { CompileBudget } from './match/subject-matcher.ts';
import { GATES, isGate } from './events.ts';
import { createServerUnit } from './binding.ts';
import { createPermissionUnit } from './sources/permissions.ts';
import type { HookPorts } from '../ports.ts';
import type { ClaudePlaces, ClaudeSession } from './session.ts';
import { readConfigText } from '../read-config-text.ts';
import { readSources, type SourcesReading } from './sources/read-sources.ts';
import { readClaudeUserServers } from './sources/user-servers.ts';

/** The session before its settings are read. */
type SessionBeforeSettings = Omit<ClaudeSession, 'settingsEnv'>;

/** Discovers hooks in Claude's format in settings files, plugins, skills and files in `.cline`. */
export function createClaudeDiscoverer(
  places: ClaudePlaces,
  session: SessionBeforeSettings,
  ports: HookPorts,
): Discoverer {
  const texts = new PendingSettings((file) => readConfigText(file));
  const ranOnce: RanOnce = new Map();
  return {
    changes: texts,
    createServerUnit: (server) => createServerUnit(server, session),
    readUserServers: () => readClaudeUserServers(places),
    discover({ keepsAnnounced = false } = {}): Discovery {
      const read = (file: string) =>
        keepsAnnounced ? texts.readCurrent(file) : texts.readNow(file);
      const misspelt = listMisspeltPlaces(listExpectedFiles(places));
      if (isAnythingThere(places)) {
        const found = createDiscovery(readSources(places, read), session, ports, ranOnce);
        return { ...found, ignored: [...found.ignored, ...misspelt] };
      }
      // Callers that only list hooks never read `watched`.
      const reading = memoize(() => readSources(places, read));
      return {
        hooks: [],
        ignored: misspelt,
        get watched() {
          return reading().watched;
        },
        get announced() {
          return reading().settingsFiles.flatMap(listAnnouncedFiles);
        },
      };
    },
  };
}

/** Settings files whose names people misspell, and their directories in a workspace. */
function listExpectedFiles(places: ClaudePlaces): readonly ExpectedPath[] {
  const { startDirectory, claudeDirectory, clineDirectory, managedDirectory } = places;
  const expect = (base: string | null, ...names: readonly string[]): readonly ExpectedPath[] =>
    base === null ? [] : [{ base, names, isMeant: isSettingsLike }];
  return [
    ...expect(startDirectory, '.claude', 'settings.json'),
    ...expect(startDirectory, '.claude', 'settings.local.json'),
    ...places.workspaceRoots.flatMap((root) => expect(root, '.cline', 'hooks.json')),
    ...expect(claudeDirectory, 'settings.json'),
    ...expect(clineDirectory, 'hooks.json'),
    ...expect(managedDirectory, 'managed-settings.json'),
  ];
}

/** Whether any place exists that may configure something; this check is cheap, and mostly false. */
function isAnythingThere(places: ClaudePlaces): boolean {
  const { startDirectory, claudeDirectory, clineDirectory, managedDirectory } = places;
  if (places.flagSettings !== null || places.pluginDirectories.length > 0) return true;
  return [
    path.join(startDirectory, '.claude'),
    path.join(startDirectory, '.mcp.json'),
    path.join(startDirectory, 'hooks', 'hooks.json'),
    ...places.workspaceRoots.flatMap((root) => [
      path.join(root, '.claude'),
      path.join(root, '.cline', 'hooks.json'),
      path.join(root, '.cline', 'settings.json'),
    ]),
    ...(claudeDirectory === null ? [] : [claudeDirectory]),
    ...(clineDirectory === null
      ? []
      : [path.join(clineDirectory, 'hooks.json'), path.join(clineDirectory, 'settings.json')]),
    ...(managedDirectory === null ? [] : [managedDirectory]),
  ].some(canExist);
}

/** True for a dangling link and for an unreadable directory, because both must be reported. */
function canExist(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

function createDiscovery(
  reading: SourcesReading,
  session: SessionBeforeSettings,
  ports: HookPorts,
  ranOnce: RanOnce,
): Discovery {
  const { ignored, broken, watched } = reading;
  const { entries, forwarding } = separateForwarding(reading.entries, session);
  return {
    hooks: [
      ...(entries.length === 0
        ? []
        : listConfiguredHooks({ ...reading, entries }, session, ports, ranOnce)),
      ...listBrokenGates(broken),
    ],
    ignored: [...ignored, ...forwarding, ...broken.flatMap(describeIgnoredEntry)],
    watched,
    announced: reading.settingsFiles.flatMap(listAnnouncedFiles),
    permissions: listPermissions(reading),
    sandboxLimits: reading.sandboxes.map(({ limits }) => limits),
    variables: reading.env,
    mcpServers: reading.mcpServers.servers.map((server) => ({
      kind: 'mcpServer',
      unit: createServerUnit(server, session),
      server,
    })),
    brokenServers: reading.mcpServers.broken,
    pluginFolders: reading.plugins,
  };
}

/** Separates the entries that forward events of other agents to us: here they would record an event twice. */
function separateForwarding(
  all: SourcesReading['entries'],
  { stateDirectory }: SessionBeforeSettings,
): { readonly entries: SourcesReading['entries']; readonly forwarding: readonly Ignored[] } {
  const isForwarding = (entry: Entry): boolean =>
    entry.type === 'command' && findInstalledScript(entry.command, stateDirectory) !== null;
  const files = new Set(all.filter(isForwarding).map(({ source }) => source.file));
  if (files.size === 0) return { entries: all, forwarding: [] };
  return {
    entries: all.filter((entry) => !isForwarding(entry)),
    forwarding: [...files].map((file) => ({ path: file, why: FORWARDING })),
  };
}

/** Ids look like `claude:project:permissions`. */
function listPermissions({ permissions }: SourcesReading): readonly FoundPermissions[] {
  const names = createNames();
  return permissions.map((each) => ({
    kind: 'permissions',
    unit: createPermissionUnit(each, names),
    settings: each.settings,
  }));
}

function listConfiguredHooks(
  { entries, env, httpRules }: SourcesReading,
  sessionOptions: SessionBeforeSettings,
  ports: HookPorts,
  ranOnce: RanOnce,
): readonly FoundHook[] {
  const session: ClaudeSession = { ...sessionOptions, settingsEnv: env };
  const handlers = new EntryHandlers(session, ports, httpRules, ranOnce);
  const budget = new CompileBudget();
  const createName = createNames();
  const indexes = new Map<string, number>();
  return entries.map((entry) => {
    const name = createName(entry.source, `${entry.event}:${formatNickname(entry)}`);
    const index = incrementCount(indexes, entry.event);
    const entryMatcher = compileEntryMatcher(entry, session.home, budget);
    return createFoundHook(entry, { ...name, index }, entryMatcher, handlers, session);
  });
}

/** The `source` of ConfigChange for each kind of settings; changes of other kinds fire no event. */
const ANNOUNCED: Readonly<Partial<Record<SourceKind, string>>> = {
  user: 'user_settings',
  project: 'project_settings',
  local: 'local_settings',
  managed: 'policy_settings',
};

function listAnnouncedFiles({ kind, file }: Source): AnnouncedFile[] {
  const source = ANNOUNCED[kind];
  return source === undefined ? [] : [{ file, source }];
}

/** A file that cannot be parsed may contain a guard for any gate event. */
function listBrokenGates(broken: readonly BrokenEntry[]): readonly FoundHook[] {
  const createName = createNames();
  return broken.flatMap((entry) => {
    const { source, line, event } = entry;
    if (event !== null && !isGate(event)) return [];
    const gates = event === null ? GATES : [event];
    const name = event ?? path.basename(source.file);
    return [createBrokenGate(entry, gates, createName(source, `${name}:line-${line}`))];
  });
}

/** A broken entry of another event is only listed as ignored. */
function describeIgnoredEntry({ source, line, event, why }: BrokenEntry): Ignored[] {
  if (event === null || isGate(event)) return [];
  return [{ path: source.file, why: `line ${line}: ${why}`, mayHideHook: true }];
}

/** Creates ids such as `claude:project:PreToolUse:format.sh`; a second of the same name ends in `~2`. */
function createNames(): (source: Source, name: string) => Pick<DiscoveredUnit, 'id' | 'ownId'> {
  const counts = new Map<string, number>();
  return ({ label, kind }, name) => {
    // The key in the trust record must not depend on which other roots are open.
    const ownLabel = kind === 'project' ? label.replace(/@.*$/, '') : label;
    const mark = formatRepeatMark(incrementCount(counts, `${label}:${name}`));
    return { id: `claude:${label}:${name}${mark}`, ownId: `claude:${ownLabel}:${name}${mark}` };
  };
}

function incrementCount(counts: Map<string, number>, key: string): number {
  const count = counts.get(key) ?? 0;
  counts.set(key, count + 1);
  return count;
}

function formatRepeatMark(before: number): string {
  return before === 0 ? '' : `~${before + 1}`;
}
