import path from 'node:path';
import { getErrorCode, getErrorMessage } from '../../base/errors.ts';
import type { PluginEntry } from '../entry.ts';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import { readTextIfPresent } from '../../base/files.ts';
import { isRecord, parseJson } from '../../base/json.ts';

/** Explains why the import of a plugin failed, for its author and its user. */
export function explainLoadError(error: unknown, entry: PluginEntry): string {
  try {
    return describe(error, entry);
  } catch {
    return `${entry.file}: it threw something that cannot be read while it was imported`;
  }
}

function describe(error: unknown, { file }: PluginEntry): string {
  const message = readFirstParagraph(getErrorMessage(error)) || 'an error without a message';
  const missing = MISSING.exec(message);
  if (missing !== null) return describeMissing(missing, file);
  const place = findErrorPlace(error, file);
  const isSyntax = error instanceof Error && error.name === 'SyntaxError';
  return isSyntax ? `${place}: ${message}` : `${place}: it threw while it was imported: ${message}`;
}

/** Node.js and jiti append the require stack after the first paragraph. */
function readFirstParagraph(message: string): string {
  return message.split(/\n\s*\n|\n(?=Require stack:|This file is being treated)/)[0]?.trim() ?? '';
}

const MISSING = /^Cannot find (?:package|module) '([^']+)'(?:.* imported from (\S+))?/;

function describeMissing([, name = '', importer]: RegExpExecArray, file: string): string {
  const isPath = /^(?:[./\\]|[a-z]:|file:)/i.test(name);
  const what = isPath ? `'${name}'` : `package '${name}'`;
  const advice = isPath ? '' : '; install it beside the plugin';
  return `Cannot find ${what} imported from ${importer ?? file}${advice}`;
}

/** The innermost stack frame outside of Node.js, or the file when there is none. */
function findErrorPlace(error: unknown, file: string): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const places = [...resolveSourceStack(withColumns(stack)).matchAll(PLACES)].map(
    ([, place = '']) => place,
  );
  return places.find((place) => place.startsWith(file)) ?? places[0] ?? file;
}

/** For a syntax error Node.js prints a line without a column. */
function withColumns(stack: string): string {
  return stack.replace(/^(file:\/\/\S+:\d+)$/m, '$1:1');
}

const PLACES = /(?:^|[\s(])((?:[A-Za-z]:)?[\\/][^()\n]*?:\d+:\d+)\)?$/gm;

const GONE = ['ERR_MODULE_NOT_FOUND', 'ENOENT'];

/** Whether an import failed because the transpiled files, or a package that they import, were deleted. */
export function isStale(error: unknown, directory: string): boolean {
  const { code, message } = read(error);
  // A copy of the directory has the same base name.
  return GONE.includes(code) && message.includes(path.basename(directory));
}

// A name of a CommonJS package that Node.js cannot detect, and modules that mix both kinds.
const COMMONJS = [/^Named export '.*' not found/, /^(?:module|exports) is not defined/];

/** Whether a module fails because it needs CommonJS. */
export function isForCommonJs(error: unknown): boolean {
  return COMMONJS.some((pattern) => pattern.test(read(error).message));
}

/** Getters of foreign errors may throw. */
function read(error: unknown): { readonly code: string; readonly message: string } {
  try {
    return { code: getErrorCode(error) ?? '', message: getErrorMessage(error) };
  } catch {
    return { code: '', message: '' };
  }
}

/** Maps a location in a transpiled module to the source file, both counted from 1; null for all other files. */
function findSourceLocation(file: string, line: number, column: number): string | null {
  const found = readMap(`${file}.map`)?.findEntry(line - 1, column - 1);
  if (found === undefined || !('originalSource' in found)) return null;
  const { originalSource, originalLine, originalColumn } = found;
  if (!originalSource.startsWith('file:')) return null;
  return `${fileURLToPath(originalSource)}:${originalLine + 1}:${originalColumn + 1}`;
}

function readMap(file: string): SourceMap | null {
  const text = readTextIfPresent(file);
  const parsed = text === null ? null : parseJson(text);
  return parsed?.ok === true && isSourceMap(parsed.value) ? new SourceMap(parsed.value) : null;
}

type Payload = ConstructorParameters<typeof SourceMap>[0];

function isSourceMap(value: unknown): value is Payload {
  return (
    isRecord(value) && typeof value['mappings'] === 'string' && Array.isArray(value['sources'])
  );
}

const PLACE = /(file:\/\/[^\s)]+?\.mjs)(?:\?[^\s:)]*)?:(\d+):(\d+)/g;

/** Replaces locations in transpiled modules by those in the source files. */
export function resolveSourceStack(stack: string): string {
  return stack.replaceAll(PLACE, (...match: string[]) => {
    const [written = '', url = '', line, column] = match;
    return findSourceLocation(fileURLToPath(url), Number(line), Number(column)) ?? written;
  });
}
