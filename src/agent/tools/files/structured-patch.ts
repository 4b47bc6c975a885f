const CONTEXT_LINES = 3;
// Bounds the diff, whose time is quadratic in this; texts that differ more share little.
const MAX_CHANGED_LINES = 1000;

/** The line diff between two texts, as the hunks of Claude Code's `structuredPatch`. */
export async function diffTexts(before: string, after: string) {
  if (before === after) return [];
  const { structuredPatch } = await import('diff');
  const patch = structuredPatch('', '', before, after, undefined, undefined, {
    context: CONTEXT_LINES,
    maxEditLength: MAX_CHANGED_LINES,
  });
  if (patch === undefined) return [createWholeHunk(before, after)];
  return patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
    oldStart,
    oldLines,
    newStart,
    newLines,
    lines,
  }));
}

function createWholeHunk(before: string, after: string) {
  const removed = splitLines(before);
  const added = splitLines(after);
  return {
    oldStart: 1,
    oldLines: removed.length,
    newStart: 1,
    newLines: added.length,
    lines: [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)],
  };
}

function splitLines(text: string): readonly string[] {
  return text.replace(/\n$/, '').split('\n');
}
