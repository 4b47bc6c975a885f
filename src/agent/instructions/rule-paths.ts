import { truncateText } from '../../base/json.ts';
import { isCertainPathMatch, parsePathPattern } from '../../permissions/rules/path-pattern.ts';
import { getListField, parseFrontMatter } from './front-matter.ts';

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

/**
 * Reads the text of a rule and the files that it is for. A rule whose paths cannot be read counts for every
 * file: otherwise nobody would notice that it is missing.
 */
export async function readRule(
  file: string,
  markdown: string,
  notes: string[],
): Promise<{ readonly text: string; readonly globs?: readonly string[] }> {
  const front = await parseFrontMatter(markdown);
  const { fields, body: text } = front;
  const key = fields['paths'] === undefined ? 'globs' : 'paths';
  const value = fields[key];
  if (value === undefined || value === null) return { text };
  const globs = getListField(front, key);
  const written: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (globs !== null && written.every(isPattern)) {
    return globs.length === 0 ? { text } : { text, globs };
  }
  const found = truncateText(JSON.stringify(value), MAX_NOTED_CHARACTERS);
  notes.push(
    `${file}: expected "${key}" to be a list of patterns, found ${found}; the rule counts for every file`,
  );
  return { text };
}

const MAX_NOTED_CHARACTERS = 80;

/** An open bracket matches nothing, and a number or boolean is a mistake rather than a name. */
function isPattern(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  const bare = text.replaceAll(/\\./g, '').replaceAll(/\[[^\]]*\]/g, '');
  const count = (mark: string): number => bare.split(mark).length;
  const isValue = /^(?:-?[\d.]+|true|false|null)$/.test(text);
  return !isValue && !bare.includes('[') && count('{') === count('}');
}
