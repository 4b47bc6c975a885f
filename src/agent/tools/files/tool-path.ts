import path from 'node:path';
import type { InputFields } from '../input-fields.ts';
import type { Workbench } from '../workbench.ts';

export interface ToolPath {
  /** As the model spelt it. */
  readonly written: string;
  readonly absolute: string;
}

/** Reads a field that names a file or directory. */
export function readPath(given: InputFields, key: string, bench: Workbench): ToolPath {
  const written = given.filledText(key);
  if (written.includes('\0')) given.refuse(key, 'a path without NUL characters');
  return { written, absolute: absolutePath(written, bench) };
}

/** Where a path leads that a model wrote: `~` is the home directory, the rest starts at the cwd. */
export function absolutePath(
  written: string,
  bench: { cwd(): string; readonly home: string | null },
): string {
  const isHome = /^~(?:$|[\\/])/.test(written);
  if (isHome && bench.home !== null) return path.join(bench.home, written.slice(1));
  return path.resolve(bench.cwd(), written);
}
