import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import path from 'node:path';
import { isDirectory, isFile } from '../base/files.ts';
import { findRealPath, isInside } from '../base/paths.ts';
import { listMappedTargets } from './package-imports.ts';
import { isLibraryModuleName } from './python-modules.ts';
import type { TrustUnit } from './trust-unit.ts';
import { extractCommandText } from './reference-words.ts';
import {
  extractScriptReferences,
  isInterpreter,
  type ScriptReferences,
  stripUnknown,
} from './script-references.ts';

/** Where the collection of a unit puts what is found. */
export interface FollowPort {
  /** The real path of the workspace root. */
  readonly root: string;
  /** Binds a file, or the link that leads out; returns its real path if it is a file in the workspace. */
  addFile(file: string): string | null;
  /** Watches a directory in which a file may appear that would be taken instead. */
  probeDirectory(directory: string): void;
  /** Names what is not bound. */
  addUncovered(name: string): void;
  /** Names an interpreter that is not bound. */
  addInterpreter(name: string): void;
  /** From now on, what is added was found only because the PATH leads into the workspace. */
  startSearchPath(): void;
}

const MAX_FOLLOWED = 400;
const MAX_ENTERED = 100;

/**
 * Finds the workspace files that run because a bound file or command line loads or starts them: imports,
 * sourced scripts, interpreters with their startup files, and programs on a PATH that leads into the
 * workspace.
 */
export function followReferences(unit: TrustUnit, port: FollowPort): void {
  const follower = new ReferenceFollower(unit, port);
  if (unit.text === undefined) follower.start(unit.entry);
  else follower.followText(extractCommandText(unit, unit.text), null);
  for (const file of unit.files) follower.start(file);
  follower.followAll();
  follower.addToolDirectories();
  port.startSearchPath();
  follower.addSearchedPrograms();
  follower.nameInterpreters();
}

class ReferenceFollower {
  readonly #unit: TrustUnit;
  readonly #port: FollowPort;
  readonly #queue: { readonly file: string; readonly isStart: boolean }[] = [];
  readonly #visited = new Set<string>();
  readonly #words = new Set<string>();
  readonly #interpreters = new Set<string>();
  readonly #boundPrograms = new Set<string>();
  readonly #listings = new Map<string, ReadonlySet<string>>();

  constructor(unit: TrustUnit, port: FollowPort) {
    this.#unit = unit;
    this.#port = port;
    for (const program of unit.starts?.programs ?? []) {
      this.#words.add(path.basename(program));
      if (isInterpreter(program)) this.#interpreters.add(program);
    }
  }

  start(file: string): void {
    this.#queue.push({ file, isStart: true });
  }

  followAll(): void {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      const real = findRealPath(next.file);
      if (real === null || this.#visited.has(real)) continue;
      this.#visited.add(real);
      this.#followNext(next.file, real, next.isStart);
    }
  }

  #followNext(file: string, real: string, isStart: boolean): void {
    if (!isStart && isInstalledPackage(real)) return this.#nameInstalledPackage(real);
    if (this.#visited.size <= MAX_FOLLOWED) return this.#followFile(file);
    this.#port.addUncovered('more imports than are followed');
  }

