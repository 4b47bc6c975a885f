import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type * as kysely from 'kysely';
import type * as re2js from 're2js';
import type * as redosDetector from 'redos-detector';
import type * as yaml from 'yaml';

const here = import.meta.dirname;

/**
 * The folder of the built package. Code that runs from the sources gets it, too, because a worker and a
 * child process cannot run TypeScript.
 */
const buildDirectory = path.resolve(
  here,
  here.endsWith(path.join('src', 'base')) ? '../../dist' : '..',
);

/** Resolves a file that the build wrote, by its path below `dist`. */
export function resolveBuiltFile(file: string): string {
  return path.join(buildDirectory, file);
}

const require: (name: string) => unknown = createRequire(import.meta.url);

/**
 * Loads a package synchronously, on first use: the small copy that the build made of it, else the
 * package itself, for a program that has `hookline/hooks` in its own bundle.
 */
export function requirePackage(name: 'kysely'): typeof kysely;
export function requirePackage(name: 're2js'): typeof re2js;
export function requirePackage(name: 'redos-detector'): typeof redosDetector;
export function requirePackage(name: 'yaml'): typeof yaml;
export function requirePackage(name: string): unknown {
  const copy = resolveBuiltFile(`packages/${name}.cjs`);
  return require(existsSync(copy) ? copy : name);
}
