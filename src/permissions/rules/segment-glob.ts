/** Whether a name matches a part of a glob between two slashes. */
export type MatchName = (part: string, name: string) => boolean;

/** Whether a glob has several parts `**`. */
export function hasDeepParts(glob: string): boolean {
  return glob.split('/').filter((part) => part === '**').length > 1;
}

/**
 * Matches a path, or a directory above it, against a glob of .gitignore, part by part. Each pair of part and
 * name is looked at once, because a regular expression with several `**` takes exponential time.
 */
export function matchSegments(glob: string, file: string, matchName: MatchName): boolean {
  const names = file.split('/').filter((name) => name !== '');
  const isDirectoryOnly = glob.endsWith('/');
  const parts = splitParts(glob);
  // `/**` at the end is everything inside, not the directory itself.
  const isInsideOnly = parts.at(-1) === '**';
  const matched = isInsideOnly ? parts.slice(0, -1) : parts;
  let reached: readonly boolean[] = [true, ...names.map(() => false)];
  for (const part of matched) reached = advance(reached, part, names, matchName);
  const last = names.length - (isDirectoryOnly ? 1 : 0) - (isInsideOnly ? 1 : 0);
  return reached.some((isReached, at) => isReached && at > 0 && at <= last);
}

/** From the numbers of names that the parts before can have matched to those with this part. */
function advance(
  reached: readonly boolean[],
  part: string,
  names: readonly string[],
  matchName: MatchName,
): readonly boolean[] {
  if (part === '**') {
    const first = reached.indexOf(true);
    return reached.map((_, at) => first !== -1 && at >= first);
  }
  return reached.map(
    (_, at) => at > 0 && reached[at - 1] === true && matchName(part, names[at - 1] ?? ''),
  );
}

function splitParts(glob: string): readonly string[] {
  const parts = glob.split('/').filter((part) => part !== '');
  return parts.filter((part, index) => part !== '**' || parts[index - 1] !== '**');
}
