import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  FORMAT,
  type RecordedModule,
  type Transpiled,
  type TranspiledRecord,
  computeChecksum,
  hasModules,
  getCachePlace,
  RECORD,
  toTranspiled,
} from '../cache.ts';
import type { LoadRequest } from '../loading.ts';
import { type OwnModule, readGraph, type Obstacle } from './module-graph.ts';
import { listWantedNames } from './module-imports.ts';
import { ImportResolver } from './resolve-import.ts';
import { rewriteModule } from './rewrite.ts';
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createPrivateDirectory } from '../../../base/files.ts';

/** Transpiles an entry and all files that it imports of its own plugin, and caches the result. */
export async function transpile(request: LoadRequest): Promise<Transpiled | Obstacle> {
  const resolver = new ImportResolver(request);
  const graph = await readGraph(request, resolver);
  if (!('at' in graph)) return graph;
  const names = createFileNames(graph.map(({ file }) => file));
  const written = graph.map((module) => writeModule(module, graph, names, request));
  const record: Omit<TranspiledRecord, 'digest'> = {
    format: FORMAT,
    entry: request.entry.file,
    home: request.entry.package?.directory ?? '',
    modules: written.map(({ module }) => module),
    ...resolver.uses,
    provided: graph.flatMap((module) => listProvidedUses(module, request)),
  };
  const maps = new Map(written.map(({ module, map }) => [`${module.name}.map`, map]));
  return writeToCache(record, request, maps);
}

/** Creates readable, unique names: `lib/helper.ts` beside the entry becomes `lib.helper.mjs`. */
function createFileNames(files: readonly string[]): ReadonlyMap<string, string> {
  const home = path.dirname(files[0] ?? '');
  const names = new Map<string, string>();
  const used = new Set<string>();
  for (const file of files) {
    const plain = path
      .relative(home, file)
      .replace(/\.(?:[cm]?[jt]s|[jt]sx)$/, '')
      .replaceAll(/[/\\]+/g, '.')
      .replaceAll(/[^\w.-]+/g, '_')
      .replace(/^[._]+/, '')
      .slice(-80);
    const stem = used.has(plain) ? `${plain}-${used.size}` : plain;
    used.add(stem);
    names.set(file, `${stem}.mjs`);
  }
  return names;
}

/** The output of a module, and its source map. */
function writeModule(
  module: OwnModule,
  graph: readonly OwnModule[],
  names: ReadonlyMap<string, string>,
  request: LoadRequest,
): { readonly module: RecordedModule; readonly map: string } {
  const { file, source } = module;
  const name = names.get(file) ?? '';
  const rewritten = rewriteModule(module, {
    getFileName: (other) => names.get(other) ?? null,
    listNames: (specifier) => [
      ...new Set([...listExportedNames(specifier, request), ...collectWantedNames(module, graph)]),
    ],
  });
  const code = `${rewritten.code}\n//# sourceMappingURL=${name}.map\n`;
  return {
    module: { file, name, source, code },
    map: renderSourceMap(module, name, rewritten.linesAbove),
  };
}

function listExportedNames(specifier: string, { provided }: LoadRequest): readonly string[] {
  return Object.keys(provided(specifier) ?? {});
}

/** Collects the names that others import of a module with `export * from`; a missing one must throw when it is used. */
function collectWantedNames(
  { file, targets, imports }: OwnModule,
  graph: readonly OwnModule[],
): string[] {
  const passesOnOthers = imports.some(
    ({ clause }, at) => clause?.isStar === true && targets[at]?.kind !== 'provided',
  );
  if (passesOnOthers) return [];
  return graph.flatMap((other) =>
    other.imports.flatMap((each, at) => {
      const target = other.targets[at];
      const isOfThis = target?.kind === 'own' && target.file === file;
      return isOfThis && each.clause !== null ? listWantedNames(each.clause) : [];
    }),
  );
}