  #followFile(file: string): void {
    const text = readScriptText(file);
    if (text !== null) this.followText(text, file);
  }

  /** `file` is null for a command line. */
  followText(text: string, file: string | null): void {
    const references = extractScriptReferences(text);
    for (const word of references.words) this.#words.add(word);
    for (const word of references.interpreters) this.#interpreters.add(word);
    const beside = file === null ? [] : listOwnDirectories(file);
    const places = this.#listPlaces();
    const first = listEntered(references, [...beside, ...places]);
    // `cd sub; PYTHONPATH=lib python3 …`
    const entered = unique([...first, ...listEntered(references, first)]).slice(0, MAX_ENTERED);
    const started = [...references.started].filter((word) => file === null || !isData(word));
    this.#addStarted(started, unique([...beside, ...places, ...entered]));
    const importing = unique([...(file === null ? places : beside), ...entered]);
    for (const written of references.imports) {
      this.#addImport(written, importing);
      this.#addPackageImport(written, importing);
      // Ruby, Perl and PHP load files relative to the current directory as well.
      this.#addImport(written, places, false);
    }
    this.#addModules(references.modules, file, importing);
  }

  /** The directories that relative paths of a command line start from. */
  #listPlaces(): readonly string[] {
    return unique([...(this.#unit.starts?.directories ?? []), this.#port.root]);
  }

  #addStarted(words: readonly string[], bases: readonly string[]): void {
    for (const word of words) {
      for (const file of this.#listCandidates(stripUnknown(word), bases)) {
        if (isFile(file)) this.#addProgram(file);
        else if (/[/.]/.test(word)) this.#probeNearest(file);
      }
    }
  }

  #listCandidates(word: string, bases: readonly string[]): readonly string[] {
    if (word === '' || word.length > 400 || word.startsWith('~')) return [];
    const places = path.isAbsolute(word) ? [''] : bases;
    return places
      .flatMap((base) => listKernelPaths(base, word))
      .filter((file) => this.#isOurs(file));
  }

  #isOurs(file: string): boolean {
    if (isInside(this.#port.root, file)) return file !== this.#port.root;
    const real = findRealPath(file);
    return real !== null && isInside(this.#port.root, real) && real !== this.#port.root;
  }

  #addProgram(file: string): void {
    this.#boundPrograms.add(path.basename(file));
    this.#add(file);
    if (isInterpreter(file)) this.#addStartupFiles(file);
  }

  #add(file: string): void {
    const real = this.#port.addFile(file);
    if (real !== null) this.#queue.push({ file, isStart: false });
  }

  #probeNearest(file: string): void {
    let directory = path.dirname(file);
    while (!isDirectory(directory) && directory !== path.dirname(directory)) {
      directory = path.dirname(directory);
    }
    if (isInside(this.#port.root, directory)) this.#port.probeDirectory(directory);
  }

  /** Files that Python, bun and deno read before the script. */
  #addStartupFiles(program: string): void {
    const directory = path.dirname(program);
    const above = path.dirname(directory);
    const startup = [
      ...[directory, above].flatMap((place) =>
        this.#listNamed(place, /^(?:pyvenv\.cfg|pybuilddir\.txt|python.*\._pth)$/i),
      ),
      ...this.#listPlaces().flatMap((place) => this.#listConfigured(place, path.basename(program))),
    ];
    for (const file of startup) this.#add(file);
    for (const site of listSiteDirectories(above)) this.#addSite(site);
  }

  #listConfigured(place: string, program: string): readonly string[] {
    const names = CONFIGURATION[program.replace(/[\d.x]+$/, '')];
    return names === undefined ? [] : this.#listNamed(place, names);
  }

  #listNamed(place: string, names: RegExp): readonly string[] {
    if (!isInside(this.#port.root, place)) return [];
    const listed = this.#list(place);
    return [...listed]
      .filter((name) => names.test(name))
      .map((name) => path.join(place, name))
      .filter(isFile);
  }

  #addSite(site: string): void {
    if (!isInside(this.#port.root, site)) return;
    const startup = this.#listNamed(site, /^(?:.*\.pth|(?:site|user)customize\.\w+)$/);
    for (const file of startup) this.#add(file);
    this.#addModules(new Set(['sitecustomize', 'usercustomize']), null, [site]);
    this.#port.addUncovered(`packages in ${path.relative(this.#port.root, site)}`);
  }

  #nameInstalledPackage(real: string): void {
    const segments = path.relative(this.#port.root, real).split(path.sep);
    const at = segments.findLastIndex((segment) => PACKAGE_DIRECTORIES.includes(segment));
    this.#port.addUncovered(`packages in ${segments.slice(0, at + 1).join('/')}`);
  }

  #addImport(written: string, bases: readonly string[], canAppear = true): void {
    const relative = written.replace(/^\/+/, '');
    const places = path.isAbsolute(written)
      ? [written, ...bases.map((base) => path.join(base, relative))]
      : bases.flatMap((base) => listKernelPaths(base, written));
    // What is bound with its whole directory says by itself which packages it does not bind.
    const hasOwnText = this.#unit.text !== undefined;
    if (hasOwnText && /^[\w@]/.test(written)) this.#namePackage(written, bases);
    for (const place of places) {
      if (!this.#isOurs(place) && !isInside(this.#port.root, path.dirname(place))) continue;
      if (canAppear && /^\.{0,2}\//.test(written)) this.#probeNearest(place);
      for (const file of listImportedFiles(place)) this.#add(file);
    }
  }

  /** Node.js looks for `require('x')` in the directories above, too. */
  #namePackage(name: string, bases: readonly string[]): void {
    const found = bases
      .map((base) => path.join(base, 'node_modules', name))
      .find((place) => this.#isOurs(place) && isDirectory(place));
    if (found !== undefined) this.#nameInstalledPackage(found);
  }

  /** `#x` and the package's own name mean what the nearest package.json says. */
  #addPackageImport(written: string, bases: readonly string[]): void {
    if (/^(?:[./]|node:)/.test(written)) return;
    for (const base of bases) {
      const directory = this.#findPackageDirectory(base, written.startsWith('#'));
      if (directory === null) continue;
      const manifest = path.join(directory, 'package.json');
      const targets = listMappedTargets(readScriptText(manifest) ?? '', written);
      if (targets.length > 0) this.#port.addFile(manifest);
      for (const target of targets) this.#addImport(target, [directory]);
    }
  }

  /** The nearest directory with a package.json, up to the root; a nearer one may appear. */
  #findPackageDirectory(directory: string, canAppear: boolean): string | null {
    if (!isInside(this.#port.root, directory)) return null;
    if (canAppear) this.#port.probeDirectory(directory);
    if (isFile(path.join(directory, 'package.json'))) return directory;
    if (directory === this.#port.root) return null;
    return this.#findPackageDirectory(path.dirname(directory), canAppear);
  }

  #addModules(names: ReadonlySet<string>, file: string | null, importing: readonly string[]): void {
    if (names.size === 0) return;
    const bases =
      file === null
        ? importing
        : [...importing, ...listOwnDirectories(file).map(findPackageParent)];
    for (const name of names) {
      const level = /^\.*/.exec(name)?.[0].length ?? 0;
      const parts = name
        .slice(level)
        .split('.')
        .filter((part) => part !== '');
      const starts = level === 0 ? unique(bases) : climb(file, level);
      for (const start of starts) this.#addModule(start, parts);
    }
    for (const base of unique(importing)) this.#addLibraryModules(base);
  }

  #addLibraryModules(directory: string): void {
    if (!isInside(this.#port.root, directory)) return;
    const hiding = [...this.#list(directory)].filter(isLibraryModuleName);
    for (const name of hiding) this.#addModule(directory, name.split('.', 1));
  }

  #addModule(directory: string, [first, ...rest]: readonly string[]): void {
    if (!isInside(this.#port.root, directory)) return;
    const listed = this.#list(directory);
    if (first === undefined) return this.#addAll(directory, listPackageFiles(listed));
    this.#addAll(
      directory,
      [...listed].filter((name) => isModuleFile(name, first)),
    );
    const inner = path.join(directory, first);
    if (!listed.has(first) || !isDirectory(inner)) return;
    this.#addAll(inner, listPackageFiles(this.#list(inner)));
    if (rest.length > 0) this.#addModule(inner, rest);
  }

  #addAll(directory: string, names: readonly string[]): void {
    for (const name of names) {
      const file = path.join(directory, name);
      if (isFile(file)) this.#add(file);
    }
  }

  #list(directory: string): ReadonlySet<string> {
    const known = this.#listings.get(directory);
    if (known !== undefined) return known;
    this.#port.probeDirectory(directory);
    const listed = new Set(listNames(directory));
    this.#listings.set(directory, listed);
    return listed;
  }

  /** `npx` and `uv run` look in the directories of the project, whatever the PATH is. */
  addToolDirectories(): void {
    for (const [runner, directories] of Object.entries(TOOL_DIRECTORIES)) {
      if (!this.#words.has(runner)) continue;
      for (const place of this.#listPlaces()) {
        for (const directory of directories) this.#addNamedPrograms(path.join(place, directory));
      }
    }
    this.followAll();
  }

  addSearchedPrograms(): void {
    for (const directory of this.#unit.starts?.searchPath ?? []) {
      const real = findRealPath(directory) ?? directory;
      if (isInside(this.#port.root, real)) this.#addNamedPrograms(directory);
    }
    this.followAll();
  }

  #addNamedPrograms(directory: string): void {
    if (!isDirectory(directory)) return this.#probeNearest(directory);
    for (const name of this.#list(directory)) {
      const isNamed = this.#words.has(name) || this.#words.has(name.replace(/\.(?:exe|cmd)$/i, ''));
      const file = path.join(directory, name);
      if (isNamed && isFile(file)) this.#addProgram(file);
    }
  }

  nameInterpreters(): void {
    for (const written of this.#interpreters) {
      if (written === '' || this.#boundPrograms.has(path.basename(written))) continue;
      this.#port.addInterpreter(written);
    }
  }
}

const PACKAGE_DIRECTORIES = ['node_modules', 'site-packages', 'dist-packages'];

/** Installed packages are bound where they are started, but too many to be followed. */
export function isInstalledPackage(real: string): boolean {
  return real.split(path.sep).some((segment) => PACKAGE_DIRECTORIES.includes(segment));
}

const CONFIGURATION: Readonly<Record<string, RegExp>> = {
  bun: /^bunfig\.toml$/,
  bunx: /^bunfig\.toml$/,
  deno: /^deno\.jsonc?$/,
};

const VENV = ['.venv/bin', 'venv/bin', '.venv/Scripts', 'venv/Scripts'];
const MODULES = ['node_modules/.bin'];

const TOOL_DIRECTORIES: Readonly<Record<string, readonly string[]>> = {
  uv: VENV,
  poetry: VENV,
  pipenv: VENV,
  hatch: VENV,
  pdm: VENV,
  rye: VENV,
  npx: MODULES,
  npm: MODULES,
  pnpm: MODULES,
  pnpx: MODULES,
  yarn: MODULES,
  bunx: MODULES,
  bun: MODULES,
};

/** An argument that a program reads or writes as data: it is named instead of bound. */
function isData(word: string): boolean {
  return /\.(?:jsonl?|log|txt|md|ya?ml|toml|lock|csv|tsv|db|sqlite3?|pid|out|tmp|ini|xml|html?)$/i.test(
    word,
  );
}

function unique(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)];
}

/** The directory in which a script was found, and the one behind its links. */
function listOwnDirectories(file: string): readonly string[] {
  const real = findRealPath(file) ?? file;
  return unique([path.dirname(file), path.dirname(real)]);
}

function listEntered(
  { directories }: ScriptReferences,
  bases: readonly string[],
): readonly string[] {
  return [...directories].flatMap((written) => {
    const word = stripUnknown(written);
    return bases.flatMap((base) =>
      listKernelPaths(path.isAbsolute(word) ? '' : base, word === '' ? '.' : word),
    );
  });
}

/** A path as it is written and, where `..` follows a link, as the kernel reads it. */
function listKernelPaths(base: string, word: string): readonly string[] {
  const written = path.resolve(base === '' ? '/' : base, word);
  if (!word.includes('..')) return [written];
  const real = findRealPath(`${base}/${word}`);
  return real === null || real === findRealPath(written) ? [written] : [written, real];
}

const IMPORTED_ENDINGS =
  '|.js|.mjs|.cjs|.ts|.mts|.cts|.jsx|.tsx|.json|.node|.wasm|.py|.sh|.bash|.rb|.pl|.pm|.php|.lua|.ps1|.psm1'.split(
    '|',
  );

/** An interpreter adds the ending, or looks into the directory. */
function listImportedFiles(place: string): readonly string[] {
  const sources = place.replace(/\.([mc]?)js(x?)$/, '.$1ts$2');
  const spellings = sources === place ? [place] : [place, sources];
  const files = spellings.flatMap((each) => IMPORTED_ENDINGS.map((ending) => `${each}${ending}`));
  const inner = isDirectory(place)
    ? listNames(place).filter((name) => /^(?:index\.\w+|package\.json|__init__\.py)$/.test(name))
    : [];
  return [...files, ...inner.map((name) => path.join(place, name))].filter(isFile);
}

function isModuleFile(name: string, module: string): boolean {
  return name.startsWith(`${module}.`) && /\.(?:py|pyc|pyw|so|pyd)$/.test(name);
}

function listPackageFiles(listed: ReadonlySet<string>): readonly string[] {
  return ['__init__.py', '__init__.pyc', '__main__.py', '__main__.pyc'].filter((name) =>
    listed.has(name),
  );
}

/** The directory that contains the outermost package of a directory. */
function findPackageParent(directory: string): string {
  const isPackage =
    isFile(path.join(directory, '__init__.py')) || isFile(path.join(directory, '__main__.py'));
  const parent = path.dirname(directory);
  return isPackage && parent !== directory ? findPackageParent(parent) : directory;
}

/** One dot is the directory of the module, each further one its parent. */
function climb(file: string | null, level: number): readonly string[] {
  if (file === null) return [];
  const up = Array.from({ length: level - 1 }, () => '..');
  return listOwnDirectories(file).map((directory) => path.join(directory, ...up));
}

/** `lib/python3.12/site-packages` of a virtual environment. */
function listSiteDirectories(environment: string): readonly string[] {
  if (!isFile(path.join(environment, 'pyvenv.cfg'))) return [];
  const versions = listNames(path.join(environment, 'lib')).filter((name) =>
    /^py(?:thon|py)/.test(name),
  );
  return [
    ...versions.map((version) => path.join('lib', version, 'site-packages')),
    'Lib/site-packages',
  ]
    .map((each) => path.join(environment, each))
    .filter(isDirectory);
}

const MAX_TEXT = 256 * 1024;

/** Null for what cannot be read or is a compiled program; whoever hashes the file reports the former. */
function readScriptText(file: string): string | null {
  try {
    const handle = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const status = fstatSync(handle);
      if (!status.isFile()) return null;
      const bytes = Buffer.allocUnsafe(Math.min(status.size, MAX_TEXT));
      const length = readSync(handle, bytes, 0, bytes.length, 0);
      return isCompiled(bytes.subarray(0, length)) ? null : bytes.toString('utf8', 0, length);
    } finally {
      closeSync(handle);
    }
  } catch {
    return null;
  }
}

/** Whether the kernel runs these bytes itself; all others may be a text to some interpreter. */
export function isCompiled(bytes: Uint8Array): boolean {
  const magic = Buffer.from(bytes.subarray(0, 4)).toString('latin1');
  return /^(?:\x7FELF|MZ|\xFE\xED\xFA|[\xCE\xCF]\xFA\xED\xFE|\xCA\xFE\xBA\xBE)/.test(magic);
}

function listNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory).toSorted();
  } catch {
    return [];
  }
}
