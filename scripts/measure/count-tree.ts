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
/** The packages for Cline's own API are about one dialect; `sdk` is the older name of `compat/cline`. */
const OF_ONE_DIALECT = /^src\/(?:compat\/cline|sdk)\//u;
/** Below these, a word such as `claude` in a table or a file's name is a tool vocabulary or a provider. */
const LISTS_DIALECTS =
  /^src\/(?:cli|host|testing|templates|acp|permissions)\/|^src\/dialects\/[^/]+$/u;

/**
 * Files and folders outside the dialects' own that a new dialect has to touch: they are named after a
 * dialect, list several, compare with one, or fall back to one.
 */
export function findDialectPlaces(sources: readonly SourceFile[]): string[] {
  const dialectFiles = sources.filter(({ path: file }) => DIALECT_PLACE.test(file));
  const folders = dialectFiles.flatMap(({ path: file }) => DIALECT_PLACE.exec(file)?.[1] ?? []);
  const folderNames = new Set(folders.flatMap((name) => [name, name.split('-')[0] ?? name]));
  const names = new Set([...folderNames, ...dialectFiles.flatMap(findDialectNames)]);
  const places = sources
    .filter(({ path: file }) => !DIALECT_PLACE.test(file) && !OF_ONE_DIALECT.test(file))
    .flatMap((source) => {
      if (comparesDialects(source.program, names)) return [source.path];
      if (!LISTS_DIALECTS.test(source.path)) return [];
      // The names of hooks (`plugin`) are left out: in a file's name they mean the feature.
      const named = findNamedPlace(source.path, folderNames);
      if (named !== null) return [named];
      return listsDialects(source.program, names) ? [source.path] : [];
    });
  return [...new Set(places)];
}

/** Finds what the hooks of a dialect are called: `dialect: 'plugin'`, or the name of a Dialect object. */
function findDialectNames({ program }: SourceFile): string[] {
  const found: string[] = [];
  new Visitor({
    ObjectExpression: ({ properties }) => {
      const keys = properties.map((each) => ('key' in each ? getName(each.key) : ''));
      const isDialect = keys.includes('events') && keys.includes('vocabulary');
      for (const each of properties) {
        const key = 'key' in each ? getName(each.key) : '';
        if (key !== 'dialect' && !(isDialect && key === 'name')) continue;
        if ('value' in each && each.value.type === 'Literal') found.push(String(each.value.value));
      }
    },
  }).visit(program);
  return found;
}

/** The file, or the folder above it, that has a dialect's name: `new/claude.ts`, `templates/claude`. */
function findNamedPlace(file: string, names: ReadonlySet<string>): string | null {
  const parts = file.replace(/\.ts$/u, '').split('/');
  const index = parts.findIndex((part) => part.split('-').some((word) => names.has(word)));
  if (index < 0) return null;
  return index === parts.length - 1 ? file : parts.slice(0, index + 1).join('/');
}

const DIALECT_WORD = /^(?:as|from|dialects?|agent)$/u;

/** Compares with a dialect's name: `dialect === 'plugin'`, `case`, `dialects.includes('plugin')`, `dialect ?? 'cline'`. */
function comparesDialects(program: ESTree.Program, names: ReadonlySet<string>): boolean {
  let isKnown = false;
  const check = (one: ESTree.Node, other: ESTree.Node | null | undefined): void => {
    isKnown ||= isName(other, names) && DIALECT_WORD.test(getName(one));
  };
  new Visitor({
    BinaryExpression: ({ left, right }) => {
      check(left, right);
      check(right, left);
    },
    LogicalExpression: ({ operator, left, right }) => {
      if (operator === '??') check(left, right);
    },
    SwitchStatement: ({ discriminant, cases }) => {
      for (const { test } of cases) check(discriminant, test);
    },
    CallExpression: ({ callee, arguments: [first] }) => {
      if (callee.type === 'MemberExpression') check(callee.object, first);
    },
  }).visit(program);
  return isKnown;
}

/** Has a table, a union or choices with dialects. */
function listsDialects(program: ESTree.Program, names: ReadonlySet<string>): boolean {
  let isKnown = false;
  const check = (isFound: boolean): void => {
    isKnown ||= isFound;
  };
  new Visitor({
    Property: ({ key, value }) =>
      check(
        getName(key) === 'choices' &&
          value.type === 'ArrayExpression' &&
          value.elements.every((each) => isName(each, names)),
      ),
    TSUnionType: ({ types }) =>
      check(types.every((type) => type.type === 'TSLiteralType' && isName(type.literal, names))),
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
  }).visit(program);
  return isKnown;
}

function isName(node: ESTree.Node | null | undefined, names: ReadonlySet<string>): boolean {
  return node?.type === 'Literal' && typeof node.value === 'string' && names.has(node.value);
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
