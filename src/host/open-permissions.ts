import path from 'node:path';
import { dropUndefined } from '../base/defined.ts';
import { HooklineError } from '../base/errors.ts';
import { formatPath, isInside } from '../base/paths.ts';
import { describeMisspelledTool } from '../dialects/known-tools.ts';
import { createPermissions } from '../permissions/create-permissions.ts';
import {
  type PermissionMode,
  type Permissions,
  findLooseningPart,
  type PermissionSettings,
} from '../permissions/permissions.ts';
import { buildChildEnvironment, type Environment, PROVIDER_KEYS } from '../process/environment.ts';
import {
  createGitConfigurationReader,
  type ReadGitConfiguration,
} from '../process/git/git-configuration.ts';
import { createProgramSearch, listUntrustedDirectories } from '../process/search-path.ts';
import { createGitProfiles, type FindGitProfile } from '../process/git/git-profiles.ts';
import { expandHome } from '../permissions/rules/home-path.ts';
import {
  parsePermissionRule,
  type PermissionRuleSetting,
} from '../permissions/rules/permission-rule.ts';
import type { UnitStatus } from './hook-set.ts';
import type { OpenedHooks } from './open-hooks.ts';
import { ProtectedPaths } from '../permissions/protected-paths.ts';
import type { PluginEntry } from '../plugins/entry.ts';
import { DIALECTS, listProtectedPlaces } from '../dialects/index.ts';

/** Permissions of the caller, which override every file but an administrator's. */
export interface PermissionFlags {
  /** Null leaves it to the settings. */
  readonly mode?: PermissionMode | null;
  /** Rules of `--allow` and `--deny`. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** Directories of `--add-dir`. */
  readonly directories?: readonly string[];
}

/**
 * Opens the permissions of a session. Deny rules of a workspace apply at once, its allow rules once it
 * is trusted; the rules are reloaded together with the hooks. `notices` are messages for the user, such
 * as ignored rules; `units` are the trust units of allow rules in workspace settings.
 */
export function openPermissions(
  opened: OpenedHooks,
  flags: PermissionFlags = {},
): {
  readonly permissions: Permissions;
  readonly notices: readonly string[];
  readonly units: readonly UnitStatus[];
} {
  const { hookSet, workspaceRoots: roots, startDirectory: cwd, surroundings } = opened;
  const flagRules = parseFlagRules(flags);
  const settings = hookSet.permissions().map((each) => each.settings);
  const effective = settings.filter((each) => explainIgnored(each, opened) === null);
  const { mode, forbiddenBy, notices } = resolveInitialMode(
    settings,
    effective,
    flags.mode ?? null,
    opened,
  );
  const permissions = createPermissions({
    mode,
    rules: createRuleReader(flagRules, opened),
    cwd,
    roots,
    home: surroundings.home,
    directories: [
      ...(flags.directories ?? []),
      ...effective.flatMap((each) => resolveDirectories(each, opened)),
    ],
    protectedPaths: createHostProtectedPaths(opened),
    findGitProfile: createHostGitProfiles(opened),
    searchPrograms: (directory, directories) =>
      createProgramSearch(hookSet.variables()['PATH'] ?? surroundings.env['PATH'], {
        cwd: directory,
        untrusted: listUntrustedDirectories(
          [...directories, ...opened.untrusted],
          surroundings.home,
        ),
      }),
    bypassForbiddenBy: forbiddenBy,
    findExitForbidder: () => findExitForbidder(opened),
  });
  return {
    permissions,
    notices: [
      ...flagRules.flatMap(({ text, source }) => describeUnknownTool(text, source)),
      ...settings.flatMap((each) => createNotices(each, opened)),
      ...notices,
    ],
    units: listUnits(opened),
  };
}

function parseFlagRules({
  allow = [],
  deny = [],
}: PermissionFlags): readonly PermissionRuleSetting[] {
  const rules: readonly PermissionRuleSetting[] = [
    ...allow.map((text) => ({ behavior: 'allow' as const, text, source: '--allow' })),
    ...deny.map((text) => ({ behavior: 'deny' as const, text, source: '--deny' })),
  ];
  for (const rule of rules) {
    const parsed = parsePermissionRule(rule);
    if (typeof parsed === 'string') {
      throw new HooklineError('USAGE_INVALID', { message: `${rule.source}: ${parsed}` });
    }
  }
  return rules;
}

