import type { parse } from 'es-module-lexer/minimal';
import type { OxcError, transformSync, TransformOptions } from 'oxc-transform';
import { readTextIfPresent } from '../../../base/files.ts';
import { parseJson, isRecord, stripByteOrderMark } from '../../../base/json.ts';
import type { LoadRequest } from '../loading.ts';
import { type ModuleImport, parseOutline } from './module-imports.ts';
import type { ImportResolver, Target } from './resolve-import.ts';
import type { ResolvedModule } from './rewrite.ts';
import { SCOPE } from '../cache.ts';

/** One of a plugin's own files. */
export interface OwnModule extends ResolvedModule {
  readonly file: string;
  readonly source: string;
  readonly mappings: string;
}

/**
 * Reads an entry and everything that it imports of its own plugin, the entry first. A module that is only
 * imported at run time is left out when it has a problem, because the import may never run.
 */
export async function readGraph(
  { entry }: LoadRequest,
  resolver: ImportResolver,
): Promise<readonly OwnModule[] | Obstacle> {
  const tools = await openTools();
  if (tools === null) return { unable: 'the translator does not run on this machine' };
  const reading = { ...tools, resolver };
  const modules = await readWithImports(entry.file, reading, []);
  if (!('at' in modules)) return modules;
  const all = [...modules];
  for (const { imports, targets } of all) {
    for (const [at, each] of imports.entries()) {
      const target = targets[at];
      if (each.kind !== 'dynamic' || target?.kind !== 'own') continue;
      const more = await readWithImports(target.file, reading, all);
      if ('at' in more) all.push(...more);
    }
  }
  return all;
}

/** Reads a file with its static imports, except for modules that were read before. */
async function readWithImports(
  first: string,
  reading: Reading,
  knownModules: readonly OwnModule[],
): Promise<readonly OwnModule[] | Obstacle> {
  const modules = new Map<string, OwnModule>();
  const visited = new Set(knownModules.map(({ file }) => file));
  const waiting = [first];
  for (const file of waiting) {
    if (visited.has(file)) continue;
    visited.add(file);
    const module = await readModule(file, reading);
    if (!('targets' in module)) return module;
    modules.set(file, module);
    waiting.push(...listNeeded(module));
  }
  return [...modules.values()];
}

function listNeeded({ imports, targets }: OwnModule): readonly string[] {
  return imports.flatMap((each, at) => {
    const target = targets[at];
    return each.kind === 'static' && target?.kind === 'own' ? [target.file] : [];
  });
}

/** Null where their native or WebAssembly parts are missing. */
async function openTools(): Promise<Omit<Reading, 'resolver'> | null> {
  try {
    const [oxc, lexer] = await Promise.all([import('oxc-transform'), startLexer()]);
    return { transformSync: oxc.transformSync, parse: lexer.parse };
  } catch {
    return null;
  }
}

async function startLexer(): Promise<typeof import('es-module-lexer/minimal')> {
  // The full lexer also reads TypeScript, and takes three times as long to start.
  const lexer = await import('es-module-lexer/minimal');
  await lexer.init();
  return lexer;
}

interface Reading {
  readonly transformSync: typeof transformSync;
  readonly parse: typeof parse;
  readonly resolver: ImportResolver;
}

async function readModule(
  file: string,
  { resolver, ...tools }: Reading,
): Promise<OwnModule | Obstacle> {
  if (/\.c[jt]s$/.test(file)) return { unable: 'it is CommonJS' };
  const source = readTextIfPresent(file);
  if (source === null) return { problem: `${file} not found` };
  const text = stripByteOrderMark(source);
  if (file.endsWith('.json')) return toJsonModule(file, source);
  const transformed = transformFile(file, text, tools.transformSync);
  if (!('code' in transformed)) return transformed;
  const { imports, exports, isModule } = parseOutline(transformed.code, tools.parse);
  if (!isModule && isCommonJs(file, transformed.code)) return { unable: 'it is CommonJS' };
  const targets = await Promise.all(imports.map((each) => resolveTarget(each, file, resolver)));
  const missing = imports.findIndex(
    ({ kind }, at) => kind === 'static' && targets[at]?.kind === 'missing',
  );
  if (missing !== -1) {
    return createMissingImport(imports[missing], targets[missing], file, text);
  }
  return { ...transformed, file, source, imports, exports, targets };
}

/** An `.mjs` file is an ES module; other files are classified by their code. */
function isCommonJs(file: string, code: string): boolean {
  return !/\.m[jt]s$/.test(file) && /\b(?:module|exports|require)\b/.test(code);
}

