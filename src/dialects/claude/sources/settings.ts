import { isRecord, getTypeName } from '../../../base/json.ts';
import type { Ignored } from '../../discovery.ts';
import type { ParsedEvents } from '../config/parse-events.ts';
import { describePart, type Part } from '../../../base/located-json.ts';
import { readHooksText } from '../config/read-hooks-text.ts';
import type { Source, SourceKind } from '../entry.ts';
import type { HttpRules } from '../handlers/http-rules.ts';
import type { ReadConfigText } from '../../read-config-text.ts';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { isDirectory } from '../../../base/files.ts';
import { findRealPath } from '../../../base/paths.ts';
import { findOwningRoot, findProjectRoot, formatRootSuffix } from '../../workspace-roots.ts';
import type { ClaudePlaces } from '../session.ts';

/** The content of one settings file. */
export interface SettingsReading {
  readonly source: Source;
  readonly hooks: ParsedEvents;
  readonly settings: ReadonlyMap<string, Part>;
}

/** Reads a settings file; null when there is none. */
export function readSettingsFile(
  { source, text }: SettingsFile,
  readText: ReadConfigText,
): SettingsReading | Ignored | null {
  const content = text ?? readText(source.file);
  if (content === null) return source.kind === 'flag' ? describeMissing(source) : null;
  if (typeof content !== 'string') return content;
  const { settings, ...hooks } = readHooksText(content, source, 'settings');
  if (source.hasOnlyHooks !== true) return { source, hooks, settings };
  const unread = [...settings].filter(([name]) => OTHER_SETTINGS.includes(name));
  const ignored = unread.map(([name, { line }]) => ({
    line,
    why: `"${name}" is not read in this file: only its hooks are`,
  }));
  return {
    source,
    hooks: { ...hooks, ignored: [...hooks.ignored, ...ignored] },
    settings: new Map(),
  };
}

/** What counts in a settings file of Claude beside hooks. */
const OTHER_SETTINGS = [
  'env',
  'permissions',
  'sandbox',
  'disableAllHooks',
  'enabledPlugins',
  'pluginConfigs',
  'allowedHttpHookUrls',
  'httpHookAllowedEnvVars',
  'mcpServers',
];

function describeMissing({ file }: Source): Ignored {
  return {
    path: file,
    why: 'does not exist, but was passed with --settings; expected a file or JSON that starts with {',
    mayHideHook: true,
  };
}

/**
 * Reads the rules for HTTP hooks of a source from settings of the user, the caller and the administrator. Those of
 * a workspace take away from its own hooks: they must not switch off the user's, nor widen anything.
 */
export function readHttpRules(
  settings: readonly SettingsReading[],
  { place, root }: Pick<Source, 'place' | 'root'>,
): HttpRules {
  const trusted = settings.filter(isTrusted);
  const allowedUrls = joinLists(trusted, URLS);
  const allowedEnvVars = joinLists(trusted, VARIABLES);
  const rules = { allowedUrls, ownUrls: allowedUrls ?? [], allowedEnvVars };
  if (place !== 'workspace') return rules;
  const itsOwn = settings.filter((each) => !isTrusted(each) && each.source.root === root);
  const own = joinLists(itsOwn, VARIABLES);
  return {
    ...rules,
    workspaceUrls: joinLists(itsOwn, URLS),
    allowedEnvVars:
      own === null || allowedEnvVars === null
        ? (own ?? allowedEnvVars)
        : own.filter((name) => allowedEnvVars.includes(name)),
  };
}

const URLS = 'allowedHttpHookUrls';
const VARIABLES = 'httpHookAllowedEnvVars';

/** Settings of a workspace need the user's trust first. */
export function isTrusted({ source }: SettingsReading): boolean {
  return source.place !== 'workspace';
}

