import type { TransformOptions, transformSync } from 'oxc-transform';
import { SCOPE } from '../cache.ts';

export interface TransformedCode {
  readonly code: string;
  readonly mappings: string;
  /** What must stand above it, on one line. */
  readonly helpers: string;
}

export interface SourceFile {
  readonly file: string;
  readonly source: string;
}

/** Why a plugin is not translated. */
export type Obstacle =
  /** Nobody could run it. */
  | { readonly problem: string }
  /** Another way may work. */
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

// Joined so, because the type of the mode is an enum that cannot be named here.
const OPTIONS: TransformOptions = Object.assign(PLAIN_OPTIONS, { helpers: { mode: 'External' } });

/** A file of TypeScript or JavaScript as JavaScript for this Node.js. */
export function transformFile(
  { file, source }: SourceFile,
  transform: typeof transformSync,
): TransformedCode | Obstacle {
  const { code, map, errors, helpersUsed } = transform(file, removeHashbang(source), OPTIONS);
  const error = errors.find(({ severity }) => severity.startsWith('Error'));
  if (error !== undefined && code === '') {
    return { problem: `${file}${formatPlace(error.labels, source)}: ${formatProblem(error)}` };
  }
  if (error !== undefined) return { unable: error.message };
  const helpers = findHelpers(Object.keys(helpersUsed));
  if (helpers === null) return { unable: 'it needs more than can be put above it' };
  return { code, mappings: map?.mappings ?? '', helpers };
}

/** Of the same length, so that every place stays right. */
function removeHashbang(source: string): string {
  return source.startsWith('#!') ? `//${source.slice(2)}` : source;
}

interface Label {
  /** In bytes. */
  readonly start: number;
}

function formatPlace(labels: readonly Label[], source: string): string {
  const start = labels.at(-1)?.start;
  if (start === undefined) return '';
  const lines = Buffer.from(source).toString('utf8', 0, start).split('\n');
  return `:${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`;
}

interface SyntaxProblem {
  readonly message: string;
  readonly helpMessage: string | null;
}

function formatProblem({ message, helpMessage }: SyntaxProblem): string {
  return helpMessage === null ? message : `${message} (${helpMessage})`;
}

/** What the code of decorated classes calls. */
const HELPER_NAMES = ['decorate', 'decorateParam'];

/**
 * What decorated classes call, for a module that has some, on one line; nothing for others. Null when a
 * module calls more than is here.
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
