import { fileURLToPath } from 'node:url';

// From the sources the built loader is used, because a child process cannot run TypeScript itself.
const RELATIVE = import.meta.url.includes('/src/host/')
  ? '../../dist/typescript-loader.js'
  : '../typescript-loader.js';

/** The module that runs a TypeScript hook where there is no bun. */
export const typescriptLoader: string = fileURLToPath(new URL(RELATIVE, import.meta.url));
