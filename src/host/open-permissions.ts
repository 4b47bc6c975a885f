import path from 'node:path';
import { HooklineError } from '../base/errors.ts';
import { formatPath, isInside } from '../base/paths.ts';
import { misspeltToolNote } from '../dialects/claude-config/match/tool-names.ts';
import { createPermissions } from '../permissions/create-permissions.ts';
import type {
  PermissionMode,
  PermissionBehavior,
  Permissions,
} from '../permissions/permissions.ts';
import { expandHome } from '../permissions/rules/path-pattern.ts';
import {
  parsePermissionRule,
  type PermissionRuleSetting,
} from '../permissions/rules/permission-rule.ts';
import { findLooseningPart, type PermissionSettings } from '../permissions/settings.ts';
import type { HookStatus } from './hook-set.ts';
import type { OpenedHooks } from './open-hooks.ts';
import { createProtectedPaths, type ProtectedPaths } from '../permissions/protected-paths.ts';
import type { PluginEntry } from '../plugins/entry.ts';
import { clinePlaces } from './dialects/cline.ts';
import { claudeDirectory, clineDirectory } from './dialects/own-directory.ts';
import { getClineServersFile } from './mcp/own-servers.ts';

/** What the caller says, which stands above every file but an administrator's. */
export interface PermissionFlags {
  /** Null leaves it to the settings. */
  readonly mode?: PermissionMode | null;
  /** Rules of `--allow` and `--deny`. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** Directories of `--add-dir`. */
  readonly directories?: readonly string[];
}

interface OpenedPermissions {
  readonly permissions: Permissions;
  /** What a person should know, such as rules that do not count. */
  readonly notices: readonly string[];
  /** What settings of the workspace allow, and whether it counts. */
  readonly units: readonly HookStatus[];
}

/**
 * The permissions of a session. What a workspace forbids counts at once, what it allows once it is
 * trusted; rules follow the settings as the hooks do.
 */
export function openPermissions(
  opened: OpenedHooks,
  flags: PermissionFlags = {},
): OpenedPermissions {
  const { hookSet, workspaceRoots: roots, startDirectory: cwd, surroundings } = opened;
  const given = flagRules(flags);
  const settings = hookSet.permissions();
  const counting = settings.filter((each) => whyNotAllowed(each, opened) === null);
  const { mode, forbiddenBy, notices } = resolveInitialMode({
    settings,
    counting,
    asked: flags.mode ?? null,
    nameFile: (file) => nameFile(file, opened),
  });
  const permissions = createPermissions({
    mode,
    rules: followRules(given, opened),
    cwd,
    roots,
    home: surroundings.home,
    directories: [
      ...(flags.directories ?? []),
      ...counting.flatMap((each) => directoriesOf(each, opened)),
    ],
    protectedPaths: createHostProtectedPaths(opened),
    bypassForbiddenBy: forbiddenBy,
  });
  return {
    permissions,
    notices: [
      ...given.flatMap(({ text, source }) => toolNotes(text, source)),
      ...settings.flatMap((each) => noticesOf(each, opened)),
      ...notices,
    ],
    units: unitsOf(opened),
  };
}

