import { HooklineError } from '../base/errors.ts';
import { isDirectory } from '../base/files.ts';
import { type AllowedDirectories, createAllowedDirectories } from './allowed-directories.ts';
import { findDeniedReads } from './denied-reads.ts';
import { judgeCall } from './judge.ts';
import type {
  PermissionMode,
  Permissions,
  PermissionRuleText,
  PermissionUpdate,
} from './permissions.ts';
import type { ProtectedPaths } from './protected-paths.ts';
import {
  parsePermissionRule,
  type PermissionRule,
  type PermissionRuleSetting,
} from './rules/permission-rule.ts';
import { parseUpdate } from './parse-update.ts';

export interface PermissionsOptions {
  readonly mode: PermissionMode;
  /**
   * From settings and from the command line, or what tells them as they are now: the same list as long
   * as nothing changed. Those that are none are the caller's to report.
   */
  readonly rules: readonly PermissionRuleSetting[] | (() => readonly PermissionRuleSetting[]);
  /** Where the session begins. */
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly home: string | null;
  /** Directories beside the workspace that the agent may work in. */
  readonly directories: readonly string[];
  readonly protectedPaths: ProtectedPaths;
  /** Who forbids the mode bypassPermissions, as a person would say it; null when nobody does. */
  readonly bypassForbiddenBy?: string | null;
}

/** The permissions of one session. */
export function createPermissions(options: PermissionsOptions): Permissions {
  const { cwd, roots, home, protectedPaths: protectedPlaces, bypassForbiddenBy = null } = options;
  const area = createAllowedDirectories({ roots, directories: options.directories, cwd, home });
  const session = createSessionRules();
  const written = followRules(options.rules);
  let mode = options.mode;
  const modes: ModeKeeper = {
    set: (next) => void (mode = next),
    whyNot: (next) => whyNotMode(next, options.mode, bypassForbiddenBy),
  };
  const rules = (): readonly PermissionRule[] => [...written(), ...session.rules()];
  const places = { cwd, roots, home };
  return {
    mode: () => mode,
    setMode(next) {
      if (next === 'bypassPermissions' && bypassForbiddenBy !== null) {
        throw new HooklineError('USAGE_INVALID', {
          message: `the mode bypassPermissions is switched off by ${bypassForbiddenBy}`,
        });
      }
      mode = next;
    },
    directories: () => area.directories(),
    addDirectory: (directory) => area.add(directory),
    judge: (call) =>
      judgeCall(call, {
        mode,
        rules: rules(),
        places,
        allowedDirectories: area,
        protectedPaths: protectedPlaces,
      }),
    deniedReads: (from) => findDeniedReads(rules(), from, places)?.includes ?? null,
    update: (updates) => updates.flatMap((each) => applyUpdate(each, { session, modes, area })),
  };
}

/** Parses them again only when they are others. */
function followRules(rules: PermissionsOptions['rules']): () => readonly PermissionRule[] {
  const current = typeof rules === 'function' ? rules : () => rules;
  let seen = current();
  let parsed = parseAll(seen);
  return () => {
    const now = current();
    if (now !== seen) parsed = parseAll(now);
    seen = now;
    return parsed;
  };
}

function parseAll(rules: readonly PermissionRuleSetting[]): readonly PermissionRule[] {
  return rules.map(parsePermissionRule).filter((rule) => typeof rule !== 'string');
}

interface ModeKeeper {
  set(mode: PermissionMode): void;
  /** Why a hook may not choose this mode, or null. */
  whyNot(mode: PermissionMode): string | null;
}

/** Whoever started without the mode that asks for nothing gets it from no hook. */
function whyNotMode(
  mode: PermissionMode,
  first: PermissionMode,
  forbiddenBy: string | null,
): string | null {
  if (mode !== 'bypassPermissions') return null;
  if (forbiddenBy !== null) return `it is switched off by ${forbiddenBy}`;
  return first === mode ? null : 'the session was not started in it';
}

interface SessionState {
  readonly session: SessionRules;
  readonly modes: ModeKeeper;
  readonly area: AllowedDirectories;
}

function applyUpdate(given: unknown, state: SessionState): readonly string[] {
  const { update, notes } = parseUpdate(given);
  return update === null ? notes : [...notes, ...apply(update, state)];
}

function apply(
  update: PermissionUpdate,
  { session, modes, area }: SessionState,
): readonly string[] {
  switch (update.type) {
    case 'addRules':
      return session.add(update);
    case 'replaceRules':
      session.clear(update.behavior);
      return session.add(update);
    case 'removeRules':
      return session.remove(update);
    case 'setMode': {
      const why = modes.whyNot(update.mode);
      if (why !== null) return [`the mode ${update.mode} was not set: ${why}`];
      modes.set(update.mode);
      return [];
    }
    case 'addDirectories':
      return update.directories.flatMap((directory) => addDirectory(directory, area));
    case 'removeDirectories':
      update.directories.forEach((directory) => area.remove(directory));
      return [];
  }
}

function addDirectory(directory: string, area: AllowedDirectories): readonly string[] {
  if (!isDirectory(area.resolve(directory))) {
    return [`${directory} was not added: there is no such directory`];
  }
  area.add(directory);
  return [];
}

type RulesUpdate = Extract<PermissionUpdate, { readonly rules: unknown }>;

interface SessionRules {
  rules(): readonly PermissionRule[];
  add(update: RulesUpdate): readonly string[];
  remove(update: RulesUpdate): readonly string[];
  clear(behavior: RulesUpdate['behavior']): void;
}

const SESSION = 'this session';

/** Rules that came up while the session ran. No others can be taken away. */
function createSessionRules(): SessionRules {
  let rules: readonly PermissionRule[] = [];
  return {
    rules: () => rules,
    add({ rules: added, behavior }) {
      const parsed = added.map((rule) =>
        parsePermissionRule({ behavior, text: textOf(rule), source: SESSION }),
      );
      rules = [...rules, ...parsed.filter((rule) => typeof rule !== 'string')];
      return parsed.filter((rule) => typeof rule === 'string');
    },
    remove({ rules: removed, behavior }) {
      const texts = removed.map(textOf);
      const isMeant = (rule: PermissionRule): boolean =>
        rule.behavior === behavior && texts.includes(rule.text);
      const missing = texts.filter(
        (text) => !rules.some((rule) => isMeant(rule) && rule.text === text),
      );
      rules = rules.filter((rule) => !isMeant(rule));
      return missing.map(
        (text) => `the ${behavior} rule ${text} was not removed: this session did not add it`,
      );
    },
    clear(behavior) {
      rules = rules.filter((rule) => rule.behavior !== behavior);
    },
  };
}

function textOf({ toolName, ruleContent }: PermissionRuleText): string {
  return ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`;
}
