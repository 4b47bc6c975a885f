import path from 'node:path';
import type { InputFields } from '../input-fields.ts';
import type { ToolContext } from '../tool-context.ts';

export interface ToolPath {
  /** As the model wrote it. */
  readonly written: string;
  readonly absolute: string;
}

/** Parses a field that names a file or directory. */
export function parsePathField(fields: InputFields, key: string, context: ToolContext): ToolPath {
  const written = fields.requiredText(key);
  if (written.includes('\0')) fields.reject(key, 'a path without NUL characters');
  return { written, absolute: resolveToolPath(written, context) };
}

/** Resolves a path written by a model: `~` is the home directory, other paths are relative to the cwd. */
export function resolveToolPath(
  written: string,
  context: { cwd(): string; readonly home: string | null },
): string {
  const isHome = /^~(?:$|[\\/])/.test(written);
  if (isHome && context.home !== null) return path.join(context.home, written.slice(1));
  return path.resolve(context.cwd(), written);
}
