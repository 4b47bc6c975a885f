import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isFile } from '../../base/files.ts';
import { findRealPath } from '../../base/paths.ts';

// A larger file is the output of a bundler, and no helper module.
const MAX_BYTES = 1024 * 1024;
// A repository may hold a pipe under any name; opening it would wait for a writer.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Reads the code of a module; null for a file that is too large, no regular file, or unreadable. */
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
    // Loading the file, or hashing it for trust, reports why it cannot be read.
    return null;
  }
}

const DECLARED = String.raw`(?:async\s{1,99})?(?:const|let|var|class|function)\s{1,99}plugin\b`;
const EXPORT = new RegExp(
  String.raw`\bexport\s{0,99}(?:default\b|\*|=|(?<list>(?:(?:const|let|var)\s{0,99})?\{)|${DECLARED})|\bmodule\.exports\b|\bexports\s{0,9}(?:\[|\.(?:default|plugin)\b)`,
  'u',
);
const MAX_LIST = 4000;

/** Whether a module can export a plugin, judged by its code alone. */
export function canExportPlugin(text: string): boolean {
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

/** Whether the code has the keys of a plugin, which a helper with a default export does not have. */
export function isLikelyPlugin(text: string): boolean {
  return /\bmanifest\b|\bdefinePlugin\b|\bcapabilities\b/u.test(text);
}

const OWN_NAME =
  /\bname\s{0,99}:\s{0,99}(["'`])(?<name>[^"'`\n]{1,200})\1[^{}]{0,400}\bmanifest\s{0,99}:/u;

/** Whether the code of a plugin contains this name as a literal; nothing of it is run. */
export function hasOwnName(file: string, pluginName: string): boolean {
  const { name } = OWN_NAME.exec(readModuleText(file) ?? '')?.groups ?? {};
  return name?.toLowerCase() === pluginName.toLowerCase();
}

const IMPORT =
  /\b(?:from|import|require)\s{0,99}\(?\s{0,99}(["'`])(?<name>(?:\.{1,2}|\/|file:)[^"'`\n]{0,400})\1/gu;
const BY_PATH = /^(?:\.{1,2}(?:\/|$)|\/|file:)/u;

/** Lists the relative imports of a module, as absolute paths without resolving extensions. */
export function listRelativeImports(text: string, file: string): readonly string[] {
  const names = [...text.matchAll(IMPORT)].flatMap(({ groups }) => groups?.['name'] ?? []);
  return [...new Set(names)]
    .filter((name) => BY_PATH.test(name))
    .flatMap((name) => {
      const place = toPath(name);
      return place === null ? [] : [path.resolve(path.dirname(file), place)];
    });
}

function toPath(name: string): string | null {
  if (!name.startsWith('file:')) return name;
  try {
    return fileURLToPath(name);
  } catch {
    // A URL of another machine is no file.
    return null;
  }
}

/** The paths by which a module may be imported, without extensions: itself, or its directory. */
export function listImportPaths(file: string): readonly string[] {
  const name = removeExtension(file);
  return path.basename(name) === 'index' ? [name, path.dirname(file)] : [name];
}

/** What a file name means: perhaps a plugin; not a plugin, and why; nothing of interest. */
type FileKind =
  | { readonly kind: 'module' }
  | { readonly kind: 'other'; readonly why: string; readonly isQuiet: boolean }
  | null;

export const MODULE_ENDINGS = ['.ts', '.mts', '.js', '.mjs'];

const FOREIGN_ENDINGS = ['.tsx', '.jsx', '.cjs', '.cts'];

export function getFileKind(name: string): FileKind {
  if (name.startsWith('.')) return null;
  const ending = path.extname(name);
  const small = ending.toLowerCase();
  if (FOREIGN_ENDINGS.includes(small)) return toOtherKind(explainForeignExtension(ending), false);
  if (!MODULE_ENDINGS.includes(small)) return null;
  if (/\.d\.[mc]?ts$/iu.test(name)) return toOtherKind('declares types only', true);
  if (/\.(?:test|spec)\.\w+$/iu.test(name)) return toOtherKind('is a test', true);
  if (ending !== small) {
    return toOtherKind(`its ending should be ${small}, in small letters`, false);
  }
  return { kind: 'module' };
}

function toOtherKind(why: string, isQuiet: boolean): FileKind {
  return { kind: 'other', why, isQuiet };
}

function explainForeignExtension(ending: string): string {
  return `${ending} files are not loaded as plugins; use one of ${MODULE_ENDINGS.join(', ')}`;
}

const CODE_ENDING = /\.(?:[mc]?[jt]s|[jt]sx|json)$/u;

/** Removes the extension: `./x`, `./x.js` and `./x.ts` mean the same module. */
function removeExtension(file: string): string {
  return file.replace(CODE_ENDING, '');
}

/** The label of a single file; `lsp/index.ts` is `lsp`, unless `lsp` is the plugins directory. */
export function getFileLabel(file: string, root: string): string {
  const stem = removeExtension(path.basename(file));
  const directory = path.dirname(file);
  return stem === 'index' && directory !== root ? path.basename(directory) : stem;
}

const MAX_MODULES = 200;
const MAX_BEYOND = 500;

/**
 * Lists imports of a module, and of the modules that it imports by path, that are outside of the trusted files.
 * A missing file could be created later and be loaded instead of the existing one, so it is listed, too.
 * `isCut` means that there are more than were followed.
 */
export function listOutsideImports(
  entry: string,
  isBound: (file: string) => boolean,
): { readonly files: readonly string[]; readonly isCut: boolean } {
  const beyond = new Set<string>();
  const visited = new Set([entry]);
  const waiting = [entry];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    for (const candidates of listRelativeImports(readModuleText(file) ?? '', file).map(
      listCandidates,
    )) {
      for (const each of candidates.filter((name) => !isBound(name))) beyond.add(each);
      const real = candidates
        .flatMap((name) => findRealFile(name))
        .filter((name) => !visited.has(name));
      for (const each of real) visited.add(each);
      waiting.push(...real);
    }
    if (visited.size > MAX_MODULES || beyond.size > MAX_BEYOND) {
      return { files: [...beyond].slice(0, MAX_BEYOND), isCut: true };
    }
  }
  return { files: [...beyond], isCut: false };
}

const ENDINGS = ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx', '.json'];
const JAVASCRIPT = /\.(?<kind>[cm]?)jsx?$/u;

/** The imported file, or every file that the import may load if it does not exist. */
function listCandidates(imported: string): readonly string[] {
  if (isFile(imported)) return [imported];
  const sources = JAVASCRIPT.test(imported)
    ? ['ts', 'tsx'].map((ending) => imported.replace(JAVASCRIPT, `.$<kind>${ending}`))
    : [];
  const besides = ENDINGS.flatMap((each) => [`${imported}${each}`, `${imported}/index${each}`]);
  return [imported, ...sources, ...besides];
}

function findRealFile(file: string): readonly string[] {
  const real = findRealPath(file);
  return real !== null && isFile(real) ? [real] : [];
}
