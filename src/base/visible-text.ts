// Controls and formats (bidi, zero width), what fonts draw as nothing, and all spaces but the plain one.
const INVISIBLE = /[^\P{C}\t]|[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800]|[^\P{Zs} ]/gu;
const MANY_SPACES = / {40,}/g;

/**
 * One line of foreign text in which nothing is invisible: code points instead of characters that show
 * nothing or turn the line around, marks at its end, and a count instead of many spaces, which would push
 * the rest out of sight.
 */
export function escapeInvisible(line: string): string {
  return line
    .replaceAll(INVISIBLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
    .replace(/[ \t]+$/, (end) => end.replaceAll(' ', '·').replaceAll('\t', '→'))
    .replaceAll(MANY_SPACES, ({ length }) => ` ⟨${length} spaces⟩ `);
}

/** The lines of a text as `escapeInvisible` shows them; empty lines at its end are marked, too. */
export function listVisibleLines(text: string): readonly string[] {
  const lines = text.split('\n').map(escapeInvisible);
  const last = lines.findLastIndex((line) => line !== '');
  return lines.map((line, at) => (line === '' && at > last ? '⏎' : line));
}
