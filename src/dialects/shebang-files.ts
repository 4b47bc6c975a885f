import { statSync } from 'node:fs';
import path from 'node:path';
import { isInside } from '../base/paths.ts';

/** What a `#!` line names in the workspace: it runs together with the hook, or instead of it. */
export type ShebangFiles = (line: string, root: string) => readonly string[];

/** Looks each line up once: hooks of one directory mostly begin alike. */
export function createShebangFiles(): ShebangFiles {
  const known = new Map<string, readonly string[]>();
  return (line, root) => {
    const key = `${root}\n${line}`;
    const files = known.get(key) ?? shebangFiles(line, root);
    known.set(key, files);
    return files;
  };
}

function shebangFiles(line: string, root: string): readonly string[] {
  const named = shebangWords(line).flatMap((word) => filesNamed(word, root));
  return [...new Set(named)].filter((each) => each !== root && isInside(root, each));
}

/** Every part that may be a path: `--import=./a.mjs`, `-r./a.js` and `A=./b:./c` hold some, too. */
function shebangWords(line: string): readonly string[] {
  // `env -S` has escapes for white space and replaces variables.
  const plain = line.replaceAll(/\\[_tnrfv]/g, ' ').replaceAll(/\$\{[^}]*\}|["'\\]/g, '');
  const words = plain.split(/\s+/).flatMap((word) => {
    return [word, ...word.split(/[=:,()]/), word.replace(/^-\w/, '')];
  });
  return [...new Set(words)].filter((word) => word !== '');
}

const LOADED_ENDINGS = ['', '.js', '.cjs', '.json', '.node', '.py', '/index.js', '/__main__.py'];

/** A path is bound although nothing may be there yet; a plain word only if there is such a file. */
function filesNamed(word: string, root: string): readonly string[] {
  const isPath = /^[^-=][^=]*(?:\/[^=]*|\.[a-z]\w*)$/i.test(word) || word.startsWith('/');
  const spellings = new Set([word, word.replace(/^\/+/, ''), word.replaceAll('.', '/')]);
  const below = path.join(root, path.sep);
  const guesses = [...spellings]
    .flatMap((name) => LOADED_ENDINGS.map((ending) => path.resolve(root, `${name}${ending}`)))
    .filter((file) => file.startsWith(below) && isFile(file));
  return [...(isPath ? [path.resolve(root, word)] : []), ...guesses];
}

function isFile(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}
