import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { withoutEnding } from './file-kinds.ts';

// What is larger was made by a bundler, and is no helper of anybody.
const MAX_BYTES = 1024 * 1024;
// A repository may hold a pipe under any name; opening it would wait for a writer.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** A module's text; null for what is too large to look through, no file, or cannot be read. */
export function readModuleText(file: string): string | null {
  try {
    const handle = openSync(file, OPEN_FLAGS);
    try {
      const stats = fstatSync(handle);
      return stats.isFile() && stats.size <= MAX_BYTES ? readFileSync(handle, 'utf8') : null;
    } finally {
      closeSync(handle);
    }
  } catch {
    // Whoever loads it, or binds its bytes, says why it cannot be read.
    return null;
  }
}

const DECLARED = String.raw`(?:async\s{1,99})?(?:const|let|var|class|function)\s{1,99}plugin\b`;
const EXPORT = new RegExp(
  String.raw`\bexport\s{0,99}(?:default\b|\*|=|(?<list>(?:(?:const|let|var)\s{0,99})?\{)|${DECLARED})|\bmodule\.exports\b|\bexports\s{0,9}(?:\[|\.(?:default|plugin)\b)`,
  'u',
);
const MAX_LIST = 4000;

/** Whether a module can have a plugin among its exports, judged by its text alone. */
export function mayExportPlugin(text: string): boolean {
  const exports = new RegExp(EXPORT, 'gu');
  for (let match = exports.exec(text); match !== null; match = exports.exec(text)) {
    if (match.groups?.['list'] === undefined) return true;
    const rest = text.slice(exports.lastIndex, exports.lastIndex + MAX_LIST);
    const names = rest.split('}', 1)[0] ?? '';
    if (/\b(?:default|plugin)\b/u.test(names)) return true;
    exports.lastIndex += names.length;
  }
  return false;
}

/** Whether it speaks as plugins do: a helper with a default export does not. */
export function looksLikePlugin(text: string): boolean {
  return /\bmanifest\b|\bdefinePlugin\b|\bcapabilities\b/u.test(text);
}

const OWN_NAME =
  /\bname\s{0,99}:\s{0,99}(["'`])(?<name>[^"'`\n]{1,200})\1[^{}]{0,400}\bmanifest\s{0,99}:/u;

/** Whether a plugin calls itself so, as far as its text says it in plain words; nothing of it is run. */
export function callsItself(file: string, wanted: string): boolean {
  const { name } = OWN_NAME.exec(readModuleText(file) ?? '')?.groups ?? {};
  return name?.toLowerCase() === wanted.toLowerCase();
}

const IMPORT =
  /\b(?:from|import|require)\s{0,99}\(?\s{0,99}(["'`])(?<name>(?:\.{1,2}|\/|file:)[^"'`\n]{0,400})\1/gu;
const BY_PATH = /^(?:\.{1,2}(?:\/|$)|\/|file:)/u;

/** The modules that a text imports by a path, as absolute paths as they are written. */
export function relativeImports(text: string, file: string): readonly string[] {
  const names = [...text.matchAll(IMPORT)].flatMap(({ groups }) => groups?.['name'] ?? []);
  return [...new Set(names)]
    .filter((name) => BY_PATH.test(name))
    .flatMap((name) => {
      const place = pathOf(name);
      return place === null ? [] : [path.resolve(path.dirname(file), place)];
    });
}

function pathOf(name: string): string | null {
  if (!name.startsWith('file:')) return name;
  try {
    return fileURLToPath(name);
  } catch {
    // An address of another machine is no file.
    return null;
  }
}

/** What imports of a module may be written as, without endings: itself, or its directory. */
export function importNames(file: string): readonly string[] {
  const name = withoutEnding(file);
  return path.basename(name) === 'index' ? [name, path.dirname(file)] : [name];
}
