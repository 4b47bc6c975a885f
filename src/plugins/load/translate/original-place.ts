import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import { readTextIfPresent } from '../../../base/files.ts';
import { isRecord, parseJson } from '../../../base/json.ts';

/** A line and column of a file, both from 1. */
interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Where in a plugin's own file a place of its translation comes from; the same place for all other files. */
function originalPlace(place: Place): Place {
  const map = readMap(`${place.file}.map`);
  const found = map?.findEntry(place.line - 1, place.column - 1);
  if (found === undefined || !('originalSource' in found)) return place;
  const { originalSource, originalLine, originalColumn } = found;
  if (!originalSource.startsWith('file:')) return place;
  return {
    file: fileURLToPath(originalSource),
    line: originalLine + 1,
    column: originalColumn + 1,
  };
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

/** A stack trace with the places of plugins' own files in the place of those of their translations. */
export function originalStack(stack: string): string {
  return stack.replaceAll(PLACE, (...match: string[]) => {
    const [written = '', url = '', line, column] = match;
    const translated = { file: fileURLToPath(url), line: Number(line), column: Number(column) };
    const original = originalPlace(translated);
    if (original === translated) return written;
    return `${original.file}:${original.line}:${original.column}`;
  });
}
