import { expect, it } from 'vitest';
import { listVisibleLines, escapeInvisible } from '../../src/base/visible-text.ts';

it.each([
  ['a plain line', 'git status --short', 'git status --short'],
  ['letters of other languages', 'echo größe 日本 é', 'echo größe 日本 é'],
  ['tabs inside', 'a\tb', 'a\tb'],
  ['spaces at the end', 'a  ', 'a··'],
  ['a tab at the end', 'a \t', 'a·→'],
  ['a carriage return', 'a\rb', String.raw`a\u{d}b`],
  ['an escape', 'a\u001B[2Jb', String.raw`a\u{1b}[2Jb`],
  ['bidi overrides', 'a\u202Eb\u2066c', String.raw`a\u{202e}b\u{2066}c`],
  ['zero width', 'a\u200Bb\uFEFFc\u2060', String.raw`a\u{200b}b\u{feff}c\u{2060}`],
  ['fillers', 'a\u3164b\u115Fc\u2800d', String.raw`a\u{3164}b\u{115f}c\u{2800}d`],
  ['variation selectors and tags', 'a\uFE00b\u{E0041}', String.raw`a\u{fe00}b\u{e0041}`],
  ['other spaces', 'a\u00A0b\u2003c\u3000', String.raw`a\u{a0}b\u{2003}c\u{3000}`],
  ['other line ends', 'a\u2028b\u2029', String.raw`a\u{2028}b\u{2029}`],
  ['half a character', 'a\uD800b', String.raw`a\u{d800}b`],
  ['many spaces', `a${' '.repeat(300)}b`, 'a ⟨300 spaces⟩ b'],
])('shows %s', (_what, line, visible) => {
  expect(escapeInvisible(line)).toBe(visible);
});

it('marks the empty lines at the end of a text, not those inside', () => {
  expect(listVisibleLines('a\n\nb\n\n')).toEqual(['a', '', 'b', '⏎', '⏎']);
});
