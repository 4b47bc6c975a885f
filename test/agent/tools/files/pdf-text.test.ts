import { expect, test } from 'vitest';
import { parsePages, readPdfText } from '../../../../src/agent/tools/files/pdf-text.ts';
import { createPdf } from './pdf.ts';

const SIGNAL = new AbortController().signal;

test('the text of pages is read, also of one without any', async () => {
  const bytes = createPdf(['First page', '', 'Third page']);
  expect(await readPdfText(bytes, { first: 1, last: 20 }, SIGNAL)).toEqual({
    pages: [
      { number: 1, text: 'First page' },
      { number: 2, text: '' },
      { number: 3, text: 'Third page' },
    ],
    totalPages: 3,
  });
  expect(await readPdfText(bytes, { first: 3, last: 3 }, SIGNAL)).toEqual({
    pages: [{ number: 3, text: 'Third page' }],
    totalPages: 3,
  });
  expect(bytes.length).toBeGreaterThan(0);
});

test('a page behind the last and a damaged document are reported', async () => {
  const bytes = createPdf(['Only page']);
  expect(await readPdfText(bytes, { first: 2, last: 3 }, SIGNAL)).toBe(
    'it has 1 page, and page 2 was asked for',
  );
  expect(await readPdfText(Buffer.from('%PDF-1.4\n???'), { first: 1, last: 1 }, SIGNAL)).toBe(
    'it is damaged or not a PDF document',
  );
});

test('a document that needs a password is reported', async () => {
  const key = '00'.repeat(32);
  const lock = `/Encrypt << /Filter /Standard /V 1 /R 2 /O <${key}> /U <${key}> /P -4 >> /ID [<00> <00>]`;
  const locked = createPdf(['Secret']).toString('latin1').replace('/Root', `${lock} /Root`);
  expect(await readPdfText(Buffer.from(locked, 'latin1'), { first: 1, last: 1 }, SIGNAL)).toBe(
    'it is protected by a password',
  );
});

test('reading ends when it is aborted, before or while it reads', async () => {
  const range = { first: 1, last: 20 };
  const bytes = createPdf(Array.from({ length: 20 }, (_, index) => `Page ${index}`));
  await expect(readPdfText(bytes, range, AbortSignal.abort())).rejects.toMatchObject({
    name: 'AbortError',
  });
  const controller = new AbortController();
  const reading = readPdfText(bytes, range, controller.signal);
  setImmediate(() => controller.abort());
  await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
});

test.each([
  ['3', { first: 3, last: 3 }],
  ['1-5', { first: 1, last: 5 }],
  [' 2 - 21 ', { first: 2, last: 21 }],
  ['10-', { first: 10, last: 29 }],
])('the pages %j are understood', (written, range) => {
  expect(parsePages(written)).toEqual(range);
});

test.each(['0', '5-1', 'all', '1,3', '-3'])('the pages %j are refused', (written) => {
  expect(parsePages(written)).toBe(
    `expected "pages" to be a page or a range of pages such as "3" or "1-5", found ${JSON.stringify(written)}`,
  );
});

test('too many pages are refused', () => {
  expect(parsePages('1-21')).toBe('expected "pages" to be at most 20 pages, found 21 ("1-21")');
});
