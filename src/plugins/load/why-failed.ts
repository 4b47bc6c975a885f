import path from 'node:path';
import { getErrorCode, getErrorMessage } from '../../base/errors.ts';
import type { PluginEntry } from '../entry.ts';
import { originalStack } from './translate/original-place.ts';

/** What went wrong while a plugin was imported, for whoever wrote or installed it. */
export function whyFailed(error: unknown, entry: PluginEntry): string {
  try {
    return describe(error, entry);
  } catch {
    return `${entry.file}: it threw something that cannot be read while it was imported`;
  }
}

function describe(error: unknown, { file }: PluginEntry): string {
  const message = oneParagraph(getErrorMessage(error)) || 'an error without a message';
  const missing = MISSING.exec(message);
  if (missing !== null) return missingText(missing, file);
  const place = placeOf(error, file);
  const isSyntax = error instanceof Error && error.name === 'SyntaxError';
  return isSyntax ? `${place}: ${message}` : `${place}: it threw while it was imported: ${message}`;
}

/** Node.js and jiti list below it who required what. */
function oneParagraph(message: string): string {
  return message.split(/\n\s*\n|\n(?=Require stack:|This file is being treated)/)[0]?.trim() ?? '';
}

const MISSING = /^Cannot find (?:package|module) '([^']+)'(?:.* imported from (\S+))?/;

function missingText([, name = '', importer]: RegExpExecArray, file: string): string {
  const isPath = /^(?:[./\\]|[a-z]:|file:)/i.test(name);
  const what = isPath ? `'${name}'` : `package '${name}'`;
  const advice = isPath ? '' : '; install it beside the plugin';
  return `Cannot find ${what} imported from ${importer ?? file}${advice}`;
}

/** The innermost place in the stack that is no part of Node.js, or the file when none is known. */
function placeOf(error: unknown, file: string): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const places = [...originalStack(withColumns(stack)).matchAll(PLACES)].map(
    ([, place = '']) => place,
  );
  return places.find((place) => place.startsWith(file)) ?? places[0] ?? file;
}

/** Above a syntax error Node.js names a line only. */
function withColumns(stack: string): string {
  return stack.replace(/^(file:\/\/\S+:\d+)$/m, '$1:1');
}

const PLACES = /(?:^|[\s(])((?:[A-Za-z]:)?[\\/][^()\n]*?:\d+:\d+)\)?$/gm;

const GONE = ['ERR_MODULE_NOT_FOUND', 'ENOENT'];

/** Whether a translation fails because it has gone, or because a package has that it names. */
export function isStale(error: unknown, directory: string): boolean {
  const { code, message } = read(error);
  // A copy of it lies elsewhere, under the same name.
  return GONE.includes(code) && message.includes(path.basename(directory));
}

// A name of a CommonJS package that Node.js cannot see from outside, and modules of both kinds at once.
const COMMONJS = [/^Named export '.*' not found/, /^(?:module|exports) is not defined/];

/** Whether a module fails because of what only CommonJS has. */
export function isForCommonJs(error: unknown): boolean {
  return COMMONJS.some((pattern) => pattern.test(read(error).message));
}

/** Foreign errors may refuse to be read. */
function read(error: unknown): { readonly code: string; readonly message: string } {
  try {
    return { code: getErrorCode(error) ?? '', message: getErrorMessage(error) };
  } catch {
    return { code: '', message: '' };
  }
}
