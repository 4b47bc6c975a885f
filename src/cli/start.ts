import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Script } from 'node:vm';

/**
 * Starts the program from V8's code cache, because compiling takes a third of the time of a short
 * command. Newer versions of Node have this built in, the oldest supported one has not.
 *
 * The cache is in the package's own directory: whoever can write there can change the program
 * anyway, which is not true of the user's home or a directory named by a variable.
 */
const here = import.meta.dirname;
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

/** What a chunk consists of; `scripts/fast-start.ts` puts the code into it. */
type Wrapped = (module: { exports: unknown }, require: Require, filename: string) => void;

const requirePart: Require = Object.assign(load, { import: (id: string) => import(id) });
let packageRequire: ((id: string) => unknown) | null = null;
const loaded = new Map<string, { exports: unknown }>();
const newlyCompiled = new Map<string, Script>();

if (isForwarder(process.argv[2] ?? '')) loadInstalled('./agent-hook.js');
else {
  process.on('exit', writeCompiledCache);
  load('./main.js');
}

/** Whether the command is `<agent>-hook`, which needs nothing of the program: an agent waits for it. */
function isForwarder(word: string): boolean {
  const agents = ['claude', 'cline', 'codex', 'gemini', 'copilot', 'cursor', 'opencode', 'droid'];
  return [...agents, 'qwen'].some((agent) => word === `${agent}-hook`);
}

/** Loads a chunk of the program, or anything else through Node. */
function load(id: string): unknown {
  if (!id.startsWith('./')) return loadInstalled(id);
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

/** Loads a module of Node, or a package; the former needs no search. */
function loadInstalled(id: string): unknown {
  const builtIn: unknown = id.startsWith('node:') ? process.getBuiltinModule(id) : undefined;
  if (builtIn !== undefined) return builtIn;
  packageRequire ??= createRequire(import.meta.filename);
  return packageRequire(id);
}

function isWrapped(value: unknown): value is Wrapped {
  return typeof value === 'function';
}

function compile(name: string, file: string): Script {
  const cachedData = readCompiled(name);
  // The build emits ASCII only, and latin1 decodes faster.
  const script = new Script(readFileSync(file, 'latin1'), {
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
