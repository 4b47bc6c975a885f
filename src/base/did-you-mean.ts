/** The known name that a misspelt one probably means, or null when none is close. */
export function findClosestName<Name extends string>(
  written: string,
  candidates: readonly Name[],
): Name | null {
  const ranked = candidates
    .map((name) => ({
      name,
      distance: computeEditDistance(written.toLowerCase(), name.toLowerCase()),
    }))
    .toSorted((one, other) => one.distance - other.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= getMaxDistance(written) ? best.name : null;
}

function getMaxDistance(written: string): number {
  return written.length < 5 ? 1 : Math.min(3, Math.floor(written.length / 3));
}

/** Optimal string alignment: two swapped letters count as one edit. */
function computeEditDistance(one: string, other: string): number {
  let beforePrevious: readonly number[] = [];
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1);
      const added = (current[column - 1] ?? 0) + 1;
      const removed = (previous[column] ?? 0) + 1;
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const mayBeSwapped = isSwapped && row > 1 && column > 1;
      const swapped = mayBeSwapped ? (beforePrevious[column - 2] ?? 0) + 1 : Infinity;
      current.push(Math.min(replaced, added, removed, swapped));
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[other.length] ?? 0;
}

const LONG_NAME = 10;

/**
 * Whether the name of a file is probably a slip of another: one edit, or two in a long name. A number more
 * (`settings2.json`), marks of editors and a leading `_` are what people give copies on purpose.
 */
export function isMisspelling(written: string, name: string): boolean {
  const removeDigits = (text: string): string => text.replaceAll(/\d/g, '');
  if (removeDigits(written) === removeDigits(name)) return false;
  if (/[~#]|^[_-]|[_-]$/.test(written)) return false;
  const maxDistance = name.length < LONG_NAME ? 1 : 2;
  if (Math.abs(written.length - name.length) > maxDistance) return false;
  return computeEditDistance(written.toLowerCase(), name.toLowerCase()) <= maxDistance;
}