function flagRules({ allow = [], deny = [] }: PermissionFlags): readonly PermissionRuleSetting[] {
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

/** The rules as they are now; the same list as long as nobody looked for settings again. */
function followRules(
  given: readonly PermissionRuleSetting[],
  opened: OpenedHooks,
): () => readonly PermissionRuleSetting[] {
  let seen: readonly PermissionSettings[] | null = null;
  let rules = given;
  return () => {
    const now = opened.hookSet.permissions();
    if (now !== seen) rules = [...given, ...rulesOf(opened)];
    seen = now;
    return rules;
  };
}

function rulesOf(opened: OpenedHooks): readonly PermissionRuleSetting[] {
  return opened.hookSet.permissions().flatMap((settings) => {
    const { file, root } = settings;
    const origin = { source: nameFile(file, opened), ...(root === null ? {} : { root }) };
    const counts = (): boolean => whyNotAllowed(settings, opened) === null;
    return [
      ...settings.deny.map(({ text }) => ({ behavior: 'deny' as const, text, ...origin })),
      ...settings.ask.map(({ text }) => ({ behavior: 'ask' as const, text, ...origin })),
      ...settings.allow.map(({ text }) => ({
        behavior: 'allow' as const,
        text,
        ...origin,
        counts,
      })),
    ];
  });
}

function nameFile(file: string, { workspaceRoots, surroundings }: OpenedHooks): string {
  return formatPath(file, { cwd: workspaceRoots[0] ?? '/', home: surroundings.home });
}

/** Why what these settings allow does not count now, or null when it does. */
function whyNotAllowed(settings: PermissionSettings, { hookSet }: OpenedHooks): string | null {
  if (settings.whyNothingAllowed !== null) return settings.whyNothingAllowed;
  if (settings.origin !== 'workspace' || findLooseningPart(settings) === null) return null;
  const unit = hookSet.found().find(({ permissions }) => permissions === settings);
  if (unit === undefined) return 'untrusted: it is no longer there';
  const { state, why } = hookSet.status(unit);
  return state === 'ready' ? null : `${state}: ${why}`;
}

function unitsOf({ hookSet }: OpenedHooks): readonly HookStatus[] {
  const units = hookSet.found().filter(({ permissions }) => permissions !== undefined);
  return units.map((unit) => hookSet.status(unit));
}

/** Relative ones are meant from where the session begins. */
function directoriesOf(
  { additionalDirectories }: PermissionSettings,
  { startDirectory, surroundings }: OpenedHooks,
): readonly string[] {
  return additionalDirectories.map((directory) =>
    path.resolve(startDirectory, expandHome(directory, surroundings.home)),
  );
}

function noticesOf(settings: PermissionSettings, opened: OpenedHooks): readonly string[] {
  const file = nameFile(settings.file, opened);
  const why = findLooseningPart(settings) === null ? null : whyNotAllowed(settings, opened);
  return [
    ...settings.problems.map((problem) => `${file}: ${problem}`),
    ...ruleProblems(settings).map((problem) => `${file}: ${problem}`),
    ...(why === null
      ? []
      : [`what ${file} allows does not count (${why}); look at it with \`hookline trust\``]),
  ];
}

const BEHAVIORS: readonly PermissionBehavior[] = ['deny', 'ask', 'allow'];

function ruleProblems(settings: PermissionSettings): readonly string[] {
  return BEHAVIORS.flatMap((behavior) =>
    settings[behavior].flatMap(({ text, line }) => {
      const parsed = parsePermissionRule({ behavior, text, source: settings.file });
      return typeof parsed === 'string'
        ? [`line ${line}: ${parsed}`]
        : toolNotes(text, `line ${line}`);
    }),
  );
}

/** A rule for a tool that there is not guards nothing, and nobody would notice. */
function toolNotes(rule: string, where: string): readonly string[] {
  const [tool = ''] = rule.trim().split('(', 1);
  const note = tool.includes('*') ? null : misspeltToolNote(tool);
  return note === null ? [] : [`${where}: ${note}`];
}

interface ModeRequest {
  /** In declared order: the last one counts. */
  readonly settings: readonly PermissionSettings[];
  /** Those of them whose loosening counts. */
  readonly counting: readonly PermissionSettings[];
  /** What the caller chose; null when it leaves it to the settings. */
  readonly asked: PermissionMode | null;
  readonly nameFile: (file: string) => string;
}

interface FoundMode {
  readonly mode: PermissionMode;
  /** Who forbids the mode bypassPermissions, or null. */
  readonly forbiddenBy: string | null;
  readonly notices: readonly string[];
}

/** The mode that a session begins in. */
function resolveInitialMode({ settings, counting, asked, nameFile }: ModeRequest): FoundMode {
  const forbidding = settings.find(({ forbidsBypass }) => forbidsBypass);
  const forbiddenBy = forbidding === undefined ? null : nameFile(forbidding.file);
  const wanted = asked ?? configuredMode(settings, counting);
  if (wanted !== 'bypassPermissions' || forbiddenBy === null) {
    return { mode: wanted, forbiddenBy, notices: [] };
  }
  const notice = `the mode bypassPermissions is switched off by ${forbiddenBy}; the session begins in the mode default`;
  return { mode: 'default', forbiddenBy, notices: [notice] };
}

/** From the mode that lets most pass to the one that lets least. */
const BY_STRICTNESS: readonly PermissionMode[] = [
  'bypassPermissions',
  'acceptEdits',
  'default',
  'dontAsk',
  'plan',
];

function configuredMode(
  settings: readonly PermissionSettings[],
  counting: readonly PermissionSettings[],
): PermissionMode {
  let mode: PermissionMode = 'default';
  for (const each of settings) {
    const { defaultMode, origin } = each;
    if (defaultMode === null) continue;
    const mayLoosen = counting.includes(each) && (origin !== 'workspace' || isLoose(defaultMode));
    if (mayLoosen || strictness(defaultMode) >= strictness(mode)) mode = defaultMode;
  }
  return mode;
}

/** What trust in a workspace covers; its other modes can only tighten. */
function isLoose(mode: PermissionMode): boolean {
  return strictness(mode) < strictness('default');
}

function strictness(mode: PermissionMode): number {
  return BY_STRICTNESS.indexOf(mode);
}

const IN_CLAUDE = ['settings.json', 'hooks', 'plugins', 'skills', 'agents'];
const IN_CLINE = ['hooks.json', 'hooks', 'plugins'];

/** The usual places are known by their names; here are those that this machine or this caller moved. */
export function createHostProtectedPaths(opened: OpenedHooks): ProtectedPaths {
  const { surroundings, stateDirectory, workspaceRoots, hookSet } = opened;
  const { documents, hooksDirectory } = clinePlaces({
    surroundings,
    workspaceRoots,
    hooksDirectory: null,
  });
  const clineServers = getClineServersFile(opened);
  const found = hookSet.found();
  const hookFiles = found.filter(({ line, plugin }) => line === null && plugin === undefined);
  return createProtectedPaths({
    home: surroundings.home,
    directories: [
      ...(stateDirectory === null ? [] : [stateDirectory]),
      ...namesIn(claudeDirectory(surroundings), IN_CLAUDE),
      ...namesIn(clineDirectory(surroundings), IN_CLINE),
      ...documents.map((directory) => path.join(directory, 'Cline', 'Hooks')),
      ...documents.map((directory) => path.join(directory, 'Cline', 'Rules', 'Hooks')),
      ...documents.map((directory) => path.join(directory, 'Cline', 'Plugins')),
      ...(hooksDirectory === null ? [] : [hooksDirectory]),
      ...(clineServers === null ? [] : [clineServers]),
      ...new Set(hookFiles.map((hook) => path.dirname(hook.path))),
      ...found.flatMap(({ plugin }) => (plugin === undefined ? [] : placesOf(plugin, opened))),
    ],
  });
}

/** All that a plugin is made of, unless that is what the agent works on: then its file alone. */
function placesOf(
  { file, package: owner }: PluginEntry,
  { workspaceRoots }: OpenedHooks,
): readonly string[] {
  const directory = owner?.directory ?? path.dirname(file);
  const isWorkspace = workspaceRoots.some((root) => isInside(directory, root));
  return isWorkspace ? [file] : [directory];
}

function namesIn(directory: string | null, names: readonly string[]): readonly string[] {
  return directory === null ? [] : names.map((name) => path.join(directory, name));
}
