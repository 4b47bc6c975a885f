import path from 'node:path';
import { Visitor, type ESTree } from 'rolldown/utils';
import { findImports } from '../module-imports.ts';
import { countLines, type SourceFile } from '../source-files.ts';
import { startsWithPlainVerb } from './plain-verbs.ts';

/** What one file adds to the rows that are counted in the text. */
export interface FileCount {
  readonly path: string;
  readonly lines: number;
  readonly interfaces: number;
  readonly exports: number;
  readonly functions: readonly string[];
  readonly unplain: readonly string[];
}

export function countFile({ path, text, program }: SourceFile): FileCount {
  const exported = program.body.flatMap(findExports);
  const functions = exported.filter(({ isFunction }) => isFunction).map(({ name }) => name);
  return {
    path,
    lines: countLines(text),
    interfaces: countInterfaces(program),
    exports: exported.length,
    functions,
    unplain: functions.filter((name) => !startsWithPlainVerb(name)),
  };
}

interface Exported {
  readonly name: string;
  readonly isFunction: boolean;
}

/** What a statement declares and exports. Re-exports are left out: they declare nothing. */
function findExports(statement: ESTree.Statement | ESTree.Directive): Exported[] {
  if (statement.type === 'ExportDefaultDeclaration') {
    return [{ name: 'default', isFunction: false }];
  }
  if (statement.type !== 'ExportNamedDeclaration' || statement.source !== null) return [];
  const { declaration } = statement;
  if (declaration === null) {
    return statement.specifiers.map(() => ({ name: '', isFunction: false }));
  }
  if (declaration.type === 'VariableDeclaration') {
    return declaration.declarations.map(({ id, init }) => ({
      name: id.type === 'Identifier' ? id.name : '',
      isFunction: init !== null && isFunctionExpression(init),
    }));
  }
  const isFunction =
    declaration.type === 'FunctionDeclaration' || declaration.type === 'TSDeclareFunction';
  const name =
    'id' in declaration && declaration.id?.type === 'Identifier' ? declaration.id.name : '';
  return [{ name, isFunction }];
}

function isFunctionExpression(node: ESTree.Expression): boolean {
  return node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression';
}

/** Interfaces, and aliases of an object type or of an intersection with one. */
function countInterfaces(program: ESTree.Program): number {
  let count = 0;
  new Visitor({
    TSInterfaceDeclaration: () => {
      count += 1;
    },
    TSTypeAliasDeclaration: ({ typeAnnotation: type }) => {
      const parts = type.type === 'TSIntersectionType' ? type.types : [type];
      if (parts.some((part) => part.type === 'TSTypeLiteral')) count += 1;
    },
  }).visit(program);
  return count;
}

/** Files outside `dialects/` that import from within a dialect's folder, types included. */
export function findBorderCrossings(sources: readonly SourceFile[]): string[] {
  return sources
    .filter(({ path: file }) => !file.startsWith('src/dialects/'))
    .filter(({ path: file, program }) =>
      findImports(program).some(({ specifier }) => {
        const target = path.posix.join(path.posix.dirname(file), specifier);
        return specifier.startsWith('.') && /^src\/dialects\/[^/]+\//u.test(target);
      }),
    )
    .map(({ path: file }) => file);
}

const DIALECT_PLACE = /^src\/dialects\/([^/]+)\//u;
/** These may know dialects; below them, a word such as `claude` names a tool vocabulary or a provider. */
const MAY_KNOW_DIALECTS = /^src\/(?:cli|host|testing|templates|acp)\/|^src\/dialects\/[^/]+$/u;

/**
 * Files and folders outside the dialects' own that a new dialect has to touch: they are named after a
 * dialect, list several, compare with one, or fall back to one.
 */
