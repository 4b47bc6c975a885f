import path from 'node:path';
import type { GrepMode } from './search-args.ts';

export interface Showing {
  readonly mode: GrepMode;
  readonly cwd: string;
  /** Tells which files, absolute, must not be shown; null when all may. */
  readonly isDenied: ((file: string) => boolean) | null;
}

/** What ripgrep said, line by line, without what it said of files that must not be shown. */
export function foundLines(text: string, showing: Showing): readonly string[] {
  if (text === '') return [];
  const lines = text.replace(/\n$/, '').split('\n');
  const shown = showing.isDenied === null ? lines : withoutDenied(lines, showing, showing.isDenied);
  return shown.map((line) => line.replaceAll('\0', '').replace(/^\.\//, ''));
}

/** Stands between groups of lines; a line of a file has a NUL after the name. */
const SEPARATOR = '--';

function withoutDenied(
  lines: readonly string[],
  { mode, cwd }: Showing,
  isDenied: (file: string) => boolean,
): readonly string[] {
  const known = new Map<string, boolean>();
  const mayShow = (line: string): boolean => {
    if (mode === 'content' && line === SEPARATOR) return true;
    const file = FILE_OF[mode](line);
    if (file === null) return false;
    const denied = known.get(file) ?? isDenied(path.resolve(cwd, file));
    known.set(file, denied);
    return !denied;
  };
  const shown = lines.filter(mayShow);
  return mode === 'content' ? withoutEmptyGroups(shown) : shown;
}

const BINARY = /^(.*?): (?:binary file matches|WARNING: stopped searching)/;

/** The file that a line is about; null when it cannot be told. */
const FILE_OF: Readonly<Record<GrepMode, (line: string) => string | null>> = {
  content: (line) => {
    const end = line.indexOf('\0');
    return end === -1 ? (BINARY.exec(line)?.[1] ?? null) : line.slice(0, end);
  },
  count: (line) => line.slice(0, Math.max(0, line.lastIndexOf(':'))),
  files_with_matches: (line) => line,
};

function withoutEmptyGroups(lines: readonly string[]): readonly string[] {
  const isEnd = (line: string | undefined): boolean => line === undefined || line === SEPARATOR;
  const single = lines.filter((line, index) => line !== SEPARATOR || !isEnd(lines[index - 1]));
  return single.at(-1) === SEPARATOR ? single.slice(0, -1) : single;
}
