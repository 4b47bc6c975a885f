import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';

// What is written in TypeScript is meant, where what was made of it lies beside it.
export const SOURCE_ENDINGS = [
  '.ts',
  '.mts',
  '.tsx',
  '.js',
  '.mjs',
  '.jsx',
  '.cts',
  '.cjs',
  '.json',
];
// A package is published for Node.js.
export const PACKAGE_ENDINGS = ['.js', '.json', '.node', '.mjs', '.cjs', '.ts', '.mts', '.cts'];

/** The file that is meant by a path without its ending, with the ending that it will have, or by its directory. */
export function findFile(base: string, endings: readonly string[]): string | null {
  const candidates = [
    base,
    ...listTypeScriptNames(base),
    ...endings.map((ending) => `${base}${ending}`),
    ...endings.map((ending) => path.join(base, `index${ending}`)),
  ];
  const found = candidates.find(isFile);
  return found === undefined ? null : realpathSync(found);
}

const JAVASCRIPT = /\.([cm]?)js(x?)$/;

/** TypeScript wants `./a.js` written for `./a.ts`. */
function listTypeScriptNames(base: string): readonly string[] {
  if (!JAVASCRIPT.test(base)) return [];
  const same = base.replace(JAVASCRIPT, '.$1ts$2');
  return base.endsWith('.js') ? [same, `${same}x`] : [same];
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}