/** Returns the current rules; the same list as long as the settings were not reloaded. */
function createRuleReader(
  flagRules: readonly PermissionRuleSetting[],
  opened: OpenedHooks,
): () => readonly PermissionRuleSetting[] {
  let rulesFrom: ReturnType<OpenedHooks['hookSet']['permissions']> | null = null;
  let rules = flagRules;
  return () => {
    const current = opened.hookSet.permissions();
    if (current !== rulesFrom) rules = [...flagRules, ...listRules(opened)];
    rulesFrom = current;
    return rules;
  };
}

function listRules(opened: OpenedHooks): readonly PermissionRuleSetting[] {
  return opened.hookSet.permissions().flatMap(({ settings }) => {
    const { file, root } = settings;
    const origin = {
      source: formatFile(file, opened),
      ...dropUndefined({ root: root ?? undefined }),
    };
    const isEffective = (): boolean => explainIgnored(settings, opened) === null;
    return [
      ...settings.deny.map(({ text }) => ({ behavior: 'deny' as const, text, ...origin })),
      ...settings.ask.map(({ text }) => ({ behavior: 'ask' as const, text, ...origin })),
      ...settings.allow.map(({ text }) => ({
        behavior: 'allow' as const,
        text,
        ...origin,
        counts: isEffective,
      })),
    ];
  });
}

function findExitForbidder(opened: OpenedHooks): string | null {
  const forbidding = opened.hookSet.sandboxLimits().find(({ forbidsExit }) => forbidsExit);
  return forbidding === undefined ? null : formatFile(forbidding.file, opened);
}

function formatFile(file: string, { workspaceRoots, surroundings }: OpenedHooks): string {
  return formatPath(file, { cwd: workspaceRoots[0] ?? '/', home: surroundings.home });
}

/** Explains why the allow rules of these settings are ignored now; null when they apply. */
function explainIgnored(settings: PermissionSettings, { hookSet }: OpenedHooks): string | null {
  if (settings.whyNothingAllowed !== null) return settings.whyNothingAllowed;
  if (settings.origin !== 'workspace' || findLooseningPart(settings) === null) return null;
  const unit = hookSet.permissions().find((each) => each.settings === settings)?.unit;
  if (unit === undefined || unit === null) return 'untrusted: it no longer exists';
  const { state, why } = hookSet.status(unit);
  return state === 'ready' ? null : `${state}: ${why}`;
}

function listUnits({ hookSet }: OpenedHooks): readonly UnitStatus[] {
  return hookSet.permissions().flatMap(({ unit }) => (unit === null ? [] : hookSet.status(unit)));
}

/** Resolves directories relative to the one that the session starts in. */
function resolveDirectories(
  { additionalDirectories }: PermissionSettings,
  { startDirectory, surroundings }: OpenedHooks,
): readonly string[] {
  return additionalDirectories.map((directory) =>
    path.resolve(startDirectory, expandHome(directory, surroundings.home)),
  );
}

function createNotices(settings: PermissionSettings, opened: OpenedHooks): readonly string[] {
  const file = formatFile(settings.file, opened);
  const why = findLooseningPart(settings) === null ? null : explainIgnored(settings, opened);
  // Problems that may hide a guard are reported with the hooks.
  const problems = settings.problems.filter(({ mayHideGuard }) => !mayHideGuard);
  return [
    ...problems.map(({ text }) => `${file}: ${text}`),
    ...(why === null
      ? []
      : [`what ${file} allows is ignored (${why}): review it with \`hookline trust\``]),
  ];
}

/** A rule for an unknown tool never matches, which would go unnoticed. */
function describeUnknownTool(rule: string, where: string): readonly string[] {
  const [tool = ''] = rule.trim().split('(', 1);
  const note = tool.includes('*') ? null : describeMisspelledTool(tool);
  return note === null ? [] : [`${where}: ${note}`];
}

