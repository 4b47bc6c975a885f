import type { Shells } from './shells.ts';

/** Says which shells there are when none has this id; null when one has. */
export function unknownShell(id: string, shells: Shells): string | null {
  if (shells.find(id) !== null) return null;
  const known = shells.list().map((shell) => shell.id);
  const others = known.length === 0 ? 'none was started' : `there are ${known.join(', ')}`;
  return `No background shell has the ID ${id}; ${others}.`;
}
