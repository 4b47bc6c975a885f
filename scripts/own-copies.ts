import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, type Plugin } from 'rolldown';
import { minifySync } from 'rolldown/utils';
import { BUNDLED } from './layer-table.ts';

/**
 * Packages of which the built package has a copy of its own, because installing them fails (a package
 * that linkedom asks for cannot be installed) or takes far more space than what is used of them.
 */

const USERS = BUNDLED.filter((place) => place.endsWith('.ts')).map((file) =>
  file.replace(/^src/, 'dist').replace(/\.ts$/, '.js'),
);

// Loaded by `requirePackage`.
const REQUIRED = ['kysely', 're2js', 'redos-detector', 'yaml'];

const keepOwnFiles: Plugin = {
  name: 'keep-own-files',
  resolveId: (id, importer) =>
    id.startsWith('.') && importer?.includes('node_modules') === false
      ? { id, external: true }
      : null,
};

/** Writes each package that is required on first use into one file; returns the packages' files. */
export async function bundlePackages(): Promise<readonly string[]> {
  const { output } = await build({
    input: Object.fromEntries(REQUIRED.map((name) => [name, name])),
    platform: 'node',
    external: /^node:/,
    output: { dir: 'dist/packages', format: 'cjs', minify: true, entryFileNames: '[name].cjs' },
  });
  return output.flatMap((each) => (each.type === 'chunk' ? each.moduleIds : []));
}

/** Writes their packages into the built files that alone use them; returns the packages' files. */
export async function bundleUsers(): Promise<readonly string[]> {
  const outputs = [];
  for (const file of USERS) {
    const { output } = await build({
      input: path.resolve(file),
      platform: 'node',
      external: /^node:/,
      plugins: [keepOwnFiles],
      resolve: { mainFields: ['module', 'main'] },
      // A parser of style sheets finds the global object with it, in a worker that has nothing to reach.
      checks: { eval: false },
      output: { file, format: 'esm', minify: true, codeSplitting: false },
    });
    outputs.push(...output);
  }
  return outputs.flatMap((each) => (each.type === 'chunk' ? each.moduleIds : []));
}

const PDFJS = path.resolve('node_modules/pdfjs-dist');
const PDFJS_PARTS: Readonly<Record<string, string>> = {
  'legacy/build/pdf.worker.min.mjs': 'pdf.worker.mjs',
  cmaps: 'cmaps',
  standard_fonts: 'standard_fonts',
};

const CANVAS_SETUP = /^if \(isNodeJS\) \{\n  let canvas;\n.*?^\}\n/msu;

/** Only drawing a page needs a canvas, a package of 33 MB; loading the module needs the name of one class. */
function withoutCanvas(text: string): string {
  const withoutSetup = text.replace(CANVAS_SETUP, '');
  if (withoutSetup === text) throw new Error('pdfjs-dist no longer sets up a canvas as it did');
  return `const DOMMatrix = class {};\n${withoutSetup}`;
}

/** Copies what extracting text from PDF documents needs; returns a file of the package. */
export function copyPdfjs(): readonly string[] {
  mkdirSync('dist/pdfjs');
  for (const [from, to] of Object.entries(PDFJS_PARTS)) {
    cpSync(path.join(PDFJS, from), path.join('dist/pdfjs', to), { recursive: true });
  }
  const text = readFileSync(path.join(PDFJS, 'legacy/build/pdf.mjs'), 'utf8');
  writeFileSync('dist/pdfjs/pdf.mjs', minifySync('pdf.mjs', withoutCanvas(text)).code);
  return [path.join(PDFJS, 'package.json')];
}