/** Null when nothing restricts. A malformed list allows nothing, because somebody meant it to restrict. */
function joinLists(settings: readonly SettingsReading[], name: string): readonly string[] | null {
  const lists = settings.flatMap((each) => {
    const part = each.settings.get(name);
    return part === undefined ? [] : [(part.items ?? []).map(({ value }) => value).filter(isText)];
  });
  return lists.length === 0 ? null : [...new Set(lists.flat())];
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Reads the variables for hooks; later files override earlier ones. */
export function readEnvironment(settings: readonly SettingsReading[]): Record<string, string> {
  return collectVariables(settings.filter(isTrusted));
}

/** Reads the variables that a workspace's settings set for its own hooks. */
export function readWorkspaceEnvironment(
  settings: readonly SettingsReading[],
  root: string,
): Record<string, string> {
  return collectVariables(
    settings.filter(({ source }) => source.place === 'workspace' && source.root === root),
  );
}

function collectVariables(settings: readonly SettingsReading[]): Record<string, string> {
  const variables = settings.flatMap((each) =>
    Object.entries(selectScalars(each.settings.get('env')?.value)),
  );
  return Object.fromEntries(variables);
}

/** Selects the values that an environment variable can have, as text. */
export function selectScalars(value: unknown): Record<string, string> {
  if (!isRecord(value)) return {};
  const scalars = Object.entries(value).filter(([, each]) =>
    ['string', 'number', 'boolean'].includes(typeof each),
  );
  return Object.fromEntries(scalars.map(([name, each]) => [name, String(each)]));
}

const WORKSPACE_MAY_NOT = {
  [URLS]: 'it restricts hooks of this workspace only; to allow more, put it into your own settings',
  [VARIABLES]:
    'it restricts hooks of this workspace only; to allow more, put it into your own settings',
  pluginConfigs:
    'its options are not used: only the user sets options of plugins; put it into your own settings',
} as const;

const MANAGED_ONLY = ['allowManagedHooksOnly', 'strictPluginOnlyCustomization'] as const;

const RESTRICTING_LISTS = [URLS, VARIABLES] as const;

/** Finds lists that were meant to restrict and cannot be read, in whole or in part. */
function findMalformedLists({ source, settings }: SettingsReading): Ignored[] {
  return RESTRICTING_LISTS.flatMap((name) => {
    const list = settings.get(name);
    if (list === undefined) return [];
    const wrong = list.items === null ? [list] : list.items.filter(({ value }) => !isText(value));
    return wrong.map((part) => ({
      path: source.file,
      why: `"${name}" at line ${part.line}: expected a list of strings, found ${describePart(part)}, which allows nothing`,
      mayHideHook: true as const,
    }));
  });
}

/** Finds switches of the administrator that are neither on nor off; they count as on. */
function findMalformedSwitches({ source, settings }: SettingsReading): Ignored[] {
  if (source.kind !== 'managed') return [];
  return MANAGED_ONLY.flatMap((name) => {
    const part = settings.get(name);
    const isList = name === 'strictPluginOnlyCustomization' && part?.items?.every(isTextPart);
    if (part === undefined || typeof part.value === 'boolean' || isList === true) return [];
    const expected = name === 'strictPluginOnlyCustomization' ? ', or a list of strings' : '';
    const why = `"${name}" at line ${part.line}: expected true or false${expected}, found ${describePart(part)}, which counts as true`;
    return [{ path: source.file, why, mayHideHook: true as const }];
  });
}

function isTextPart({ value }: Part): boolean {
  return isText(value);
}

/** Finds settings that have no effect in this file, and malformed ones. */
export function findIneffectiveSettings(reading: SettingsReading): Ignored[] {
  const { source, settings } = reading;
  const describe = (name: string, why: string): Ignored[] => {
    const part = settings.get(name);
    if (part === undefined) return [];
    return [{ path: source.file, why: `"${name}" at line ${part.line}: ${why}` }];
  };
  const notHere = isTrusted(reading)
    ? []
    : Object.entries(WORKSPACE_MAY_NOT).flatMap(([name, why]) => describe(name, why));
  const notManaged = source.kind === 'managed' ? [] : MANAGED_ONLY;
  const disable = settings.get('disableAllHooks');
  return [
    ...findMalformedLists(reading),
    ...findMalformedSwitches(reading),
    ...notHere,
    ...notManaged.flatMap((name) => describe(name, 'it applies only in managed settings')),
    ...(disable === undefined || typeof disable.value === 'boolean'
      ? []
      : describe('disableAllHooks', `expected true or false, found ${getTypeName(disable.value)}`)),
  ];
}

/** A settings file that may exist, or a text in place of one. */
export interface SettingsFile {
  readonly source: Source;
  /** The settings as text, when the caller gave JSON instead of a file. */
  readonly text: string | null;
}

/** Lists every settings file that may configure hooks, in declared order, each once. */
export function listSettingsFiles(places: ClaudePlaces): readonly SettingsFile[] {
  const all = [
    ...listPersonalFiles(places),
    ...listProjectFiles(places),
    ...listClineFiles(places),
    ...listFlagFiles(places),
    ...listManagedFiles(places),
  ];
  return removeRepeats(all.map((file) => resolveOwner(file, places)));
}

function listPersonalFiles({ claudeDirectory, clineDirectory }: ClaudePlaces): SettingsFile[] {
  return [
    ...(claudeDirectory === null
      ? []
      : [createPersonalFile(path.join(claudeDirectory, 'settings.json'), 'user', 'user')]),
    ...(clineDirectory === null
      ? []
      : [
          markAsCline(
            createPersonalFile(path.join(clineDirectory, 'hooks.json'), 'user', 'user-cline'),
          ),
          markAsClineSettings(
            createPersonalFile(
              path.join(clineDirectory, 'settings.json'),
              'user',
              'user-cline-settings',
            ),
          ),
        ]),
  ];
}

function listProjectFiles(places: ClaudePlaces): SettingsFile[] {
  const directory = path.join(places.startDirectory, '.claude');
  const root = findProjectRoot(places);
  return [
    assignRoot(
      createPersonalFile(path.join(directory, 'settings.json'), 'project', 'project'),
      root,
    ),
    assignRoot(
      createPersonalFile(path.join(directory, 'settings.local.json'), 'local', 'local'),
      root,
    ),
  ];
}

function listClineFiles({ workspaceRoots }: ClaudePlaces): SettingsFile[] {
  return workspaceRoots.flatMap((root, index) => {
    const suffix = formatRootSuffix(workspaceRoots, index);
    const createFile = (name: string, label: string): SettingsFile =>
      assignRoot(
        createPersonalFile(path.join(root, '.cline', name), 'project', `${label}${suffix}`),
        root,
      );
    return [
      markAsCline(createFile('hooks.json', 'project-cline')),
      markAsClineSettings(createFile('settings.json', 'project-cline-settings')),
    ];
  });
}

function listFlagFiles({ flagSettings, startDirectory }: ClaudePlaces): SettingsFile[] {
  if (flagSettings === null) return [];
  const isText = flagSettings.trimStart().startsWith('{');
  const file = path.resolve(startDirectory, isText ? '--settings' : flagSettings);
  const { source } = createPersonalFile(file, 'flag', 'flag');
  return [{ source: { ...source, place: 'given' }, text: isText ? flagSettings : null }];
}

function listManagedFiles({ managedDirectory }: ClaudePlaces): SettingsFile[] {
  if (managedDirectory === null) return [];
  const main = createPersonalFile(
    path.join(managedDirectory, 'managed-settings.json'),
    'managed',
    'managed',
  );
  const directory = path.join(managedDirectory, 'managed-settings.d');
  return [main, ...(isDirectory(directory) ? listManagedAdditions(directory) : [])];
}

function listManagedAdditions(directory: string): SettingsFile[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      .toSorted()
      .map((name) =>
        createPersonalFile(
          path.join(directory, name),
          'managed',
          `managed:${path.parse(name).name}`,
        ),
      );
  } catch {
    // Listed as a file, so that reading it reports the error.
    return [createPersonalFile(directory, 'managed', 'managed:directory')];
  }
}

