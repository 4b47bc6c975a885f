export interface PatchHunk {
  /** Where the lines with a prefix begin and end, without `@@` and `*** End of File`. */
  readonly start: number;
  readonly end: number;
  readonly old: readonly string[];
  readonly next: readonly string[];
}

export interface PatchSection {
  readonly kind: 'Add' | 'Update' | 'Delete';
  readonly path: string;
  readonly header: number;
  readonly moveTo: { readonly path: string; readonly line: number } | null;
  /** Where the section's lines after its headers begin and end. */
  readonly start: number;
  readonly end: number;
  readonly added: readonly string[];
  readonly hunks: readonly PatchHunk[];
}

const HEADER = /^\*\*\*\s*(Add|Update|Delete) File:(.*)$/;
const MOVE = /^\*\*\*\s*Move to:(.*)$/;
const ENVELOPE = /^\*\*\*\s*(?:Begin|End) Patch/;
const END_OF_FILE = /^\*\*\*\s*End of File/;

/** Parses the file sections of an `apply_patch` text; lines outside of them are skipped. */
export function parsePatch(text: string): readonly PatchSection[] {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  return lines.flatMap((line, at) => {
    const header = HEADER.exec(line);
    return header === null ? [] : [parseSection(lines, at, header)];
  });
}

/** Replaces lines `start` to `end` of a patch, in the patch's own line ending. */
export function replaceLines(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  fresh: readonly string[],
): string {
  const raw = text.split('\n');
  const ending = raw[0]?.endsWith('\r') === true ? '\r' : '';
  raw.splice(start, end - start, ...fresh.map((line) => line + ending));
  return raw.join('\n');
}

/** Formats a hunk that turns `old` into `next`; common lines at both ends are context. */
export function formatHunk(old: readonly string[], next: readonly string[]): string[] {
  const shorter = Math.min(old.length, next.length);
  let head = 0;
  while (head < shorter && old[head] === next[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === next.at(-1 - tail)) tail += 1;
  return [
    ...old.slice(0, head).map((line) => ` ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `-${line}`),
    ...next.slice(head, next.length - tail).map((line) => `+${line}`),
    ...old.slice(old.length - tail).map((line) => ` ${line}`),
  ];
}

/** Applies the hunks to a text; null when one of them does not fit it. */
export function applyHunks(text: string, hunks: readonly PatchHunk[]): string | null {
  let lines = text.split('\n');
  let cursor = 0;
  for (const { old, next } of hunks) {
    const at = old.length === 0 ? findAppendLine(lines) : findLines(lines, old, cursor);
    if (at === -1) return null;
    lines = [...lines.slice(0, at), ...next, ...lines.slice(at + old.length)];
    cursor = at + next.length;
  }
  return lines.join('\n');
}

function findAppendLine(lines: readonly string[]): number {
  return lines.at(-1) === '' ? lines.length - 1 : lines.length;
}

function findLines(lines: readonly string[], soughtLines: readonly string[], from: number): number {
  for (let at = from; at + soughtLines.length <= lines.length; at += 1) {
    if (soughtLines.every((line, offset) => lines[at + offset] === line)) return at;
  }
  return -1;
}

function parseSection(
  lines: readonly string[],
  header: number,
  [, kind, path = '']: RegExpExecArray,
): PatchSection {
  const move = kind === 'Update' ? MOVE.exec(lines[header + 1] ?? '') : null;
  const start = header + (move === null ? 1 : 2);
  const end = findSectionEnd(lines, start);
  return {
    kind: kind === 'Add' || kind === 'Delete' ? kind : 'Update',
    path: path.trim(),
    header,
    moveTo: move === null ? null : { path: (move[1] ?? '').trim(), line: header + 1 },
    start,
    end,
    added: kind === 'Add' ? parseAddedLines(lines.slice(start, end)) : [],
    hunks: kind === 'Update' ? parseHunks(lines, start, end) : [],
  };
}

// Blank lines before the next header are layout: a blank line of a file has a prefix.
function findSectionEnd(lines: readonly string[], start: number): number {
  let end = start;
  while (end < lines.length && !isOtherSection(lines[end] ?? '')) end += 1;
  while (end > start && lines[end - 1] === '') end -= 1;
  return end;
}

function isOtherSection(line: string): boolean {
  return HEADER.test(line) || ENVELOPE.test(line);
}

function parseAddedLines(body: readonly string[]): string[] {
  return body
    .filter((line) => line !== '')
    .map((line) => (line.startsWith('+') ? line.slice(1) : line));
}

function parseHunks(lines: readonly string[], start: number, end: number): PatchHunk[] {
  const hunks: PatchHunk[] = [];
  let at = start;
  while (at < end) {
    // Several `@@` lines in a row narrow down one place.
    while (at < end && isAnchor(lines[at])) at += 1;
    const bodyStart = at;
    while (at < end && !isAnchor(lines[at]) && !END_OF_FILE.test(lines[at] ?? '')) at += 1;
    hunks.push(createHunk(lines, bodyStart, at));
    while (at < end && END_OF_FILE.test(lines[at] ?? '')) at += 1;
  }
  return hunks;
}

function isAnchor(line: string | undefined): boolean {
  return line?.startsWith('@@') === true;
}

function createHunk(lines: readonly string[], start: number, end: number): PatchHunk {
  const body = lines.slice(start, end);
  return {
    start,
    end,
    old: body.filter((line) => !line.startsWith('+')).map(stripPrefix),
    next: body.filter((line) => !line.startsWith('-')).map(stripPrefix),
  };
}

// A line without a prefix is taken as context: models forget the space.
function stripPrefix(line: string): string {
  return /^[ +-]/.test(line) ? line.slice(1) : line;
}
