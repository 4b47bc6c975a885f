import { splitLines } from './fields.ts';

interface SearchReplace {
  readonly search: string;
  readonly replace: string;
}

interface Block extends SearchReplace {
  readonly start: number;
  /** Null when the block has no `=======` line. */
  readonly divider: number | null;
  readonly end: number;
}

const SEARCH_MARKER = /^(?:-{3,}|<{3,}) ?SEARCH>?$/;
const REPLACE_MARKER = /^(?:\+{3,}|>{3,}) ?REPLACE>?$/;
const DIVIDER = '=======';
const LOOSE_DIVIDER = /^={3,}$/;

/** Parses the blocks of a SEARCH/REPLACE diff in either marker style; an unfinished last one counts. */
export function parseSearchReplace(diff: string): readonly SearchReplace[] {
  return parseBlocks(splitBareLines(diff));
}

/** Formats one block in the style that Cline writes. */
export function formatSearchReplace({ search, replace }: SearchReplace): string {
  const lines = ['------- SEARCH', ...splitLines(search), DIVIDER, ...splitLines(replace)];
  return [...lines, '+++++++ REPLACE'].join('\n');
}

/** Replaces one block's texts and leaves every other line as it was. */
export function replaceBlock(diff: string, index: number, next: SearchReplace): string {
  const raw = diff.split('\n');
  const block = parseBlocks(splitBareLines(diff))[index];
  if (block === undefined || block.divider === null) return diff;
  const ending = raw[block.start]?.endsWith('\r') === true ? '\r' : '';
  const toRawLines = (text: string): string[] => splitLines(text).map((line) => line + ending);
  const search = raw.slice(block.start + 1, block.divider);
  const replace = raw.slice(block.divider + 1, block.end);
  return [
    ...raw.slice(0, block.start + 1),
    ...(next.search === block.search ? search : toRawLines(next.search)),
    ...raw.slice(block.divider, block.divider + 1),
    ...(next.replace === block.replace ? replace : toRawLines(next.replace)),
    ...raw.slice(block.end),
  ].join('\n');
}

function splitBareLines(text: string): string[] {
  return text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}

function parseBlocks(lines: readonly string[]): Block[] {
  const blocks: Block[] = [];
  let start: number | null = null;
  for (const [at, line] of lines.entries()) {
    const marker = line.trimEnd();
    if (start === null && SEARCH_MARKER.test(marker)) start = at;
    if (start === null || !REPLACE_MARKER.test(marker)) continue;
    blocks.push(createBlock(lines, start, at));
    start = null;
  }
  if (start !== null) blocks.push(createBlock(lines, start, lines.length));
  return blocks;
}

function createBlock(lines: readonly string[], start: number, end: number): Block {
  const body = lines.slice(start + 1, end);
  const found = findDivider(body);
  if (found === -1) return { search: body.join('\n'), replace: '', start, divider: null, end };
  const search = body.slice(0, found).join('\n');
  const replace = body.slice(found + 1).join('\n');
  return { search, replace, start, divider: start + 1 + found, end };
}

// A row of equals signs may be a heading's underline, so the exact marker is looked for first.
function findDivider(body: readonly string[]): number {
  const exact = body.findIndex((line) => line.trimEnd() === DIVIDER);
  return exact === -1 ? body.findIndex((line) => LOOSE_DIVIDER.test(line.trimEnd())) : exact;
}