const FAMILY = 'settings';

function createPersonalFile(file: string, kind: SourceKind, label: string): SettingsFile {
  const owner = { place: 'home', root: null, isCline: false, plugin: null } as const;
  return { source: { ...owner, kind, label, file, family: FAMILY }, text: null };
}

function assignRoot(file: SettingsFile, root: string): SettingsFile {
  return { ...file, source: { ...file.source, place: 'workspace', root } };
}

function markAsCline(file: SettingsFile): SettingsFile {
  return { ...file, source: { ...file.source, isCline: true } };
}

function markAsClineSettings(file: SettingsFile): SettingsFile {
  return { ...file, source: { ...file.source, isCline: true, hasOnlyHooks: true } };
}

function resolveOwner(file: SettingsFile, places: ClaudePlaces): SettingsFile {
  const { source, text } = file;
  if (source.place === 'workspace' || source.kind === 'managed' || text !== null) return file;
  const root = findOwningRoot(source.file, places);
  return root === null ? file : assignRoot(file, root);
}

/** In the home directory the project's file is the same as the user's. */
function removeRepeats(files: readonly SettingsFile[]): SettingsFile[] {
  const knownPaths = new Set<string>();
  return files.filter(({ source, text }) => {
    const real = text === null ? (findRealPath(source.file) ?? source.file) : source.file;
    if (knownPaths.has(real)) return false;
    knownPaths.add(real);
    return true;
  });
}
