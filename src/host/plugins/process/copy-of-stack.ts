import { moduleRegistry } from '../../../plugins/load/copies.ts';

/** The copy of a plugin that a stack trace leads to, by the innermost call that stands in one; null when none takes part. */
export function copyOfStack(stack: string): string | null {
  const places = [...moduleRegistry().placed].flatMap(([copy, placed]) =>
    placed
      .flatMap(({ urls }) => [...urls.values()])
      // With the line that follows: the URL of one copy begins that of another.
      .map((url) => ({ copy, at: stack.indexOf(`${url}:`) })),
  );
  const found = places.filter(({ at }) => at >= 0).toSorted((one, other) => one.at - other.at);
  return found[0]?.copy ?? null;
}
