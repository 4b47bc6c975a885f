import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  escapeForeignText,
  escapeTerminalText,
  indent,
  formatDuration,
  toOneLine,
  formatCount,
  toPrintable,
  toPrintableLines,
  formatTable,
} from '../../../src/cli/output/print.ts';

const anyText = fc.string({ unit: 'binary' });

describe('printable', () => {
  it('makes what fonts draw as nothing visible', () => {
    const hidden = [
      '\u3164',
      '\u115F',
      '\u1160',
      '\u2800',
      '\uFE0F',
      '\u034F',
      '\u{E0061}',
      '\u2066',
    ];
    for (const character of hidden) {
      const code = `\\u{${character.codePointAt(0)?.toString(16)}}`;
      const text = `a${character}b`;
      expect([
        toPrintable(text),
        toOneLine(text),
        escapeForeignText(text),
        escapeTerminalText(text),
      ]).toEqual([`a${code}b`, `"a${code}b"`, `a${code}b`, `a${code}b`]);
    }
  });

  it('shows what cannot be seen, and leaves the rest', () => {
    expect(toPrintable('a\tb\nc\r\u001B[31m\u0085\u202E\uD800é😀')).toBe(
      String.raw`a	b\nc\u{d}\u{1b}[31m\u{85}\u{202e}\u{d800}é😀`,
    );
  });

  it('gives one line without anything invisible, whatever the text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(toPrintable(text)).not.toMatch(/(?!\t)\p{C}/u);
      }),
    );
  });
});

describe('printableLines', () => {
  it('puts what follows the first line below it, further in, and escapes the rest', () => {
    expect(toPrintableLines('one\r\ntwo\n\n\u001B[2Jthree\n')).toBe(
      String.raw`one
    two

    \u{1b}[2Jthree`,
    );
  });

  it('prints nothing else that is invisible, whatever the text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(toPrintableLines(text).replaceAll('\n', '')).not.toMatch(/(?!\t)\p{C}/u);
      }),
    );
  });
});

describe('oneLine', () => {
  it('quotes only names that need it', () => {
    expect(['a b', 'ü😀', 'a\nb', '\u202Ea', 'a\u009Bb'].map(toOneLine)).toEqual([
      'a b',
      'ü😀',
      String.raw`"a\nb"`,
      String.raw`"\u{202e}a"`,
      String.raw`"a\u{9b}b"`,
    ]);
  });
});

describe('table', () => {
  it('pads columns, but not for the last cell of a row', () => {
    const rows = [['HOOK', 'STATE'], ['  a note that is much longer than any id'], ['id', 'ready']];
    expect(formatTable(rows)).toBe(
      'HOOK  STATE\n  a note that is much longer than any id\nid    ready',
    );
  });

  it('does not count colours', () => {
    expect(
      formatTable([
        ['\u001B[31mab\u001B[39m', 'x'],
        ['abc', 'x'],
      ]),
    ).toBe('\u001B[31mab\u001B[39m   x\nabc  x');
  });
});

it('indents every line but empty ones', () => {
  expect(indent('a\n\nb', '  ')).toBe('  a\n\n  b');
});

it('counts with singular and plural', () => {
  expect([formatCount(0, 'hook'), formatCount(1, 'hook'), formatCount(2, 'hook')]).toEqual([
    '0 hooks',
    '1 hook',
    '2 hooks',
  ]);
});

it('shows times in the unit that fits', () => {
  expect([0.04, 9.96, 12.4, 1234].map(formatDuration)).toEqual([
    '0.0 ms',
    '10.0 ms',
    '12 ms',
    '1.2 s',
  ]);
});
