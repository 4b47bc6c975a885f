import { expect, onTestFinished, test, vi } from 'vitest';
import { widenUntilUnique } from '../../../../src/agent/tools/edits/locate-text.ts';

/** How often a text is looked for, short or long. */
function countSearches(work: () => void): number {
  const short = vi.spyOn(String.prototype, 'slice');
  const long = vi.spyOn(globalThis, 'Int32Array');
  onTestFinished(() => void vi.restoreAllMocks());
  work();
  const searches = short.mock.calls.length + long.mock.calls.length;
  vi.restoreAllMocks();
  return searches;
}

function middleOf(lines: number): { readonly text: string; readonly at: number } {
  const text = 'the same line\n'.repeat(lines);
  return { text, at: (text.length / lines) * (lines / 2) };
}

test('a text among thousands of equal lines is widened in few searches', () => {
  for (const lines of [2000, 40_000]) {
    const { text, at } = middleOf(lines);
    let wide = { start: 0, end: 0 };
    const searches = countSearches(() => {
      wide = widenUntilUnique(text, { start: at, end: at });
    });
    const found = text.slice(wide.start, wide.end);
    expect([text.indexOf(found), text.lastIndexOf(found)]).toEqual([wide.start, wide.start]);
    expect(searches).toBeLessThanOrEqual(4 * Math.ceil(Math.log2(lines)));
  }
});

test('no more lines are added than needed', () => {
  const text = `${'a\n'.repeat(100)}b\n${'a\n'.repeat(100)}`;
  const start = 2 * 90;
  const { end } = widenUntilUnique(text, { start, end: start + 1 });
  // Ten lines on lies the only one that is different.
  expect(end).toBe(2 * 101);
});

test('a text that occurs once is distinguished from one that occurs more often', () => {
  const long = 'a\n'.repeat(500);
  const text = `${long}b\n${long}b\n${long}c\n`;
  const start = text.indexOf('b') + 2;
  // The lines before c stand only there as long as c belongs to them.
  const { start: from, end } = widenUntilUnique(text, { start, end: start + long.length });
  expect([from, end]).toEqual([start - 2, start + long.length + 2]);
  const found = text.slice(from, end);
  expect([text.indexOf(found), text.lastIndexOf(found)]).toEqual([from, from]);
});
