import { expect, test } from 'vitest';
import { replaceText } from '../../../../src/agent/tools/files/replace-text.ts';

function replaced(text: string, before: string, after: string): unknown {
  const result = replaceText(text, { before, after, isForAll: false });
  return typeof result === 'string' ? result : result.text;
}

function replacedAll(text: string, before: string, after: string): unknown {
  const result = replaceText(text, { before, after, isForAll: true });
  return typeof result === 'string' ? result : result.text;
}

test('one occurrence is replaced and its position returned', () => {
  expect(replaceText('a b c', { before: 'b', after: 'long', isForAll: false })).toEqual({
    text: 'a long c',
    start: 2,
    end: 6,
  });
});

test('special characters of patterns and replacements are literal', () => {
  expect(replaced('x = $1.*(a)', '$1.*(a)', '$& $1 $$')).toBe('x = $& $1 $$');
  expect(replaced('f(a)[0]\r\n{x|y}\\\r\n', 'f(a)[0]\n{x|y}\\', '$&')).toBe('$&\r\n');
});

test('all occurrences are replaced when that is asked', () => {
  expect(replacedAll('aXaXa', 'X', '--')).toBe('a--a--a');
  expect(replacedAll('aaaa', 'aa', 'b')).toBe('bb');
});

test('a text that occurs never or several times is reported', () => {
  expect(replaced('abc', 'x', 'y')).toBe('String to replace not found in file.\nString: x');
  expect(replaced('x x x', 'x', 'y')).toBe(
    'Found 3 matches of the string to replace. To replace only one occurrence, please provide more context to uniquely identify the instance.\nString: x',
  );
});

test.each([
  ['a\r\nb\r\nc\r\n', 'a\nb', 'x\ny\nz', 'x\r\ny\r\nz\r\nc\r\n'],
  ['a\r\nb\r\nc\r\n', 'b', 'x\ny', 'a\r\nx\r\ny\r\nc\r\n'],
  ['a\r\nb\r\nc\r\n', 'a\r\nb', 'x\r\ny', 'x\r\ny\r\nc\r\n'],
  ['a\nb\nc\r\n', 'b\nc', 'x\ny', 'a\nx\ny\r\n'],
  ['a\nb\n', 'a\r\nb', 'x', 'x\n'],
])('in %j, %j becomes %j', (text, before, after, result) => {
  expect(replaced(text, before, after)).toBe(result);
});

test('lines that are not touched keep their ends, whatever these are', () => {
  expect(replaced('a\r\nb\nc\r\nd\r\n', 'c\nd', 'C\nD')).toBe('a\r\nb\nC\r\nD\r\n');
});

test('a change of very many lines is made, too', () => {
  const before = 'some line\n'.repeat(100_000);
  const text = `first\r\n${before.replaceAll('\n', '\r\n')}last\r\n`;
  expect(replaced(text, before, 'one\n')).toBe('first\r\none\r\nlast\r\n');
});

test('line ends at the border of the text to replace are replaced whole', () => {
  expect(replaced('a\r\nb\r\nc', '\nb\n', ' ')).toBe('a c');
  expect(replacedAll('a\r\n\r\n\nb', '\n', ';')).toBe('a;;;b');
});
