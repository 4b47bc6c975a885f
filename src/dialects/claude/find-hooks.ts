import { lstatSync } from 'node:fs';
import path from 'node:path';
import { memoize } from '../../base/memoize.ts';
import type { Discoverer } from '../dialect.ts';
import type {
  AnnouncedFile,
  Discovery,
  FoundHook,
  FoundPermissions,
  Ignored,
} from '../discovery.ts';
import type { BrokenEntry, Entry, Source, SourceKind } from './entry.ts';
import { EntryHandlers, type RanOnce } from './entry-handlers.ts';
import {
  createBrokenGate,
  type BrokenGate,
  createFoundHook,
  type NamedEntry,
  type NamedGate,
} from './found-hook.ts';
import { createHeldTexts } from './pending-settings.ts';
import { formatNickname } from './identity.ts';
import { createBudget } from './match/matching.ts';
import { GATES, isGate } from './events.ts';
import { createServerUnit } from './server-unit.ts';
import { createPermissionUnit } from './sources/permissions.ts';
import type { HookPorts } from '../ports.ts';
import type { ClaudeSession } from './session.ts';
import type { ClaudePlaces } from './sources/places.ts';
import { readConfigText } from '../read-config-text.ts';
import { readSources, type SourcesReading } from './sources/read-sources.ts';

export interface ClaudeConfigOptions {
  readonly places: ClaudePlaces;
  readonly session: Omit<ClaudeSession, 'settingsEnv'>;
  readonly ports: HookPorts;
}

interface DiscoveryContext extends ClaudeConfigOptions {
  readonly ranOnce: RanOnce;
}

/** Discovers hooks in Claude's format in settings files, plugins, skills and `.cline/hooks.json`. */
export function createClaudeDiscoverer(options: ClaudeConfigOptions): Discoverer {
  const texts = createHeldTexts((file) => readConfigText(file));
  const ranOnce: RanOnce = new Map();
  return {
    changes: texts,
    createServerUnit: (server) => createServerUnit(server, options.session),
    discover({ keepsAnnounced = false } = {}): Discovery {
      const read = keepsAnnounced ? texts.readCurrent : texts.readNow;
      if (isAnythingThere(options.places)) {
        return createDiscovery(readSources(options.places, read), { ...options, ranOnce });
      }
      // Callers that only list hooks never read `watched`.
      const reading = memoize(() => readSources(options.places, read));
      return {
        hooks: [],
        ignored: [],
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
    ]),
    ...(claudeDirectory === null ? [] : [claudeDirectory]),
    ...(clineDirectory === null ? [] : [path.join(clineDirectory, 'hooks.json')]),
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

function createDiscovery(reading: SourcesReading, options: DiscoveryContext): Discovery {
  const { ignored, broken, watched } = reading;
  return {
    hooks: [
      ...(reading.entries.length === 0 ? [] : listConfiguredHooks(reading, options)),
      ...addGateNames(broken.flatMap(listBrokenGates)).map((gate) => createBrokenGate(gate)),
    ],
    ignored: [...ignored, ...broken.flatMap(describeIgnoredEntry)],
    watched,
    announced: reading.settingsFiles.flatMap(listAnnouncedFiles),
    permissions: listPermissions(reading),
    mcpServers: reading.mcpServers.servers.map((server) => ({
      kind: 'mcpServer',
      unit: createServerUnit(server, options.session),
      server,
    })),
    brokenServers: reading.mcpServers.broken,
    pluginFolders: reading.plugins,
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
  { ports, session: given, ranOnce }: DiscoveryContext,
): readonly FoundHook[] {
  const session: ClaudeSession = { ...given, settingsEnv: env };
  const handlers = new EntryHandlers(session, ports, httpRules, ranOnce);
  const services = { session, handlers, budget: createBudget() };
  return withNames(entries).map((entry) => createFoundHook(entry, services));
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
function listBrokenGates({ event, ...broken }: BrokenEntry): readonly BrokenGate[] {
  if (event === null) return GATES.map((gate) => ({ ...broken, event: gate }));
  return isGate(event) ? [{ ...broken, event }] : [];
}

/** A broken entry of another event is only listed as ignored. */
function describeIgnoredEntry({ source, line, event, why }: BrokenEntry): Ignored[] {
  if (event === null || isGate(event)) return [];
  return [{ path: source.file, why: `line ${line}: ${why}` }];
}

/** Creates ids such as `claude:project:PreToolUse:format.sh`; a second of the same name ends in `~2`. */
function createNames(): (source: Source, name: string) => { id: string; ownId: string } {
  const counts = new Map<string, number>();
  return ({ label, kind }, name) => {
    // The key in the trust record must not depend on which other roots are open.
    const ownLabel = kind === 'project' ? label.replace(/@.*$/, '') : label;
    const mark = formatRepeatMark(incrementCount(counts, `${label}:${name}`));
    return { id: `claude:${label}:${name}${mark}`, ownId: `claude:${ownLabel}:${name}${mark}` };
  };
}

function withNames(entries: readonly Entry[]): readonly NamedEntry[] {
  const names = createNames();
  const indexes = new Map<string, number>();
  return entries.map((entry) => ({
    entry,
    index: incrementCount(indexes, entry.event),
    ...names(entry.source, `${entry.event}:${formatNickname(entry)}`),
  }));
}

function addGateNames(gates: readonly BrokenGate[]): readonly NamedGate[] {
  const names = createNames();
  return gates.map((broken) => ({
    broken,
    ...names(broken.source, `${broken.event}:line-${broken.line}`),
  }));
}

function incrementCount(counts: Map<string, number>, key: string): number {
  const count = counts.get(key) ?? 0;
  counts.set(key, count + 1);
  return count;
}

function formatRepeatMark(before: number): string {
  return before === 0 ? '' : `~${before + 1}`;
}
