import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { BUNDLED, LAYERS, SURROUNDINGS_READERS, type Grant } from './layer-table.ts';
import { findImports } from './module-imports.ts';
import { lineAt, readSourceFiles, type SourceFile } from './source-files.ts';
import { findEnvironmentUses } from './environment-uses.ts';

interface Import {
  readonly from: string;
  /** A file of the project, or what was written for a package or a module of Node. */
  readonly to: string;
  readonly kind: 'file' | 'module' | 'package';
  readonly isTypeOnly: boolean;
}

const root = path.resolve(process.argv[2] ?? '.');
const sources = readSourceFiles(root, ['src']);
const outsiders = readSourceFiles(root, ['scripts', 'bench', 'interop']);
const violations = [...findViolations(sources), ...outsiders.flatMap(findBorderViolations)];
for (const violation of violations) process.stdout.write(`${violation}\n`);
const fileCount = sources.length + outsiders.length;
process.stdout.write(`layers: ${fileCount} files, ${violations.length} violations\n`);
process.exitCode = violations.length === 0 ? 0 : 1;

function findViolations(files: readonly SourceFile[]): string[] {
  const imports = files.flatMap(resolveImports);
  const dependencies = readDependencies();
  const refused = imports.flatMap((each) => {
    const rule = brokenRule(each, dependencies);
    return rule === null ? [] : [`${each.from} imports ${each.to}: ${rule}`];
  });
  return [...new Set(refused), ...findCycles(imports), ...files.flatMap(findSurroundings)];
}

/** Scripts, the bench and interop may import all of src but the inside of a dialect; tests may import that, too. */
function findBorderViolations(source: SourceFile): string[] {
  return resolveImports(source).flatMap(({ from, to, kind }) => {
    const rule = kind === 'file' ? brokenDialectRule(from, to) : null;
    return rule === null ? [] : [`${from} imports ${to}: ${rule}`];
  });
}

function resolveImports(source: SourceFile): Import[] {
  return findImports(source.program).map(({ specifier, isTypeOnly }) => {
    const from = source.path;
    if (specifier.startsWith('.')) {
      const to = path.posix.join(path.posix.dirname(from), specifier);
      return { from, to, kind: 'file', isTypeOnly };
    }
    return { from, to: specifier, kind: isBuiltin(specifier) ? 'module' : 'package', isTypeOnly };
  });
}

function brokenRule(each: Import, dependencies: ReadonlySet<string>): string | null {
  const name = layerOf(each.from);
  const layer = LAYERS[name];
  if (layer === undefined) return `the folder ${name} has no row in scripts/layer-table.ts`;
  if (each.kind === 'file') return brokenFileRule(each);
  if (each.kind === 'module') {
    const isForbidden = layer.neverModules?.some((module) => isModuleOf(each.to, module));
    return isForbidden ? `${name} never imports ${layer.neverModules?.join(', ')}` : null;
  }
  const packageName = packageNameOf(each.to);
  if (layer.packages !== undefined && !layer.packages.includes(packageName)) {
    return `${name} may import ${list(layer.packages)} of all packages`;
  }
  if (dependencies.has(packageName) || isBundled(each)) return null;
  return 'it is not among the dependencies of package.json';
}

/** Types are needed only to build the package. */
function isBundled({ from, isTypeOnly }: Import): boolean {
  return isTypeOnly || BUNDLED.some((place) => isBelow(from, place));
}

function brokenFileRule({ from, to, isTypeOnly }: Import): string | null {
  const name = layerOf(from);
  const border = brokenDialectRule(from, to);
  if (border !== null || layerOf(to) === name) return border;
  const grants = LAYERS[name]?.mayImport ?? [];
  const isGranted = grants.some((grant) => {
    if (typeof grant === 'string') return isBelow(to, `src/${grant}`);
    if (grant.typesOnly && !isTypeOnly) return false;
    if (grant.from !== undefined && !isBelow(from, `src/${grant.from}`)) return false;
    return isBelow(to, `src/${grant.to}`);
  });
  return isGranted ? null : `${name} may import ${list(grants.map(describeGrant))}`;
}

function brokenDialectRule(from: string, to: string): string | null {
  const dialect = dialectOf(to);
  if (dialect === null || dialect === dialectOf(from) || from === 'src/dialects/index.ts') {
    return null;
  }
  return `only src/dialects/index.ts and the folder itself may import from ${dialect}`;
}

function findCycles(imports: readonly Import[]): string[] {
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, trail: readonly string[]): void => {
    const start = trail.indexOf(file);
    if (start >= 0) cycles.push(`${[...trail.slice(start), file].join(' → ')}: a cycle`);
    if (start >= 0 || done.has(file)) return;
    for (const target of targetsOf(file)) visit(target, [...trail, file]);
    done.add(file);
  };
  const targetsOf = (file: string): Set<string> =>
    new Set(
      imports.flatMap(({ from, to, kind }) => (kind === 'file' && from === file ? [to] : [])),
    );
  for (const { from } of imports) visit(from, []);
  return cycles;
}

function findSurroundings(source: SourceFile): string[] {
  if (!source.path.startsWith('src/') || SURROUNDINGS_READERS.includes(source.path)) return [];
  return findEnvironmentUses(source.program).map(({ what, offset }) => {
    const place = `${source.path}:${lineAt(source, offset)}`;
    return `${place} uses ${what}: only ${list(SURROUNDINGS_READERS)} may`;
  });
}

function readDependencies(): ReadonlySet<string> {
  const manifest: { dependencies?: object; optionalDependencies?: object } = JSON.parse(
    readFileSync(path.join(root, 'package.json'), 'utf8'),
  );
  return new Set(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }));
}

function layerOf(file: string): string {
  const [top, folder, ...rest] = file.split('/');
  if (top !== 'src') return top ?? file;
  return rest.length === 0 || folder === undefined ? 'an entry' : folder;
}

function dialectOf(file: string): string | null {
  return /^src\/dialects\/([^/]+)\//.exec(file)?.[1] ?? null;
}

function packageNameOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

function isModuleOf(specifier: string, module: string): boolean {
  const full = specifier.startsWith('node:') ? specifier : `node:${specifier}`;
  return isBelow(full, module);
}

function isBelow(file: string, place: string): boolean {
  return file === place || file.startsWith(`${place}/`);
}

function describeGrant(grant: Grant): string {
  if (typeof grant === 'string') return grant;
  const kind = grant.typesOnly ? ' (types only)' : '';
  return `${grant.to}${kind}${grant.from === undefined ? '' : ` from ${grant.from}`}`;
}

function list(words: readonly string[]): string {
  return words.length === 0 ? 'nothing' : words.join(', ');
}
