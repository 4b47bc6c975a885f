import { expect, test } from 'vitest';
import { splitFrontMatter } from '../../src/base/text.ts';

test('front matter is taken off, whatever the line ends are', () => {
  expect(splitFrontMatter('---\nname: a\n---\nbody\n')).toEqual({
    yaml: 'name: a',
    body: 'body\n',
  });
  expect(splitFrontMatter('\uFEFF---\r\nname: a\r\nb: c\r\n---\r\nbody')).toEqual({
    yaml: 'name: a\r\nb: c',
    body: 'body',
  });
  expect(splitFrontMatter('---\nname: a\n---')).toEqual({ yaml: 'name: a', body: '' });
});

test('a text that does not begin with it, or does not end it, is all body', () => {
  for (const text of ['', 'body', ' ---\na: b\n---\n', '---\na: b\n', 'x\n---\na: b\n---\n']) {
    expect(splitFrontMatter(text)).toEqual({ yaml: null, body: text });
  }
});
