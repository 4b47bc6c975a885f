import { SCOPE } from '../cache.ts';
import { REGISTRY_NAME } from '../module-instances.ts';
import {
  type ImportClause,
  type ModuleImport,
  type ModuleOutline,
  quoteText,
} from './module-imports.ts';
import type { Target } from './resolve-import.ts';

/** A module with the targets of its imports. */
export interface ResolvedModule extends Pick<ModuleOutline, 'imports' | 'exports'> {
  readonly code: string;
  /** Code that is inserted above the module. */
  readonly helpers: string;
  /** In the order of the imports; null for those that are only known at run time. */
  readonly targets: readonly (Target | null)[];
}

export interface Neighbours {
  /** The file name of an own file in the output directory; null when it is not there. */
  readonly getFileName: (file: string) => string | null;
  /** The export names of a module that is re-exported as a whole. */
  readonly listNames: (specifier: string) => readonly string[];
}

/**
 * Rewrites a module so that it can be imported from another directory. Lines move only by those that are
 * inserted above the first, `linesAbove`.
 */
export function rewriteModule(
  module: ResolvedModule,
  neighbours: Neighbours,
): { readonly code: string; readonly linesAbove: number } {
  const above = createPrelude(module, neighbours);
  const edits = module.imports.flatMap((each, at): readonly Edit[] => {
    const target = module.targets[at] ?? null;
    if (each.kind === 'meta') return [edit(each.start, each.end, `${SCOPE}.meta`)];
    if (each.kind === 'dynamic') return listDynamicEdits(each, target, neighbours);
    if (target?.kind === 'provided') return [above.take(each)];
    return listStaticEdits(each, target, neighbours);
  });
  const body = applyEdits(module.code, edits);
  const statements = `${module.helpers}${above.statements()}`;
  const scope = `${statements}${body}`.includes(SCOPE) ? FIND_SCOPE : '';
  if (statements === '' && scope === '') return { code: body, linesAbove: 0 };
  return { code: `${scope}${statements}\n${body}`, linesAbove: 1 };
}

const FIND_SCOPE = `const ${SCOPE} = globalThis[Symbol.for("${REGISTRY_NAME}")].scopes.get(import.meta.url);`;

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function edit(start: number, end: number, text: string): Edit {
  return { start, end, text };
}

function applyEdits(code: string, edits: readonly Edit[]): string {
  let result = '';
  let at = 0;
  for (const { start, end, text } of edits.toSorted((one, other) => one.start - other.start)) {
    result += code.slice(at, start) + text;
    at = end;
  }
  return result + code.slice(at);
}

/** Known targets are imported natively; all others are resolved at run time. */
function listDynamicEdits(
  { from, to }: ModuleImport,
  target: Target | null,
  { getFileName }: Neighbours,
): readonly Edit[] {
  const name = target?.kind === 'own' ? getFileName(target.file) : null;
  if (name !== null) return [edit(from, to, `import("./${name}")`)];
  return [edit(from, from + 'import'.length, `${SCOPE}.import`)];
}

function listStaticEdits(
  { start, end, to, hasAttributes }: ModuleImport,
  target: Target | null,
  { getFileName }: Neighbours,
): readonly Edit[] {
  if (target?.kind === 'foreign') return [edit(start, end, target.url.replaceAll("'", '%27'))];
  if (target?.kind !== 'own') return [];
  // The target is JavaScript now, also where it was JSON, so import attributes are removed.
  const attributes = hasAttributes ? [edit(end + 1, to, '')] : [];
  return [edit(start, end, `./${getFileName(target.file) ?? ''}`), ...attributes];
}

/** Statements above the code that replace imports. */
function createPrelude({ code, exports }: ResolvedModule, { listNames }: Neighbours) {
  const exportedNames = new Set(exports);
  let statements = '';
  let count = 0;
  const renderExports = (
    specifier: string,
    pairs: readonly (readonly [string, string])[],
  ): string => {
    const own = pairs.map(([from, to]) => ({ from, to, local: `${SCOPE}_${count++}` }));
    const taking = own.map(({ from, local }) => `${from}: ${local}`).join(', ');
    const giving = own.map(({ local, to }) => `${local} as ${to}`).join(', ');
    return `const { ${taking} } = ${renderProvided(specifier)}; export { ${giving} };`;
  };
  const renderStarExport = (specifier: string): string => {
    const free = listNames(specifier).filter(
      (name) => name !== 'default' && !exportedNames.has(name),
    );
    for (const name of free) exportedNames.add(name);
    return renderExports(
      specifier,
      free.map((name) => [quoteText(name), quoteText(name)]),
    );
  };
  const renderStatement = (clause: ImportClause, specifier: string): string => {
    if (!clause.isExport) return renderImport(clause, specifier);
    if (clause.isStar) return renderStarExport(specifier);
    if (clause.namespace !== null) {
      const local = `${SCOPE}_${count++}`;
      return `const ${local} = ${renderProvided(specifier)}; export { ${local} as ${clause.namespace} };`;
    }
    return renderExports(
      specifier,
      clause.named.map(({ from, to }) => [quoteText(from), to]),
    );
  };
  return {
    take({ from, to, specifier, clause }: ModuleImport): Edit {
      if (clause !== null && specifier !== null) statements += renderStatement(clause, specifier);
      return edit(from, to, countLineBreaks(code.slice(from, to)));
    },
    statements: () => statements,
  };
}

function renderProvided(specifier: string): string {
  return `${SCOPE}.provided(${JSON.stringify(specifier)})`;
}

function renderImport(clause: ImportClause, specifier: string): string {
  const provided = renderProvided(specifier);
  const byDefault = clause.default === null ? [] : [`"default": ${clause.default}`];
  const bindings = clause.named.map(({ from, to }) => `${quoteText(from)}: ${to}`);
  const all = [...byDefault, ...bindings].join(', ');
  const some = all === '' ? '' : `const { ${all} } = ${provided};`;
  return clause.namespace === null ? some : `${some}const ${clause.namespace} = ${provided};`;
}

function countLineBreaks(text: string): string {
  return text.replaceAll(/[^\n]+/g, '');
}
