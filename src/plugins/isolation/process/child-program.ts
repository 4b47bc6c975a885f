import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** What a plugin's process runs. */
export interface ChildProgram {
  readonly file: string;
  readonly nodeFlags: readonly string[];
}

/** The program that stands beside this file: of the library, of the command, or of the sources. */
export function childProgram(): ChildProgram {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const isUnbundled = here.endsWith(path.join('plugins', 'isolation', 'process'));
  const home = path.resolve(here, isUnbundled ? '../../..' : '..');
  if (!import.meta.url.endsWith('.ts')) {
    return { file: path.join(home, 'plugin-child.js'), nodeFlags: [] };
  }
  // Node.js 20 cannot run TypeScript by itself.
  const jiti = path.dirname(createRequire(import.meta.url).resolve('jiti/package.json'));
  const loader = pathToFileURL(path.join(jiti, 'lib', 'jiti-register.mjs')).href;
  return { file: path.join(home, 'plugin-child.ts'), nodeFlags: ['--import', loader] };
}
