import path from 'node:path';

const here = import.meta.dirname;

/** The module that runs a TypeScript hook where there is no bun. */
// From the sources the built loader is used, because a child process cannot run TypeScript itself.
export const typescriptLoader: string = here.endsWith(path.join('src', 'host'))
  ? path.resolve(here, '../../dist/typescript-loader.js')
  : path.resolve(here, '../typescript-loader.js');
