import { HooklineError } from '../base/errors.ts';
import { isDirectory } from '../base/files.ts';
import { memoize } from '../base/memoize.ts';
import type { FindGitProfile } from '../process/git/git-profiles.ts';
import { AllowedDirectories } from './allowed-directories.ts';
import { DeniedFileLister } from './denied-files.ts';
import { findDeniedReads } from './denied-reads.ts';
import { judgeCall } from './judge.ts';
import type {
  PermissionMode,
  Permissions,
  PermissionRuleText,
  PermissionUpdate,
  ProgramSearch,
} from './permissions.ts';
import type { ProtectedPaths } from './protected-paths.ts';
import {
  parsePermissionRule,
  type PermissionRule,
  type PermissionRuleSetting,
} from './rules/permission-rule.ts';
import { parseUpdate } from './permission-updates.ts';

export interface PermissionsOptions {
  readonly mode: PermissionMode;
  /**
   * Rules of settings and of the command line, or a function that returns the current ones: the same
   * list as long as nothing changed. Invalid rules are ignored; the caller reports them.
   */
  readonly rules: readonly PermissionRuleSetting[] | (() => readonly PermissionRuleSetting[]);
  /** The directory that the session starts in. */
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly home: string | null;
  /** Directories beside the workspace that the agent may work in. */
  readonly directories: readonly string[];
  readonly protectedPaths: ProtectedPaths;
  readonly findGitProfile: FindGitProfile;
  /** Finds programs as a shell in `cwd` would; the agent can write to `directories`. */
  readonly searchPrograms: (cwd: string, directories: readonly string[]) => ProgramSearch;
  /** The file that forbids the mode bypassPermissions, for messages; null when none does. */
  readonly bypassForbiddenBy?: string | null;
  /** Finds the file that forbids commands to leave the sandbox, for messages; null when none does. */
  readonly findExitForbidder?: () => string | null;
}

/** The permissions of one session. */
export function createPermissions(options: PermissionsOptions): Permissions {
  const { cwd, roots, home, protectedPaths, bypassForbiddenBy = null } = options;
  const allowedDirectories = new AllowedDirectories(cwd, home, roots, options.directories);
  const sessionRules = new SessionRules();
  const deniedFiles = new DeniedFileLister();
  const readRules = createRuleReader(options.rules);
  let mode = options.mode;
  const listRules = (): readonly PermissionRule[] => [...readRules(), ...sessionRules.list()];
  const places = { cwd, roots, home };
  const setModeByHook = (next: PermissionMode): readonly string[] => {
    const problem = explainForbiddenMode(next, options.mode, bypassForbiddenBy);
    if (problem !== null) return [`the mode ${next} was not set: ${problem}`];
    mode = next;
    return [];
  };
  return {
    mode: () => mode,
    setMode(next) {
      if (next === 'bypassPermissions' && bypassForbiddenBy !== null) {
        throw new HooklineError('USAGE_INVALID', {
          message: `the mode bypassPermissions is disabled by ${bypassForbiddenBy}`,
        });
      }
      mode = next;
    },
    directories: () => allowedDirectories.directories(),
    addDirectory: (directory) => allowedDirectories.add(directory),
    judge: (call) => {
      const rules = listRules();
      const findGitProfile = memoize(() =>
        options.findGitProfile(call.cwd, [...roots, ...allowedDirectories.directories()]),
      );
      return judgeCall(call, {
        mode,
        rules,
        places,
        allowedDirectories,
        protectedPaths,
        findGitProfile,
        programs: options.searchPrograms(call.cwd, [...roots, ...allowedDirectories.directories()]),
        exitForbiddenBy: options.findExitForbidder?.() ?? null,
      });
    },
    deniedReads: (from) => findDeniedReads(listRules(), from, places)?.includes ?? null,
    deniedFiles: (from, searched) => deniedFiles.list(listRules(), from, places, searched),
    update: (updates) =>
      updates.flatMap((value) => {
        const { update, notes } = parseUpdate(value);
        if (update === null) return notes;
        if (update.type === 'setMode') return [...notes, ...setModeByHook(update.mode)];
        if ('directories' in update) {
          return [...notes, ...updateDirectories(update, allowedDirectories)];
        }
        return [...notes, ...updateRules(update, sessionRules)];
      }),
  };
}

