import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { moduleRegistry } from './copies.ts';

/**
 * The entry file of the plugin that a stack trace leads to: the innermost call that stands in a file of a
 * plugin, or else in its package, with all that is installed there. Null when no plugin takes part.
 */
export function ownerOf(stack: string): string | null {
  const places = placesIn(stack);
  return firstOf(places, ownerByFile) ?? firstOf(places, ownerByPackage);
}

/** Whether a stack trace leads to no file at all, only into Node.js itself. */
export function leadsNowhere(stack: string): boolean {
  return placesIn(stack).length === 0;
}

// `at name (file:///a/b.mjs?copy=1:2:3)`, `at /a/b.ts:2:3`, and `/a/b.ts:2` above a syntax error.
const PLACE = /(?:^|[\s(])(file:\/\/[^\s)]+?|(?:[A-Za-z]:)?[\\/][^()\n]*?):\d+(?::\d+)?\)?$/gm;

function placesIn(stack: string): readonly string[] {
  return [...stack.matchAll(PLACE)].map(([, place = '']) => pathOf(place));
}

function pathOf(place: string): string {
  if (!place.startsWith('file://')) return place;
  try {
    return fileURLToPath(place);
  } catch {
    return place;
  }
}

function firstOf(
  places: readonly string[],
  ownerAt: (place: string) => string | null,
): string | null {
  for (const place of places) {
    const owner = ownerAt(place);
    if (owner !== null) return owner;
  }
  return null;
}

function ownerByFile(place: string): string | null {
  const { owners } = moduleRegistry();
  return (owners.get(place) ?? owners.get(path.dirname(place)))?.file ?? null;
}

function ownerByPackage(place: string): string | null {
  for (const { file, package: home } of moduleRegistry().owners.values()) {
    if (home !== null && place.startsWith(`${home.directory}${path.sep}`)) return file;
  }
  return null;
}
