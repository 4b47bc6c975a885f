import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

/**
 * Starts the program from V8's code cache, because compiling takes a third of the time of a short
 * command. Newer versions of Node have this built in, the oldest supported one has not.
 *
 * The cache is in the package's own directory: whoever can write there can change the program
 * anyway, which is not true of the user's home or a directory named by a variable.
 */
const here = path.dirname(fileURLToPath(import.meta.url));
const requirePackage: (id: string) => unknown = createRequire(import.meta.url);
const cacheDirectory = path.resolve(
  here,
  '../../node_modules/.cache/hookline',
  `${process.version}-${process.arch}`,
);

/** The `require` of a bundled chunk. */
interface Require {
  (id: string): unknown;
  /** Imports ES modules, because code from V8's cache cannot use import(). */
  readonly import: (id: string) => Promise<unknown>;
}

type Wrapped = (module: { exports: unknown }, require: Require, filename: string) => void;

const WRAPPER_START =
  '(function (module, require, __filename) { const { exports } = module; const __dirname = require("node:path").dirname(__filename); ';

const requirePart: Require = Object.assign(load, { import: (id: string) => import(id) });
const loaded = new Map<string, { exports: unknown }>();
const newlyCompiled = new Map<string, Script>();

process.on('exit', writeCompiledCache);
load('./main.js');

/** Loads a chunk of the program, or anything else through Node. */
function load(id: string): unknown {
  if (!id.startsWith('./')) return requirePackage(id);
  const name = path.basename(id);
  const cached = loaded.get(name);
  if (cached !== undefined) return cached.exports;
  const module: { exports: unknown } = { exports: {} };
  loaded.set(name, module);
  const file = path.join(here, name);
  const run: unknown = compile(name, file).runInThisContext();
  if (isWrapped(run)) run(module, requirePart, file);
  return module.exports;
}

function isWrapped(value: unknown): value is Wrapped {
  return typeof value === 'function';
}

function compile(name: string, file: string): Script {
  const cachedData = readCompiled(name);
  // The build emits ASCII only, and latin1 decodes faster.
  const code = `${WRAPPER_START}${readFileSync(file, 'latin1')}\n})`;
  const script = new Script(code, {
    filename: file,
    ...(cachedData === null ? {} : { cachedData }),
  });
  if (script.cachedDataRejected !== false) newlyCompiled.set(name, script);
  return script;
}

function readCompiled(name: string): Buffer | null {
  try {
    return readFileSync(getCachePath(name));
  } catch {
    return null;
  }
}

function getCachePath(name: string): string {
  return path.join(cacheDirectory, `${name}.bin`);
}

/** Runs at exit, when all used functions are compiled. Returns whether it succeeded. */
function writeCompiledCache(): boolean {
  if (newlyCompiled.size === 0) return true;
  try {
    mkdirSync(cacheDirectory, { recursive: true, mode: 0o700 });
    removeOutdatedCache();
    for (const [name, script] of newlyCompiled) {
      const temporary = `${getCachePath(name)}.${process.pid}`;
      writeFileSync(temporary, script.createCachedData(), { mode: 0o600 });
      renameSync(temporary, getCachePath(name));
    }
    return true;
  } catch {
    // The package directory may not be writable; the cache is skipped then.
    return false;
  }
}

function removeOutdatedCache(): void {
  const parts = new Set(readdirSync(here).map((name) => `${name}.bin`));
  const outdated = readdirSync(cacheDirectory).filter((name) => !parts.has(name));
  for (const name of outdated) rmSync(path.join(cacheDirectory, name), { force: true });
}
