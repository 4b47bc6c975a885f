import { expect, it } from 'vitest';
import { redactTexts } from '../../src/host/redact-object.ts';

const SECRET = `sk-${'a1B2'.repeat(10)}`;

it('returns each text in its position, although one holds the separator', async () => {
  const texts = ['one', 'a\n\u0000\nb', '', `K=${SECRET}`, '\u0000', 'last'];
  expect(await redactTexts(texts)).toEqual([
    'one',
    'a\n\u2400\nb',
    '',
    'K=[redacted]',
    '\u2400',
    'last',
  ]);
});

it('keeps every text in its position when a secret seems to span two of them', async () => {
  const texts = [
    '-----BEGIN RSA PRIVATE KEY-----\nabc',
    'def\n-----END RSA PRIVATE KEY-----',
    'last',
  ];
  const redacted = await redactTexts(texts);
  expect(redacted).toHaveLength(3);
  expect(redacted[2]).toBe('last');
  expect(redacted.join('')).not.toContain('abc');
});