/** Null for imports that are resolved at run time: computed specifiers, and files that may be missing. */
async function resolveTarget(
  { kind, specifier }: ModuleImport,
  file: string,
  resolver: ImportResolver,
): Promise<Target | null> {
  const isKnown = kind === 'static' || (kind === 'dynamic' && /^\.{1,2}\//.test(specifier ?? ''));
  return isKnown && specifier !== null ? resolver.resolve(specifier, file) : null;
}

function createMissingImport(
  each: ModuleImport | undefined,
  target: Target | null | undefined,
  file: string,
  text: string,
): Obstacle {
  const message = target?.kind === 'missing' ? target.message : 'an import leads nowhere';
  const specifier = each?.specifier ?? '';
  const at = Math.max(text.indexOf(`"${specifier}"`), text.indexOf(`'${specifier}'`));
  const line = at === -1 ? '' : `:${text.slice(0, at).split('\n').length}`;
  return { problem: message.replace(file, `${file}${line}`) };
}

/** Each key becomes a named export, as TypeScript allows it. */
function toJsonModule(file: string, source: string): OwnModule | Obstacle {
  const parsed = parseJson(source);
  if (!parsed.ok) return { problem: `${file}: ${parsed.error}` };
  const keys = isRecord(parsed.value) ? Object.keys(parsed.value) : [];
  const exportNames = keys.filter((key) => key !== 'default');
  const taking = exportNames.map((key, at) => `${JSON.stringify(key)}: json_${at}`).join(', ');
  const giving = exportNames.map((key, at) => `json_${at} as ${JSON.stringify(key)}`).join(', ');
  const code = [
    `const json = JSON.parse(${JSON.stringify(JSON.stringify(parsed.value))});`,
    'export default json;',
    ...(exportNames.length === 0 ? [] : [`const { ${taking} } = json;`, `export { ${giving} };`]),
  ].join('\n');
  return { file, source, code, helpers: '', mappings: '', imports: [], exports: [], targets: [] };
}

/** Why a plugin is not transpiled. */
export type Obstacle =
  /** No loader could run it. */
  | { readonly problem: string }
  /** Another loader may work. */
  | { readonly unable: string };

const PLAIN_OPTIONS: TransformOptions = {
  target: 'node20.19',
  sourcemap: true,
  decorator: { legacy: true },
  define: {
    __dirname: `${SCOPE}.meta.dirname`,
    __filename: `${SCOPE}.meta.filename`,
    require: `${SCOPE}.require`,
  },
};

// With Object.assign, because the mode is a const enum that cannot be named here.
const OPTIONS: TransformOptions = Object.assign(PLAIN_OPTIONS, { helpers: { mode: 'External' } });

/** Transforms TypeScript or JavaScript to JavaScript for this Node.js. */
function transformFile(
  file: string,
  source: string,
  transform: typeof transformSync,
): Pick<OwnModule, 'code' | 'mappings' | 'helpers'> | Obstacle {
  const { code, map, errors, helpersUsed } = transform(file, removeHashbang(source), OPTIONS);
  const error = errors.find(({ severity }) => severity.startsWith('Error'));
  if (error !== undefined && code === '') {
    return { problem: `${file}${formatPlace(error, source)}: ${formatProblem(error)}` };
  }
  if (error !== undefined) return { unable: error.message };
  const helpers = findHelpers(Object.keys(helpersUsed));
  if (helpers === null) return { unable: 'it needs more than can be put above it' };
  return { code, mappings: map?.mappings ?? '', helpers };
}

/** Replaces it by text of the same length, so that every location stays correct. */
function removeHashbang(source: string): string {
  return source.startsWith('#!') ? `//${source.slice(2)}` : source;
}

/** Labels count bytes. */
function formatPlace({ labels }: OxcError, source: string): string {
  const start = labels.at(-1)?.start;
  if (start === undefined) return '';
  const lines = Buffer.from(source).toString('utf8', 0, start).split('\n');
  return `:${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`;
}

function formatProblem({ message, helpMessage }: OxcError): string {
  return helpMessage === null ? message : `${message} (${helpMessage})`;
}

/** The functions that the code of decorated classes calls. */
const HELPER_NAMES = ['decorate', 'decorateParam'];

/**
 * The helper functions for a module with decorated classes, on one line; an empty text for others. Null
 * when a module calls a helper that is not here.
 */
function findHelpers(called: readonly string[]): string | null {
  if (called.length === 0) return '';
  return called.every((name) => HELPER_NAMES.includes(name)) ? HELPERS : null;
}

// As TypeScript has them with `experimentalDecorators`: the last decorator is called first, and what one
// returns is what the next one gets. A method comes with null, and a field with nothing.
const HELPERS = `const babelHelpers = {
  decorate(decorators, ...place) {
    const [target, key, given] = place;
    const inOrder = decorators.filter(Boolean).reverse();
    if (place.length === 1) return inOrder.reduce((made, decorate) => decorate(made) || made, target);
    const own = given === null ? Object.getOwnPropertyDescriptor(target, key) : given;
    const made = inOrder.reduce((descriptor, decorate) => decorate(target, key, descriptor) || descriptor, own);
    if (made) Object.defineProperty(target, key, made);
    return made;
  },
  decorateParam: (index, decorate) => (target, key) => decorate(target, key, index),
};`.replaceAll(/\n\s*/g, ' ');
