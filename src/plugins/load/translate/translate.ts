import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  FORMAT,
  type ProvidedUse,
  type RecordedModule,
  type Translation,
  type TranslationRecord,
} from '../cache.ts';
import type { LoadRequest } from '../loading.ts';
import { keepTranslation } from './keep-translation.ts';
import { type OwnModule, readGraph } from './module-graph.ts';
import { wantedNames } from './module-imports.ts';
import { createResolver } from './resolve-import.ts';
import { type Rewritten, rewriteModule } from './rewrite.ts';
import type { Obstacle } from './transform.ts';

/** Makes of an entry and all that it imports of its plugin what Node.js can import, and keeps it. */
export async function translate(request: LoadRequest): Promise<Translation | Obstacle> {
  const resolver = createResolver(request);
  const graph = await readGraph(request, resolver);
  if (!('at' in graph)) return graph;
  const names = namesFor(graph.map(({ file }) => file));
  const written = graph.map((module) => writeModule(module, { graph, names, request }));
  const record: Omit<TranslationRecord, 'digest'> = {
    format: FORMAT,
    entry: request.entry.file,
    home: request.entry.package?.directory ?? '',
    modules: written.map(({ module }) => module),
    ...resolver.uses(),
    provided: graph.flatMap((module) => providedUses(module, request)),
  };
  const maps = new Map(written.map(({ module, map }) => [`${module.name}.map`, map]));
  return keepTranslation(record, { request, maps });
}

/** Readable, and each only once: `lib/helper.ts` beside the entry is `lib.helper.mjs`. */
function namesFor(files: readonly string[]): ReadonlyMap<string, string> {
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

interface Surroundings {
  readonly graph: readonly OwnModule[];
  readonly names: ReadonlyMap<string, string>;
  readonly request: LoadRequest;
}

interface Written {
  readonly module: RecordedModule;
  /** Its source map. */
  readonly map: string;
}

function writeModule(module: OwnModule, { graph, names, request }: Surroundings): Written {
  const { file, source } = module;
  const name = names.get(file) ?? '';
  const rewritten = rewriteModule(module, {
    nameOf: (other) => names.get(other) ?? null,
    namesOf: (specifier) => [
      ...new Set([...exportedNames(specifier, request), ...wantedOf(module, graph)]),
    ],
  });
  const code = `${rewritten.code}\n//# sourceMappingURL=${name}.map\n`;
  return { module: { file, name, source, code }, map: sourceMapOf(module, name, rewritten) };
}

function exportedNames(specifier: string, { provided }: LoadRequest): readonly string[] {
  return Object.keys(provided(specifier) ?? {});
}

/** What others import of a module that passes on another as a whole: it must be there, if only to say that it is not. */
function wantedOf({ file, targets, imports }: OwnModule, graph: readonly OwnModule[]): string[] {
  const passesOnOthers = imports.some(
    ({ clause }, at) => clause?.isStar === true && targets[at]?.kind !== 'provided',
  );
  if (passesOnOthers) return [];
  return graph.flatMap((other) =>
    other.imports.flatMap((each, at) => {
      const target = other.targets[at];
      const isOfThis = target?.kind === 'own' && target.file === file;
      return isOfThis && each.clause !== null ? wantedNames(each.clause) : [];
    }),
  );
}

function sourceMapOf(
  { file, mappings }: OwnModule,
  name: string,
  { linesAbove }: Rewritten,
): string {
  return JSON.stringify({
    version: 3,
    file: name,
    sources: [pathToFileURL(file).href],
    names: [],
    mappings: `${';'.repeat(linesAbove)}${mappings}`,
  });
}

function providedUses({ imports, targets }: OwnModule, request: LoadRequest): ProvidedUse[] {
  return imports.flatMap((each, at) => {
    if (each.specifier === null || targets[at]?.kind !== 'provided') return [];
    const { specifier, clause } = each;
    const names = clause?.isStar === true ? exportedNames(specifier, request).join() : '';
    return [{ specifier, names }];
  });
}
