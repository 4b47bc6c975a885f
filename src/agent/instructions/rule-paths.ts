import { isCertainPathMatch, parsePathPattern } from '../../permissions/rules/path-pattern.ts';

/** Compiles the `paths` of a rule, which are relative to a directory and written as in `.gitignore`. */
export function compileRulePaths(
  paths: readonly string[],
  directory: string,
): (file: string) => boolean {
  const patterns = paths.flatMap(expandBraces).map(parsePathPattern);
  const context = { cwd: directory, root: directory, home: null };
  return (file) => patterns.some((pattern) => matchesSafely(pattern, file, context));
}

function matchesSafely(...args: Parameters<typeof isCertainPathMatch>): boolean {
  try {
    return isCertainPathMatch(...args);
  } catch {
    // The glob library rejects some globs and paths.
    return false;
  }
}

const MAX_EXPANDED = 100;
const INNERMOST_BRACES = /\{([^{}]*,[^{}]*)\}/;

/** `src/*.{ts,tsx}` is two patterns; `.gitignore` has no braces. */
function expandBraces(pattern: string): readonly string[] {
  let expanded: readonly string[] = [pattern];
  while (expanded.length <= MAX_EXPANDED && expanded.some((each) => INNERMOST_BRACES.test(each))) {
    expanded = expanded.flatMap(expandOnce);
  }
  return expanded.slice(0, MAX_EXPANDED);
}

function expandOnce(pattern: string): readonly string[] {
  const choices = INNERMOST_BRACES.exec(pattern)?.[1];
  if (choices === undefined) return [pattern];
  return choices.split(',').map((choice) => pattern.replace(INNERMOST_BRACES, () => choice.trim()));
}
