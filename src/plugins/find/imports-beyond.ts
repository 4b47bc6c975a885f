import { statSync } from 'node:fs';
import { findRealPath } from '../../base/paths.ts';
import { readModuleText, relativeImports } from './module-text.ts';

export interface ImportsBeyond {
  /** Every file that such an import may mean, whether it is there or not; absolute. */
  readonly files: readonly string[];
  /** Whether there are more than were followed. */
  readonly isCut: boolean;
}

const MAX_MODULES = 200;
const MAX_BEYOND = 500;

/**
 * What a module and those that it imports by their paths import from places that are not bound. A
 * file that is not there yet could come to be loaded instead of the one that is, so it is named, too.
 */
export function importsBeyond(entry: string, isBound: (file: string) => boolean): ImportsBeyond {
  const beyond = new Set<string>();
  const seen = new Set([entry]);
  const waiting = [entry];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    for (const meant of relativeImports(readModuleText(file) ?? '', file).map(filesMeant)) {
      for (const each of meant.filter((name) => !isBound(name))) beyond.add(each);
      const real = meant.flatMap((name) => realFile(name)).filter((name) => !seen.has(name));
      for (const each of real) seen.add(each);
      waiting.push(...real);
    }
    if (seen.size > MAX_MODULES || beyond.size > MAX_BEYOND) {
      return { files: [...beyond].slice(0, MAX_BEYOND), isCut: true };
    }
  }
  return { files: [...beyond], isCut: false };
}

const ENDINGS = ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx', '.json'];
const JAVASCRIPT = /\.(?<kind>[cm]?)jsx?$/u;

/** The file that is written, or every file that an import may load if that is not there. */
function filesMeant(imported: string): readonly string[] {
  if (isFile(imported)) return [imported];
  const sources = JAVASCRIPT.test(imported)
    ? ['ts', 'tsx'].map((ending) => imported.replace(JAVASCRIPT, `.$<kind>${ending}`))
    : [];
  const besides = ENDINGS.flatMap((each) => [`${imported}${each}`, `${imported}/index${each}`]);
  return [imported, ...sources, ...besides];
}

function realFile(file: string): readonly string[] {
  const real = findRealPath(file);
  return real !== null && isFile(real) ? [real] : [];
}

function isFile(file: string): boolean {
  try {
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
