import path from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { isDirectory } from '../../base/files.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { findPathInside } from '../../base/paths.ts';
import { startTimeLimit } from '../../base/time-limit.ts';
import { defineTool, interruptedOutput } from './define-tool.ts';
import { absolutePath } from './files/tool-path.ts';
import { splitPattern, type Place } from './search/glob-place.ts';
import { newestFirst } from './search/newest-first.ts';
import { failedOutput, type ToolOutput } from './tool.ts';

const MAX_FILES = 100;
const TIMEOUT_MS = 30_000;
const LEFT_OUT = ['.git', 'node_modules'];

export const globTool = defineTool<Place>({
  name: 'Glob',
  description: `Finds files by their names, with a pattern such as "**/*.ts" or "src/{a,b}/*.md". The newest come first, at most ${MAX_FILES} of them. ${LEFT_OUT.join(' and ')} are left out unless the pattern names them.`,
  schema: {
    type: 'object',
    properties: {
      pattern: { type: 'string', description: 'The pattern that files must match' },
      path: { type: 'string', description: 'Where to search; the working directory if absent' },
    },
    required: ['pattern'],
  },
  kind: 'read',
  read(given, bench) {
    const pattern = given.filledText('pattern');
    const place = given.optionalText('path') ?? '';
    if (`${pattern}${place}`.includes('\0')) given.refuse('pattern', 'text without NUL characters');
    return splitPattern(pattern, place === '' ? bench.cwd() : absolutePath(place, bench));
  },
  check: ({ root }) => (isDirectory(root) ? null : `Directory does not exist: ${root}`),
  async run(place, bench, { signal }) {
    const startedAt = systemClock.elapsed();
    const limit = startTimeLimit(signal, TIMEOUT_MS);
    const files = await findFiles(place, limit.signal).finally(() => limit.clear());
    if (signal.aborted) return interruptedOutput();
    if (limit.hasExpired()) {
      return failedOutput(`The search was ended after ${TIMEOUT_MS / 1000} s; narrow it.`);
    }
    if (typeof files === 'string') return failedOutput(files);
    const isDenied = bench.deniedReads?.(bench.cwd()) ?? (() => false);
    const found = files.map((file) => path.join(place.directory, file));
    const shown = found
      .filter((file) => !isDenied(file))
      .map((file) => shownName(file, bench.cwd()));
    return outputOf(shown, Math.round(systemClock.elapsed() - startedAt));
  },
});

async function findFiles(place: Place, signal: AbortSignal): Promise<readonly string[] | string> {
  const tinyglobby = await import('tinyglobby');
  if (!isDirectory(place.directory)) return [];
  const ignored = LEFT_OUT.filter((name) => !isNamed(name, place));
  try {
    const files = await tinyglobby.glob(place.pattern, {
      cwd: place.directory,
      ignore: ignored.map((name) => `**/${name}/**`),
      dot: true,
      expandDirectories: false,
      followSymbolicLinks: false,
      signal,
    });
    return await newestFirst(files, place.directory, signal);
  } catch (error) {
    return `The search failed: ${getErrorMessage(error)}`;
  }
}

function isNamed(name: string, { pattern, directory }: Place): boolean {
  return `${directory}/${pattern}`.split(/[\\/]/).includes(name);
}

function shownName(file: string, cwd: string): string {
  return findPathInside(cwd, file) ?? file;
}

function outputOf(files: readonly string[], durationMs: number): ToolOutput {
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
