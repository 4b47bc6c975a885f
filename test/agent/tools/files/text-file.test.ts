import { expect, test } from 'vitest';
import {
  decodeText,
  encodeText,
  normalizeLineEnds,
} from '../../../../src/agent/tools/files/text-file.ts';

const WORDS = 'Größe\r\nπ 😀\n';

test.each([
  ['utf-8', false, Buffer.from(WORDS)],
  ['utf-8', true, Buffer.from(`\uFEFF${WORDS}`)],
  ['utf-16le', true, Buffer.from(`\uFEFF${WORDS}`, 'utf16le')],
  ['utf-16be', true, Buffer.from(`\uFEFF${WORDS}`, 'utf16le').swap16()],
] as const)(
  '%s with a mark: %s is read and written without a change',
  (encoding, hasMark, bytes) => {
    const content = decodeText(bytes);
    expect(content).toEqual({ text: WORDS, format: { encoding, hasMark } });
    expect(content !== null && encodeText(content)).toEqual(bytes);
  },
);

test('Latin-1 is read and written without a change', () => {
  const bytes = Buffer.from('// Größe in Zoll\n', 'latin1');
  const content = decodeText(bytes);
  expect(content).toEqual({
    text: '// Größe in Zoll\n',
    format: { encoding: 'latin1', hasMark: false },
  });
  expect(content !== null && encodeText(content)).toEqual(bytes);
});

test('what Latin-1 does not have is not written', () => {
  expect(encodeText({ text: 'π', format: { encoding: 'latin1', hasMark: false } })).toBe(
    'the file is in Latin-1, which does not have all of the new characters',
  );
});

test('a second mark is part of the text', () => {
  const bytes = Buffer.from('\uFEFF\uFEFFa');
  const content = decodeText(bytes);
  expect(content?.text).toBe('\uFEFFa');
  expect(content !== null && encodeText(content)).toEqual(bytes);
});

test.each([
  ['a NUL', Buffer.from('text\0text')],
  ['random bytes', Buffer.from([0x1f, 0x8b, 0x08, 0x08, 0xff, 0x02, 0x91, 0x03])],
  ['half a UTF-16 character', Buffer.from([0xff, 0xfe, 0x41])],
  ['a lone surrogate in UTF-16', Buffer.from([0xff, 0xfe, 0x00, 0xd8])],
])('%s is not text', (_, bytes) => {
  expect(decodeText(bytes)).toBeNull();
});

test('an empty file is a text', () => {
  expect(decodeText(Buffer.alloc(0))?.text).toBe('');
});

test('plain line ends leave single carriage returns alone', () => {
  expect(normalizeLineEnds('a\r\nb\rc\n')).toBe('a\nb\rc\n');
});
