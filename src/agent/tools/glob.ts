import path from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { isDirectory } from '../../base/files.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { findPathInside, resolveFrom } from '../../base/paths.ts';
import { startTimeLimit } from '../../base/abort.ts';
import { defineTool, createInterruptedOutput } from './define-tool.ts';
import { resolveToolPath } from './files/read-path.ts';
import { sortNewestFirst } from './files/sort-newest-first.ts';
import { createFailedOutput, type ToolOutput } from './tool.ts';

const MAX_FILES = 100;
const TIMEOUT_MS = 30_000;
const EXCLUDED = ['.git', 'node_modules'];

export const globTool = defineTool<GlobSearch>({
  name: 'Glob',
  description: `Finds files by their names, with a pattern such as "**/*.ts" or "src/{a,b}/*.md". The newest come first, at most ${MAX_FILES} of them. ${EXCLUDED.join(' and ')} are left out unless the pattern names them.`,
  schema: {
    type: 'object',
    properties: {
      pattern: { type: 'string', description: 'The pattern that files must match' },
      path: { type: 'string', description: 'Where to search; the working directory if absent' },
    },
    required: ['pattern'],
  },
  kind: 'read',
  parse(fields, context) {
    const pattern = fields.requiredText('pattern');
    const place = fields.optionalText('path') ?? '';
    if (`${pattern}${place}`.includes('\0')) {
      fields.reject('pattern', 'text without NUL characters');
    }
    return splitPattern(pattern, place === '' ? context.cwd() : resolveToolPath(place, context));
  },
  check: ({ root }) => (isDirectory(root) ? null : `Directory does not exist: ${root}`),
  async run(place, context, { signal }) {
    const startedAt = systemClock.elapsed();
    const limit = startTimeLimit(signal, TIMEOUT_MS);
    const files = await findFiles(place, limit.signal).finally(() => limit.clear());
    if (signal.aborted) return createInterruptedOutput();
    if (limit.hasExpired()) {
      return createFailedOutput(`The search was ended after ${TIMEOUT_MS / 1000} s; narrow it.`);
    }
    if (typeof files === 'string') return createFailedOutput(files);
    const isDenied = context.createReadDenial?.(context.cwd()) ?? (() => false);
    const allowed = files
      .map((file) => path.join(place.directory, file))
      .filter((file) => !isDenied(file))
      .map((file) => formatPath(file, context.cwd()));
    return createGlobOutput(allowed, Math.round(systemClock.elapsed() - startedAt));
  },
});

async function findFiles(
  place: GlobSearch,
  signal: AbortSignal,
): Promise<readonly string[] | string> {
  const tinyglobby = await import('tinyglobby');
  if (!isDirectory(place.directory)) return [];
  const ignored = EXCLUDED.filter((name) => !isNamedInPattern(name, place));
  try {
    const files = await tinyglobby.glob(place.pattern, {
      cwd: place.directory,
      ignore: ignored.map((name) => `**/${name}/**`),
      dot: true,
      expandDirectories: false,
      followSymbolicLinks: false,
      signal,
    });
    return await sortNewestFirst(files, place.directory, signal);
  } catch (error) {
    return `The search failed: ${getErrorMessage(error)}`;
  }
}

function isNamedInPattern(name: string, { pattern, directory }: GlobSearch): boolean {
  return `${directory}/${pattern}`.split(/[\\/]/).includes(name);
}

function formatPath(file: string, cwd: string): string {
  return findPathInside(cwd, file) ?? file;
}

function createGlobOutput(files: readonly string[], durationMs: number): ToolOutput {
  const filenames = files.slice(0, MAX_FILES);
  const truncated = files.length > MAX_FILES;
  const more = `(Results are truncated: ${MAX_FILES} of ${files.length} files. Consider using a more specific path or pattern.)`;
  const lines = truncated ? [...filenames, more] : filenames;
  return {
    response: {
      filenames,
      durationMs,
      numFiles: filenames.length,
      truncated,
      totalMatches: files.length,
      countIsComplete: true,
    },
    text: lines.length === 0 ? 'No files found' : lines.join('\n'),
    success: true,
  };
}

interface GlobSearch {
  /** The requested start directory, absolute. */
  readonly root: string;
  /** The actual start directory, absolute. */
  readonly directory: string;
  /** Relative to `directory`, never leading out of it. */
  readonly pattern: string;
}

/** Moves the literal directories at the start of a pattern, including `..`, into the start directory. */
function splitPattern(pattern: string, root: string): GlobSearch | string {
  const parts = pattern.split('/');
  const plain = parts.findIndex((part, index) => index === parts.length - 1 || isMagic(part));
  const inside = parts.slice(plain).filter((part) => part !== '' && part !== '.');
  if (inside.includes('..') || inside.length === 0) {
    return `expected "pattern" to match files below the directory that it starts with, found ${JSON.stringify(pattern)}`;
  }
  // An absolute pattern starts with an empty part.
  const start = parts[0] === '' && plain > 0 ? '/' : root;
  const directory = resolveFrom(start, parts.slice(0, plain).join('/') || '.');
  return { root, directory, pattern: inside.join('/') };
}

function isMagic(part: string): boolean {
  return /[*?[\]{}()!+@\\]/.test(part);
}
