import type { Plugin } from 'rolldown';
import { parseSync, Visitor } from 'rolldown/utils';

/**
 * Lets the modules that a CommonJS chunk needs load when they are first used: what a command does
 * not touch costs it nothing. None of them has effects that would then come too late.
 */
export const lazyRequires: Plugin = {
  name: 'lazy-requires',
  renderChunk: (code) => withLazyRequires(code),
};

const RUNTIME = 'require_rolldown_runtime';
// `let fs = require("node:fs");`, and for a default import `fs = runtime.toModule(fs, 1);` after it.
const REQUIRE = new RegExp(
  `^(?:const|let) (\\w+) = require\\("([^"]+)"\\);\\n(?:\\1 = ${RUNTIME}\\.(\\w+)\\(\\1, 1\\);\\n)?`,
  'gmu',
);

function withLazyRequires(code: string): string {
  const names: string[] = [];
  const head = code.replaceAll(REQUIRE, (...match: string[]) => {
    const [all = '', name = '', id, toModule] = match;
    if (name === RUNTIME) return all;
    names.push(name);
    const load = `require(${JSON.stringify(id)})`;
    const value = toModule === undefined ? load : `${RUNTIME}.${toModule}(${load}, 1)`;
    return `let ${name}$value;\nconst ${name}$ = () => (${name}$value ??= ${value});\n`;
  });
  if (names.length === 0) return code;
  // In brackets, because `new` would take the call for its own.
  return head.replaceAll(new RegExp(`\\b(${names.join('|')})\\.`, 'gu'), '($1$()).');
}

const NOTHING = '\0nothing';

/** Commander loads this for commands that are programs of their own, of which we have none. */
export const withoutSubprograms: Plugin = {
  name: 'without-subprograms',
  resolveId: (id, importer) =>
    id === 'node:child_process' && importer?.includes('commander') === true ? NOTHING : null,
  load: (id) => (id === NOTHING ? 'export {};' : null),
};

/**
 * Has each part of the program import packages through the starter: V8 forgets, when it takes a part
 * from its cache, how that part may import.
 */
export const importsThroughStarter: Plugin = {
  name: 'imports-through-starter',
  renderChunk: (code, { name }) => (name === 'hookline' ? null : withStarterImports(code)),
};

function withStarterImports(code: string): string {
  const starts: number[] = [];
  const { program } = parseSync('part.js', code);
  new Visitor({
    ImportExpression: ({ start }) => void starts.push(start),
  }).visit(program);
  return starts
    .toSorted((one, other) => other - one)
    .reduce((text, start) => `${text.slice(0, start)}require.${text.slice(start)}`, code);
}

/**
 * Writes every other character as an escape, so that the starter need not decode a part: V8 keeps text
 * with one such character at twice the size, which costs a short command a seventh of its time.
 */
export const onlyAscii: Plugin = {
  name: 'only-ascii',
  renderChunk: (code, { name }) => withEscapes(code, name),
};

const BEYOND_ASCII = /[\u0080-\uffff]/;
const ALL_BEYOND_ASCII = new RegExp(BEYOND_ASCII, 'g');

function withEscapes(code: string, part: string): string {
  const { program } = parseSync('part.js', code);
  new Visitor({
    TaggedTemplateExpression: ({ start, end }) => {
      const text = code.slice(start, end);
      if (!BEYOND_ASCII.test(text)) return;
      throw new Error(`${part}: a tag would see the escapes of ${text}; write it without a tag`);
    },
  }).visit(program);
  return code.replaceAll(ALL_BEYOND_ASCII, escapeCodeUnit);
}

function escapeCodeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
