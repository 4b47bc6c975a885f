import { createRequire } from 'node:module';
import type * as oxc from 'oxc-transform';
import { tryOrNull } from '../../base/errors.ts';
import { readModuleText } from './module-text.ts';
import type { FoundEntry, PassedOver } from './read-package.ts';

/**
 * Finds plugin files that no parser accepts: such a file guards nothing, and without an export that can
 * be recognized it would look like a helper. Runs nothing of them.
 */
export function findUnparsableModules(
  modules: readonly Pick<FoundEntry, 'path' | 'file'>[],
): readonly PassedOver[] {
  const parser = modules.length === 0 ? null : loadParser();
  if (parser === null) return [];
  return modules.flatMap(({ path: place, file }) => {
    const error = findSyntaxError(file, parser);
    if (error === null) return [];
    return [{ path: place, why: `cannot be parsed: ${error}`, mayHidePlugin: true as const }];
  });
}

/** Loaded on first use, because most workspaces have no plugins. Null where its native part is missing. */
function loadParser(): typeof oxc | null {
  const load: (name: string) => typeof oxc = createRequire(import.meta.url);
  return tryOrNull(() => load('oxc-transform'));
}

function findSyntaxError(file: string, { transformSync }: typeof oxc): string | null {
  const text = readModuleText(file);
  if (text === null) return null;
  const source = text.replace(/^#!/, '//');
  const { code, errors } = transformSync(file, source);
  const error = errors.find(({ severity }) => severity.startsWith('Error'));
  // With code there is only a remark about something that the transformation does not support.
  if (error === undefined || code !== '') return null;
  const start = error.labels.at(-1)?.start;
  const line =
    start === undefined ? 1 : Buffer.from(source).toString('utf8', 0, start).split('\n').length;
  return `line ${line}: ${error.message}`;
}