function renderSourceMap({ file, mappings }: OwnModule, name: string, linesAbove: number): string {
  return JSON.stringify({
    version: 3,
    file: name,
    sources: [pathToFileURL(file).href],
    names: [],
    mappings: `${';'.repeat(linesAbove)}${mappings}`,
  });
}

function listProvidedUses({ imports, targets }: OwnModule, request: LoadRequest) {
  return imports.flatMap((each, at) => {
    if (each.specifier === null || targets[at]?.kind !== 'provided') return [];
    const { specifier, clause } = each;
    const names = clause?.isStar === true ? listExportedNames(specifier, request).join() : '';
    return [{ specifier, names }];
  });
}

/**
 * Writes the output to the cache or, where that is not writable, to a directory of this process.
 * `maps` are the source maps by the name of their file.
 */
async function writeToCache(
  content: Omit<TranspiledRecord, 'digest'>,
  request: LoadRequest,
  maps: ReadonlyMap<string, string>,
): Promise<Transpiled> {
  const digest = computeDigest(content);
  const record = { ...content, digest };
  const home = getCachePlace(request);
  const cached = home === null ? null : tryWriteToCache(home, record, maps);
  if (cached !== null) return cached;
  const { getTemporaryDirectory } = await import('../temporary-files.ts');
  return writeModules(
    path.join(getTemporaryDirectory(), path.basename(request.entry.file)),
    record,
    maps,
  );
}

function computeDigest(content: Omit<TranspiledRecord, 'digest'>): string {
  const text = JSON.stringify(content);
  return `${computeChecksum(text)}-${text.length}`;
}

/** Null when it cannot be written, for example on a full disk or without permission. */
function tryWriteToCache(
  home: string,
  record: TranspiledRecord,
  maps: ReadonlyMap<string, string>,
): Transpiled | null {
  try {
    const translation = writeModules(home, record, maps);
    replaceFile(path.join(home, RECORD), JSON.stringify(record));
    dropOld(home, record.digest);
    return translation;
  } catch {
    return null;
  }
}

/** Writes all modules or none, because other processes read the same directory. */
function writeModules(
  home: string,
  { digest, modules }: TranspiledRecord,
  maps: ReadonlyMap<string, string>,
): Transpiled {
  const directory = path.join(home, digest);
  if (!hasModules(directory, modules)) {
    const unfinished = createTemporaryName(directory);
    createPrivateDirectory(unfinished);
    const texts = new Map([
      ...maps,
      ...modules.map(({ name, code }): [string, string] => [name, code]),
    ]);
    for (const [name, text] of texts) writeFileSync(path.join(unfinished, name), text, PRIVATE);
    moveInto(directory, unfinished, () => hasModules(directory, modules));
  }
  return toTranspiled(directory, modules);
}

const PRIVATE = { mode: 0o600 };

let count = 0;

function createTemporaryName(file: string): string {
  count += 1;
  return `${file}.${process.pid}-${count}.tmp`;
}

/** An existing directory is broken, unless another process has just written the same modules. */
function moveInto(directory: string, unfinished: string, isThere: () => boolean): void {
  try {
    renameSync(unfinished, directory);
  } catch {
    if (isThere()) return remove(unfinished);
    const broken = createTemporaryName(directory);
    renameSync(directory, broken);
    renameSync(unfinished, directory);
    remove(broken);
  }
}

function remove(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

function replaceFile(file: string, text: string): void {
  const unfinished = createTemporaryName(file);
  writeFileSync(unfinished, text, PRIVATE);
  renameSync(unfinished, file);
}

// Open sessions may still import modules of an older output.
const KEPT = 4;

function dropOld(home: string, digest: string): void {
  const directories = readdirSync(home, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== digest)
    .map(({ name }) => path.join(home, name));
  const oldest = directories
    .map((directory) => ({
      directory,
      time: statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? 0,
    }))
    .toSorted((one, other) => other.time - one.time);
  for (const { directory } of oldest.slice(KEPT - 1)) remove(directory);
}
