import { describe, expect, test } from 'vitest';
import { redactObject, redactText } from '../../src/host/redact-object.ts';

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
    const clean = redactText(`before ${secret} after`);
    expect(clean).not.toContain(letters(20).slice(3));
    expect(clean).toMatch(/^before .*\[redacted\]/s);
  });

  test.each([
    ['https://user:', 'hunter22', '@example.com/path'],
    ['amqp://me:', 'p%40ss', '@queue/x'],
    ['redis://:', 'hunter22', '@cache:6379'],
  ])('the password in %s…@ is redacted and the rest stays', async (before, password, after) => {
    expect(redactText(`see ${before}${password}${after} there`)).toBe(
      `see ${before}[redacted]${after} there`,
    );
  });

  test('a secret that the rule set recognises by its name is redacted to its end', async () => {
    const keyName = ['aws_secret', 'access', 'key'].join('_');
    const clean = redactText(`${keyName} = "${letters(40)}" after`);
    expect(clean).not.toContain(letters(40).slice(-10));
    expect(clean).toContain('[redacted]');
    expect(clean).toMatch(/" after$/);
  });

  test('the bearer token of a request is redacted', async () => {
    const texts = [`-H "Authorization: Bearer ${letters(24)}" x`, 'Bearer $TOKEN', 'Basic things'];
    expect(texts.map((text) => redactText(text))).toEqual([
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
    expect(texts.map((text) => redactText(text))).toEqual(texts);
  });
});

describe('an object', () => {
  const token = SECRETS['a GitHub token'] ?? '';

  test('is redacted by the names of its fields', async () => {
    const value = {
      env: { API_TOKEN: 'short1', PASSWORD: 'swordfish', HOME: '/home/me' },
      headers: { Authorization: 'Bearer abc', Cookie: 'sid=abcdef', Accept: '*/*' },
      passwords: ['x'],
      password: ['hunter2'],
      list: [{ name: 'DB_PASSWORD', value: 'hunter2' }],
      key: 'name',
      usage: { inputTokens: 12 },
    };
    expect(await redactObject(value, {})).toEqual({
      env: { API_TOKEN: '[redacted]', PASSWORD: '[redacted]', HOME: '/home/me' },
      headers: { Authorization: '[redacted]', Cookie: '[redacted]', Accept: '*/*' },
      passwords: ['x'],
      password: ['[redacted]'],
      list: [{ name: 'DB_PASSWORD', value: '[redacted]' }],
      key: 'name',
      usage: { inputTokens: 12 },
    });
  });

  test('is redacted in the names of its fields, too', async () => {
    expect(await redactObject({ [token]: 1 }, {})).toEqual({ '[redacted]': 1 });
  });

  test('without secrets is returned itself, and with --raw always', async () => {
    const [plain, secret] = [{ a: ['b'] }, { a: token }];
    expect(await redactObject(plain, {})).toBe(plain);
    expect(await redactObject(secret, { raw: true })).toBe(secret);
  });
});
