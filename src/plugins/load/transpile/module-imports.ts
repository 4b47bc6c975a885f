import type { ImportSpecifier, parse } from 'es-module-lexer/minimal';

/** One import of a module, and its location in the code. */
export interface ModuleImport {
  readonly kind: 'static' | 'dynamic' | 'meta';
  /** Null when it is only known at run time. */
  readonly specifier: string | null;
  /** The start of the specifier, without its quotes where it is static. */
  readonly start: number;
  readonly end: number;
  /** The start of the whole statement or expression. */
  readonly from: number;
  readonly to: number;
  readonly hasAttributes: boolean;
  /** The clause of a static import; null for others. */
  readonly clause: ImportClause | null;
}

/** The part between `import` or `export` and `from`. */
export interface ImportClause {
  readonly isExport: boolean;
  /** `export * from` */
  readonly isStar: boolean;
  readonly default: string | null;
  /** `* as name` */
  readonly namespace: string | null;
  readonly named: readonly {
    /** The name in the other module; with quotes where it was written with them. */
    readonly from: string;
    /** The name here: a variable, or the name of an export. */
    readonly to: string;
  }[];
}

export interface ModuleOutline {
  readonly imports: readonly ModuleImport[];
  /** The names of its exports, except for those of `export * from`. */
  readonly exports: readonly string[];
  /** Whether it has the syntax of an ES module. */
  readonly isModule: boolean;
}

/** Parses the imports and exports of a module; `read` is the lexer. */
export function parseOutline(code: string, read: typeof parse): ModuleOutline {
  const [found, exported] = read(code);
  const imports = found.flatMap((each) => toModuleImport(each, code));
  const exports = exported.map(({ n }) => n);
  const isDeclared = exports.length > 0 || imports.some(({ kind }) => kind !== 'dynamic');
  return { imports, exports, isModule: isDeclared || /^export \{\};$/m.test(code) };
}

const KINDS: Readonly<Record<number, ModuleImport['kind']>> = {
  1: 'static',
  2: 'dynamic',
  3: 'meta',
};

/** Null for kinds of import that Node.js does not support yet. */
function toModuleImport(
  { t, n, s, e, ss, se, a }: ImportSpecifier,
  code: string,
): readonly ModuleImport[] {
  const kind = KINDS[t];
  if (kind === undefined) return [];
  const place = { start: s, end: e, from: ss, to: se, hasAttributes: a >= 0 };
  const clause = kind === 'static' ? parseClause(code.slice(ss, s - 1)) : null;
  return [{ kind, specifier: n ?? null, ...place, clause }];
}

const COMMENTS = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
const CLAUSE =
  /^(import|export)\b\s*([^\s,{}*"']+)?\s*,?\s*(?:(\*)(?:\s*as\s+(\S+))?|\{([\s\S]*)\})?\s*(?:from)?\s*$/;
const NAMED = /("(?:[^"\\]|\\.)*"|[^\s,]+)(?:\s+as\s+("(?:[^"\\]|\\.)*"|[^\s,]+))?/g;

/** Parses a statement up to the quotes of its specifier. */
function parseClause(text: string): ImportClause | null {
  const match = CLAUSE.exec(text.replaceAll(COMMENTS, ' ').trimEnd());
  if (match === null) return null;
  const [, keyword, name = null, star, namespace = null, namedText = ''] = match;
  return {
    isExport: keyword === 'export',
    isStar: star !== undefined && namespace === null,
    default: name === 'from' ? null : name,
    namespace,
    named: [...namedText.matchAll(NAMED)].map(([, from = '', to = from]) => ({ from, to })),
  };
}

/** Formats a name as a JavaScript string. */
export function quoteText(name: string): string {
  return name.startsWith('"') ? name : JSON.stringify(name);
}

/** Lists the names that a clause imports, except for a namespace. */
export function listWantedNames(clause: ImportClause): readonly string[] {
  const names = clause.named.map(({ from }) => String(JSON.parse(quoteText(from))));
  return clause.default === null ? names : ['default', ...names];
}