export function findDialectPlaces(sources: readonly SourceFile[]): string[] {
  const folders = sources.flatMap(({ path: file }) => DIALECT_PLACE.exec(file)?.[1] ?? []);
  const names = new Set(folders.flatMap((folder) => [folder, folder.split('-')[0] ?? folder]));
  const places = sources
    .filter(({ path: file }) => MAY_KNOW_DIALECTS.test(file))
    .flatMap((source) => {
      const named = findNamedPlace(source.path, names);
      if (named !== null) return [named];
      return knowsDialects(source.program, names) ? [source.path] : [];
    });
  return [...new Set(places)];
}

/** The file, or the folder above it, that has a dialect's name: `new/claude.ts`, `templates/claude`. */
function findNamedPlace(file: string, names: ReadonlySet<string>): string | null {
  const parts = file.replace(/\.ts$/u, '').split('/');
  const index = parts.findIndex((part) => part.split('-').some((word) => names.has(word)));
  if (index < 0) return null;
  return index === parts.length - 1 ? file : parts.slice(0, index + 1).join('/');
}

function knowsDialects(program: ESTree.Program, names: ReadonlySet<string>): boolean {
  let isKnown = false;
  const isName = (node: ESTree.Node | null): boolean =>
    node?.type === 'Literal' && typeof node.value === 'string' && names.has(node.value);
  const check = (isFound: boolean): void => {
    isKnown ||= isFound;
  };
  new Visitor({
    Property: ({ key, value }) =>
      check(
        getName(key) === 'choices' &&
          value.type === 'ArrayExpression' &&
          value.elements.every(isName),
      ),
    TSUnionType: ({ types }) =>
      check(types.every((type) => type.type === 'TSLiteralType' && isName(type.literal))),
    ObjectExpression: ({ properties }) =>
      check(
        countNames(
          properties.map((each) => ('key' in each ? getName(each.key) : '')),
          names,
        ) > 1,
      ),
    TSInterfaceBody: ({ body }) =>
      check(
        countNames(
          body.map((each) => ('key' in each ? getName(each.key) : '')),
          names,
        ) > 1,
      ),
    LogicalExpression: ({ operator, left, right }) =>
      check(
        operator === '??' && isName(right) && /^(?:as|from|dialect|agent)$/u.test(getName(left)),
      ),
    BinaryExpression: ({ left, right }) => check(isName(right) && getName(left) === 'dialect'),
  }).visit(program);
  return isKnown;
}

function countNames(keys: readonly string[], names: ReadonlySet<string>): number {
  return keys.filter((key) => names.has(key)).length;
}

/** The last word of `dialect`, `options.dialect` and `fields['dialect']`. */
function getName(node: ESTree.Node): string {
  if (node.type === 'Identifier') return node.name;
  if (node.type === 'Literal') return String(node.value);
  return node.type === 'MemberExpression' ? getName(node.property) : '';
}

/** The functions of `plugins/` that make what a plugin's `setup` gets, or a registry that calls it. */
const SETUP_MAKER = /^(?:open|create|new)\w*(?:Registry|Api)$/u;

/** Files that assemble the set-up of plugins: they call such a function, and are none themselves. */
export function findSetupPlaces(sources: readonly SourceFile[]): string[] {
  const makers = new Map<string, string>();
  for (const { path: file, program } of sources) {
    if (!file.startsWith('src/plugins/')) continue;
    for (const { name } of program.body.flatMap(findExports)) {
      if (SETUP_MAKER.test(name) || name === 'PluginRegistry') makers.set(name, file);
    }
  }
  const owners = new Set(makers.values());
  return sources
    .filter(({ path: file, program }) => !owners.has(file) && callsAny(program, makers))
    .map(({ path: file }) => file);
}

function callsAny(program: ESTree.Program, names: ReadonlyMap<string, string>): boolean {
  let isCalled = false;
  const check = ({ callee }: ESTree.CallExpression | ESTree.NewExpression): void => {
    isCalled ||= callee.type === 'Identifier' && names.has(callee.name);
  };
  new Visitor({ CallExpression: check, NewExpression: check }).visit(program);
  return isCalled;
}