/** Resolves the mode that a session starts in, and the file that forbids bypassPermissions; the last settings win. */
function resolveInitialMode(
  settings: readonly PermissionSettings[],
  effective: readonly PermissionSettings[],
  flagMode: PermissionMode | null,
  opened: OpenedHooks,
): { mode: PermissionMode; forbiddenBy: string | null; notices: readonly string[] } {
  const forbiddingSettings = settings.find(({ forbidsBypass }) => forbidsBypass);
  const forbiddenBy =
    forbiddingSettings === undefined ? null : formatFile(forbiddingSettings.file, opened);
  const requestedMode = flagMode ?? resolveConfiguredMode(settings, effective);
  if (requestedMode !== 'bypassPermissions' || forbiddenBy === null) {
    return { mode: requestedMode, forbiddenBy, notices: [] };
  }
  const notice = `the mode bypassPermissions is disabled by ${forbiddenBy}; the session starts in the mode default`;
  return { mode: 'default', forbiddenBy, notices: [notice] };
}

/** From the least to the most restrictive mode. */
const BY_STRICTNESS: readonly PermissionMode[] = [
  'bypassPermissions',
  'acceptEdits',
  'default',
  'dontAsk',
  'plan',
];

function resolveConfiguredMode(
  settings: readonly PermissionSettings[],
  effective: readonly PermissionSettings[],
): PermissionMode {
  let mode: PermissionMode = 'default';
  for (const each of settings) {
    const { defaultMode, origin } = each;
    if (defaultMode === null) continue;
    const canLoosen =
      effective.includes(each) && (origin !== 'workspace' || isLoosening(defaultMode));
    if (canLoosen || getStrictness(defaultMode) >= getStrictness(mode)) mode = defaultMode;
  }
  return mode;
}

/** Whether a workspace may set the mode only with trust; its other modes can only tighten. */
function isLoosening(mode: PermissionMode): boolean {
  return getStrictness(mode) < getStrictness('default');
}

function getStrictness(mode: PermissionMode): number {
  return BY_STRICTNESS.indexOf(mode);
}

function createHostGitProfiles({ surroundings }: OpenedHooks): FindGitProfile {
  return createGitProfiles(buildGitEnvironment(surroundings), surroundings.platform);
}

/** Reads git's configuration as the agent's commands would. */
export function createHostGitReader({ surroundings }: OpenedHooks): ReadGitConfiguration {
  return createGitConfigurationReader(buildGitEnvironment(surroundings), surroundings.platform);
}

/** Git gets the environment of the agent's commands; the keys in it play no part. */
function buildGitEnvironment({ env: base, platform }: OpenedHooks['surroundings']): Environment {
  return buildChildEnvironment({ base, platform, withhold: PROVIDER_KEYS, pass: [], add: {} });
}

/** Protects the agents' files by their usual names, and those that this machine or the caller moved. */
export function createHostProtectedPaths(opened: OpenedHooks): ProtectedPaths {
  const names = DIALECTS.flatMap(({ ownPaths }) => ownPaths?.protected ?? []);
  const directories = listProtectedDirectories(opened);
  return new ProtectedPaths(opened.surroundings.home, directories, names);
}

/** Lists Hookline's own state, and the directories of hooks and plugins, wherever they are. */
export function listProtectedDirectories(opened: OpenedHooks): readonly string[] {
  const { stateDirectory, hookSet } = opened;
  const hookFiles = hookSet.hooks().filter(({ unit }) => unit.line === null);
  return [
    ...(stateDirectory === null ? [] : [stateDirectory]),
    ...listKeyPlaces(opened),
    ...listProtectedPlaces(opened),
    ...new Set(hookFiles.map(({ unit }) => path.dirname(unit.path))),
    ...hookSet.plugins().flatMap(({ entry }) => listPluginPaths(entry, opened)),
  ];
}

/** The directory of the key that seals the trust record; with HOOKLINE_HOME the key and its seal themselves. */
function listKeyPlaces({ trust, stateDirectory }: OpenedHooks): readonly string[] {
  if (trust.files === null) return [];
  const { key } = trust.files;
  return key === `${stateDirectory}.key` ? [key, `${stateDirectory}.seal`] : [path.dirname(key)];
}

/** Lists the directory of a plugin, unless it is the workspace itself: then only its file. */
function listPluginPaths(
  { file, package: owner }: PluginEntry,
  { workspaceRoots }: OpenedHooks,
): readonly string[] {
  const directory = owner?.directory ?? path.dirname(file);
  const isWorkspace = workspaceRoots.some((root) => isInside(directory, root));
  return isWorkspace ? [file] : [directory];
}
