import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, type ESTree } from 'rolldown/utils';

export interface SourceFile {
  /** Relative to the project, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly program: ESTree.Program;
  readonly comments: readonly { readonly value: string; readonly start: number }[];
}

const SKIPPED_FOLDERS = new Set(['node_modules', 'dist', 'coverage', 'fixtures', 'conformance']);

export function readSourceFiles(root: string, folders: readonly string[]): SourceFile[] {
  return folders
    .filter((folder) => existsSync(path.join(root, folder)))
    .flatMap((folder) => findTypeScriptFiles(root, folder))
    .map((file) => readSourceFile(root, file));
}

function findTypeScriptFiles(root: string, folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true })
    .filter((entry) => !SKIPPED_FOLDERS.has(entry.name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const file = path.posix.join(folder, entry.name);
      if (entry.isDirectory()) return findTypeScriptFiles(root, file);
      return file.endsWith('.ts') || file.endsWith('.tsx') ? [file] : [];
    });
}

function readSourceFile(root: string, file: string): SourceFile {
  const text = readFileSync(path.join(root, file), 'utf8');
  const { program, comments, errors } = parseSync(file, text);
  if (errors[0]) throw new Error(`${file} cannot be parsed: ${errors[0].message}`);
  return { path: file, text, program, comments };
}

export function lineAt(source: SourceFile, offset: number): number {
  return source.text.slice(0, offset).split('\n').length;
}

export function countLines(text: string): number {
  return text.replace(/\n$/, '').split('\n').length;
}
