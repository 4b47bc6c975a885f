import { describe, expect, test } from 'vitest';
import { redactTexts } from '../../src/host/redact-object.ts';

// Built here, so that no scanner takes this file for a leak.
const letters = (count: number): string =>
  'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA'.repeat(8).slice(0, count);
const SECRETS: Readonly<Record<string, string>> = {
  'a GitHub token': ['ghp', letters(36)].join('_'),
  'a Google key': ['AIza', letters(35)].join(''),
  'a Stripe key': ['sk', 'live', letters(24)].join('_'),
  'an OpenAI key': ['sk', 'proj', letters(40)].join('-'),
  'a JSON web token': [`eyJ${letters(20)}`, `eyJ${letters(30)}`, letters(40)].join('.'),
  'a private key': [
    '-----BEGIN RSA ',
    'PRIVATE KEY-----\n',
    letters(60),
    '\n-----END RSA ',
    'PRIVATE KEY-----',
  ].join(''),
  'a private key that is cut off': ['-----BEGIN ', 'PRIVATE KEY-----\n', letters(60)].join(''),
};

describe('secrets', () => {
  test.each(Object.entries(SECRETS))('%s is redacted', async (_, secret) => {
    const [clean = ''] = await redactTexts([`before ${secret} after`]);
    expect(clean).not.toContain(letters(20).slice(3));
    expect(clean).toMatch(/^before .*\[redacted\]/s);
  });

  test.each([
    ['https://user:', 'hunter22', '@example.com/path'],
    ['amqp://me:', 'p%40ss', '@queue/x'],
    ['redis://:', 'hunter22', '@cache:6379'],
  ])('the password in %s…@ is redacted and the rest stays', async (before, password, after) => {
    expect(await redactTexts([`see ${before}${password}${after} there`])).toEqual([
      `see ${before}[redacted]${after} there`,
    ]);
  });

  test('a secret that the rule set recognises by its name is redacted to its end', async () => {
    const keyName = ['aws_secret', 'access', 'key'].join('_');
    const [clean = ''] = await redactTexts([`${keyName} = "${letters(40)}" after`]);
    expect(clean).not.toContain(letters(40).slice(-10));
    expect(clean).toContain('[redacted]');
    expect(clean).toMatch(/" after$/);
  });

  test('the bearer token of a request is redacted', async () => {
    const texts = [`-H "Authorization: Bearer ${letters(24)}" x`, 'Bearer $TOKEN', 'Basic things'];
    expect(await redactTexts(texts)).toEqual([
      '-H "Authorization: Bearer [redacted]" x',
      ...texts.slice(1),
    ]);
  });

  test('what is no secret stays as it is', async () => {
    const texts = [
      '',
      'git commit -m "x"',
      '{"path":"a.js"}',
      'http://localhost:3043/x',
      'sk-short',
    ];
    expect(await redactTexts(texts)).toEqual(texts);
  });
});

describe('many texts', () => {
  test('keep their number and order, whatever is in them', async () => {
    const secret = SECRETS['a GitHub token'] ?? '';
    const texts = ['first', secret, '\n\u0000\n', '', `a\n\u0000\n${secret}`, 'last'];
    const clean = await redactTexts(texts);
    expect(clean).toHaveLength(texts.length);
    expect([clean[0], clean[3], clean[5]]).toEqual(['first', '', 'last']);
    expect(clean.join()).not.toContain(secret);
  });

  test('a secret that begins in one and ends in another removes no text', async () => {
    const begin = ['-----BEGIN RSA ', 'PRIVATE KEY-----'].join('');
    const end = ['-----END RSA ', 'PRIVATE KEY-----'].join('');
    const clean = await redactTexts([
      `x ${begin}\n${letters(60)}`,
      'middle',
      `${letters(60)}\n${end}`,
      'last',
    ]);
    expect(clean).toHaveLength(4);
    expect(clean[3]).toBe('last');
  });

  test('none at all', async () => {
    expect((await redactTexts([])).join('')).toBe('');
  });
});

test('nothing is cached of what was redacted', async () => {
  await redactTexts(['one', 'two']);
  await redactTexts(['three']);
  expect(performance.getEntriesByType('mark')).toEqual([]);
});
