import {
  resolveTargetPath,
  canMatchBelow,
  canMatchWrittenPath,
  type PathContext,
  type PathPattern,
  resolveRealContext,
} from './rules/path-pattern.ts';
import {
  isRuleForTool,
  listGuardContexts,
  type PermissionRule,
  READ_TOOLS,
  type RuleLocations,
} from './rules/permission-rule.ts';

/** What deny rules say about reading, for whoever reads files that a call does not name. */
export interface DeniedReads {
  /** Whether this file, absolute, must not be read. */
  readonly includes: (file: string) => boolean;
  /** Whether such a file may lie below a directory, absolute, whether it is there by now or not. */
  readonly mayLieBelow: (directory: string) => boolean;
}

/** As seen from where the agent stands; null when no rule denies to read anything. */
export function findDeniedReads(
  rules: readonly PermissionRule[],
  cwd: string,
  places: RuleLocations,
): DeniedReads | null {
  const denying = rules.filter(deniesReading);
  if (denying.length === 0) return null;
  const patterns = denying.map((rule) => placedPattern(rule, cwd, places));
  const someFits = (file: string, fits: typeof canMatchWrittenPath): boolean =>
    bothNames(file).some((name) =>
      patterns.some(({ pattern, contexts }) => {
        if (pattern === null) return true;
        return contexts.some((context) => errTowardsFitting(() => fits(pattern, name, context)));
      }),
    );
  return {
    includes: (file) => someFits(file, canMatchWrittenPath),
    mayLieBelow: (directory) => someFits(directory, canMatchBelow),
  };
}

const READ_NAMES = { names: ['Read', 'read_file', 'read_files'] };

function deniesReading(rule: PermissionRule): boolean {
  const { tool, content } = rule.parsed;
  if (rule.behavior !== 'deny') return false;
  return content.kind === 'path' ? READ_TOOLS.includes(tool) : isRuleForTool(rule, READ_NAMES);
}

interface PlacedPattern {
  /** Null for every file. */
  readonly pattern: PathPattern | null;
  readonly contexts: readonly PathContext[];
}

/** Many files are held against it, so that its places are looked up once. */
function placedPattern(rule: PermissionRule, cwd: string, places: RuleLocations): PlacedPattern {
  const { content } = rule.parsed;
  const contexts = listGuardContexts(rule, { cwd }, places);
  return {
    pattern: content.kind === 'path' ? content.pattern : null,
    contexts: [...contexts, ...contexts.map(resolveRealContext)],
  };
}

function bothNames(file: string): readonly string[] {
  try {
    const target = resolveTargetPath(file);
    return target === file ? [file] : [file, target];
  } catch {
    // What cannot be looked at has the name that it is given.
    return [file];
  }
}

function errTowardsFitting(fits: () => boolean): boolean {
  try {
    return fits();
  } catch {
    // A glob that its library cannot compile, or a path that it does not take.
    return true;
  }
}
