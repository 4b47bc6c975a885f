import path from 'node:path';

/** What a file's name says of it: a plugin, perhaps; something else, and why; nothing of interest. */
export type FileKind =
  | { readonly kind: 'module' }
  | { readonly kind: 'other'; readonly why: string; readonly isQuiet: boolean }
  | null;

export const MODULE_ENDINGS = ['.ts', '.mts', '.js', '.mjs'];

const FOREIGN_ENDINGS = ['.tsx', '.jsx', '.cjs', '.cts'];

export function fileKind(name: string): FileKind {
  if (name.startsWith('.')) return null;
  const ending = path.extname(name);
  const small = ending.toLowerCase();
  if (FOREIGN_ENDINGS.includes(small)) return other(foreignEnding(ending), false);
  if (!MODULE_ENDINGS.includes(small)) return null;
  if (/\.d\.[mc]?ts$/iu.test(name)) return other('declares types only', true);
  if (/\.(?:test|spec)\.\w+$/iu.test(name)) return other('is a test', true);
  if (ending !== small) return other(`its ending should be ${small}, in small letters`, false);
  return { kind: 'module' };
}

function other(why: string, isQuiet: boolean): FileKind {
  return { kind: 'other', why, isQuiet };
}

function foreignEnding(ending: string): string {
  return `${ending} files are not loaded as plugins; use one of ${MODULE_ENDINGS.join(', ')}`;
}

const CODE_ENDING = /\.(?:[mc]?[jt]s|[jt]sx|json)$/u;

/** A module's name without its ending: `./x`, `./x.js` and `./x.ts` mean the same one. */
export function withoutEnding(file: string): string {
  return file.replace(CODE_ENDING, '');
}

/** What people call a file by itself; `lsp/index.ts` is `lsp`, unless `lsp` is where plugins lie. */
export function labelOfFile(file: string, root: string): string {
  const stem = withoutEnding(path.basename(file));
  const directory = path.dirname(file);
  return stem === 'index' && directory !== root ? path.basename(directory) : stem;
}
