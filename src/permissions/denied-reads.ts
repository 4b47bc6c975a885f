import { canMatchBelow, canMatchWrittenPath, resolveRealContext } from './rules/path-pattern.ts';
import { resolveTarget } from '../base/paths.ts';
import {
  isReadDenial,
  listGuardContexts,
  type PermissionRule,
  type RuleLocations,
} from './rules/permission-rule.ts';

/** Files that deny rules protect from reading, for tools that read files which a call does not name. */
export interface DeniedReads {
  /** Whether this file, an absolute path, must not be read. */
  readonly includes: (file: string) => boolean;
  /** Whether such a file, existing or not, may lie below a directory, an absolute path. */
  readonly mayLieBelow: (directory: string) => boolean;
}

/** Relative rules are resolved against `cwd`; null when no rule denies reading. */
export function findDeniedReads(
  rules: readonly PermissionRule[],
  cwd: string,
  locations: RuleLocations,
): DeniedReads | null {
  const denyRules = rules.filter(isReadDenial);
  if (denyRules.length === 0) return null;
  const patterns = denyRules.map((rule) => resolvePattern(rule, cwd, locations));
  const hasMatch = (file: string, isMatch: typeof canMatchWrittenPath): boolean =>
    listNames(file).some(
      (name) =>
        name === null ||
        patterns.some(({ pattern, contexts }) => {
          if (pattern === null) return true;
          return contexts.some((context) => isMatchOrFails(() => isMatch(pattern, name, context)));
        }),
    );
  return {
    includes: (file) => hasMatch(file, canMatchWrittenPath),
    mayLieBelow: (directory) => hasMatch(directory, canMatchBelow),
  };
}

/**
 * Resolves the directories of a rule once, because many files are matched against it. A rule without a
 * pattern denies every file.
 */
function resolvePattern(rule: PermissionRule, cwd: string, locations: RuleLocations) {
  const { content } = rule.parsed;
  const contexts = listGuardContexts(rule, { cwd }, locations);
  return {
    pattern: content.kind === 'path' ? content.pattern : null,
    contexts: [...contexts, ...contexts.map(resolveRealContext)],
  };
}

/** The file as written and its real path; null for a target that is not certain, which may be any file. */
function listNames(file: string): readonly (string | null)[] {
  const target = resolveTarget(file);
  if (!target.isCertain) return [file, null];
  return target.path === file ? [file] : [file, target.path];
}

function isMatchOrFails(isMatch: () => boolean): boolean {
  try {
    return isMatch();
  } catch {
    // The glob library rejects some globs and paths; a deny rule then matches.
    return true;
  }
}
