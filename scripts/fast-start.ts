import type { Plugin } from 'rolldown';
import { minifySync, parseSync, Visitor } from 'rolldown/utils';

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
  `^(?:const|let) (\\w+) = require\\("([^"]+)"\\);\\n(?:\\1 = (?:${RUNTIME}\\.)?(\\w+)\\(\\1, 1\\);\\n)?`,
  'gmu',
);

function withLazyRequires(code: string): string {
  const names: string[] = [];
  const head = code.replaceAll(REQUIRE, (...match: string[]) => {
    const [, name = '', id, toModule] = match;
    names.push(name);
    const value = formatRequire(id, toModule);
    return `let ${name}$value;\nconst ${name}$ = () => (${name}$value ??= ${value});\n`;
  });
  if (names.length === 0) return code;
  // In brackets, because `new` would take the call for its own.
  const lazy = head.replaceAll(new RegExp(`\\b(${names.join('|')})\\.`, 'gu'), '($1$()).');
  return lazy.includes(`(${RUNTIME}$())`) ? lazy : lazy.replace(UNUSED_RUNTIME, '');
}

const UNUSED_RUNTIME = new RegExp(`^let ${RUNTIME}\\$value;\\nconst ${RUNTIME}\\$ = .*\\n`, 'mu');

/** A module of Node is its own default export; the runtime would copy all that it has. */
function formatRequire(id = '', toModule?: string): string {
  const load = `require(${JSON.stringify(id)})`;
  if (toModule === undefined) return load;
  if (id.startsWith('node:')) return `{ __proto__: ${load}, default: ${load} }`;
  return `${RUNTIME}.${toModule}(${load}, 1)`;
}

/**
 * Exports by assignment what is never assigned again, because a getter for each name takes longer. What the
 * bundler exports stands at the end, where all of it has its value. A namespace becomes a plain object, for
 * which the bundler's runtime need not be loaded.
 */
export const plainExports: Plugin = {
  name: 'plain-exports',
  renderChunk: (code) => withPlainExports(code),
};

const EXPORTED =
  /^Object\.defineProperty\(exports, "(\w+)", \{\n  enumerable: true,\n  get: function \(\) \{\n    return (\w+);\n  \}\n\}\);$/gmu;

const NAMESPACE = new RegExp(
  `/\\* @__PURE__ \\*/ ${RUNTIME}\\.__exportAll\\(\\{([^{}]+)\\}\\)`,
  'gu',
);
// The value may be a name of another part: `require_agent.registerModel`.
const NAMESPACE_ENTRY = /(\w+): \(\) => ([\w$.]+)/gu;

function withPlainExports(code: string): string {
  const plain = code.replaceAll(
    NAMESPACE,
    (_all, entries: string) =>
      `{${entries.replaceAll(NAMESPACE_ENTRY, 'get $1() { return $2; }')}}`,
  );
  return plain.replaceAll(EXPORTED, (getter: string, name: string, local: string) => {
    const declaration = `^(?:(?:async )?function\\*?|const|class) ${local}\\b|^var ${local} = class\\b`;
    return new RegExp(declaration, 'mu').test(code) ? `exports.${name} = ${local};` : getter;
  });
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

/** Drops the comments and line breaks of packages; the lines of our own code stay, for stack traces. */
export const compactPackages: Plugin = {
  name: 'compact-packages',
  renderChunk: (code, { name, moduleIds }) =>
    moduleIds.some((id) => id.includes('node_modules')) && !moduleIds.some(isOwnFile)
      ? minifySync(`${name}.js`, code, { compress: false, mangle: false }).code
      : null,
};

function isOwnFile(id: string): boolean {
  return !id.includes('node_modules') && !id.startsWith('\0');
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

const WRAPPER_START =
  '(function (module, require, __filename) { const { exports } = module; const __dirname = require("node:path").dirname(__filename); ';

/** Puts each part into the function that the starter calls, so that the starter need not copy its text. */
export const wrapped: Plugin = {
  name: 'wrapped',
  renderChunk: (code, { name, imports }) => {
    if (name !== 'hookline') return `${WRAPPER_START}${code}\n})`;
    const part = imports.find((id) => !id.startsWith('node:') && code.includes(id));
    if (part === undefined) return null;
    throw new Error(`the starter loads ${part} as a module, which it is not`);
  },
};
