import type { Plugin } from 'rolldown';

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
