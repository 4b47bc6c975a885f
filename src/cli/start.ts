import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

/**
 * Starts the program with what V8 made of it the last time: compiling it anew takes a third of the
 * time that a short command takes. Newer versions of Node can do so by themselves, the oldest that
 * we run on cannot.
 *
 * The cache lies in the package's own directory. Whoever could put something else there could change
 * the program itself; in a person's home, or where a variable points, that would not be so.
 */
const here = path.dirname(fileURLToPath(import.meta.url));
const requirePackage: (id: string) => unknown = createRequire(import.meta.url);
const cacheDirectory = path.resolve(
  here,
  '../../node_modules/.cache/hookline',
  `${process.version}-${process.arch}`,
);

interface Loaded {
  exports: unknown;
}

/** What a part of the program calls `require`. */
interface Require {
  (id: string): unknown;
  /** For packages that are ES modules: a part that V8 takes from its cache cannot import by itself. */
  readonly import: (id: string) => Promise<unknown>;
}

type Wrapped = (module: Loaded, require: Require, filename: string) => void;

const WRAPPER_START =
  '(function (module, require, __filename) { const { exports } = module; const __dirname = require("node:path").dirname(__filename); ';

const requirePart: Require = Object.assign(load, { import: (id: string) => import(id) });
const loaded = new Map<string, Loaded>();
const newlyCompiled = new Map<string, Script>();

process.on('exit', writeCompiledCache);
load('./main.js');

/** A part of the program, or anything else that Node can find. */
function load(id: string): unknown {
  if (!id.startsWith('./')) return requirePackage(id);
  const name = path.basename(id);
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  const module: Loaded = { exports: {} };
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
  // The build leaves nothing but ASCII in a part, and decoding it would take longer.
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

/** At the end, because what was used by then is compiled, too. Says whether it could. */
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
    // Installed where only somebody else may write: it starts as fast as it can without.
    return false;
  }
}

function removeOutdatedCache(): void {
  const parts = new Set(readdirSync(here).map((name) => `${name}.bin`));
  const outdated = readdirSync(cacheDirectory).filter((name) => !parts.has(name));
  for (const name of outdated) rmSync(path.join(cacheDirectory, name), { force: true });
}