/** Parses the rules again only when the list is another one. */
function createRuleReader(rules: PermissionsOptions['rules']): () => readonly PermissionRule[] {
  const readCurrent = typeof rules === 'function' ? rules : () => rules;
  let parsedFrom = readCurrent();
  let parsed = parseAll(parsedFrom);
  return () => {
    const current = readCurrent();
    if (current !== parsedFrom) parsed = parseAll(current);
    parsedFrom = current;
    return parsed;
  };
}

function parseAll(rules: readonly PermissionRuleSetting[]): readonly PermissionRule[] {
  return rules.map(parsePermissionRule).filter((rule) => typeof rule !== 'string');
}

/** A hook may set bypassPermissions only in a session that the user started in it. */
function explainForbiddenMode(
  mode: PermissionMode,
  initialMode: PermissionMode,
  forbiddenBy: string | null,
): string | null {
  if (mode !== 'bypassPermissions') return null;
  if (forbiddenBy !== null) return `it is disabled by ${forbiddenBy}`;
  return initialMode === mode ? null : 'the session was not started in it';
}

function updateDirectories(
  { type, directories }: DirectoriesUpdate,
  allowedDirectories: AllowedDirectories,
): readonly string[] {
  return directories.flatMap((directory) => {
    if (type === 'removeDirectories') {
      allowedDirectories.remove(directory);
      return [];
    }
    if (!isDirectory(allowedDirectories.resolve(directory))) {
      return [`${directory} was not added: it does not exist`];
    }
    allowedDirectories.add(directory);
    return [];
  });
}

function updateRules(update: RulesUpdate, sessionRules: SessionRules): readonly string[] {
  if (update.type === 'removeRules') return sessionRules.remove(update);
  if (update.type === 'replaceRules') sessionRules.clear(update.behavior);
  return sessionRules.add(update);
}

type DirectoriesUpdate = Extract<PermissionUpdate, { readonly directories: unknown }>;
type RulesUpdate = Extract<PermissionUpdate, { readonly rules: unknown }>;

const SESSION = 'this session';

/** Rules that were added during the session; only these can be removed. */
class SessionRules {
  #rules: readonly PermissionRule[] = [];

  list(): readonly PermissionRule[] {
    return this.#rules;
  }

  add({ rules: added, behavior }: RulesUpdate): readonly string[] {
    const parsed = added.map((rule) =>
      parsePermissionRule({ behavior, text: formatRuleText(rule), source: SESSION }),
    );
    this.#rules = [...this.#rules, ...parsed.filter((rule) => typeof rule !== 'string')];
    return parsed.filter((rule) => typeof rule === 'string');
  }

  remove({ rules: removed, behavior }: RulesUpdate): readonly string[] {
    const texts = removed.map(formatRuleText);
    const isSelected = (rule: PermissionRule): boolean =>
      rule.behavior === behavior && texts.includes(rule.text);
    const missing = texts.filter(
      (text) => !this.#rules.some((rule) => isSelected(rule) && rule.text === text),
    );
    this.#rules = this.#rules.filter((rule) => !isSelected(rule));
    return missing.map(
      (text) => `the ${behavior} rule ${text} was not removed: this session did not add it`,
    );
  }

  clear(behavior: RulesUpdate['behavior']): void {
    this.#rules = this.#rules.filter((rule) => rule.behavior !== behavior);
  }
}

function formatRuleText({ toolName, ruleContent }: PermissionRuleText): string {
  return ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`;
}
