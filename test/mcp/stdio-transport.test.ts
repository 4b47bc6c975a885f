import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MessageLines } from '../../src/mcp/stdio-transport.ts';

test('however a text is cut into chunks, its lines are the same', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.integer({ min: 1, max: 7 }), (texts, size) => {
      const expectedLines = texts.map((text) => text.replaceAll(/[\r\n]/g, ''));
      const bytes = Buffer.from(expectedLines.map((line) => `${line}\n`).join(''));
      const lines = new MessageLines(1000);
      const found: string[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        found.push(...(lines.push(bytes.subarray(at, at + size)) ?? ['too long']));
      }
      expect(found).toEqual(expectedLines);
    }),
  );
});

test('a line that is too long closes the connection', () => {
  const lines = new MessageLines(4);
  expect([
    lines.push(Buffer.from('abcd\nabc')),
    lines.push(Buffer.from('de')),
    lines.push(Buffer.from('\n')),
  ]).toEqual([['abcd'], null, null]);
});
