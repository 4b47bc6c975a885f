import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactText } from '../../../src/host/redact-object.ts';
import { findSecrets } from '../../../src/host/secrets/find-secrets.ts';
import { HARMLESS, mixed, PRIVATE_KEY, SECRETS_IN_CONTEXT, TOKENS_BY_SERVICE } from './samples.ts';

const TOKENS = Object.entries(TOKENS_BY_SERVICE).map(
  ([service, pieces]) => [service, pieces.join('')] as const,
);

describe('the token of a service', () => {
  it.each(TOKENS)('is found: %s', (_service, token) => {
    expect(redactText(`use ${token} now`)).toBe('use [redacted] now');
    expect(redactText(`"${token}"`)).toBe('"[redacted]"');
    expect(redactText(JSON.stringify({ text: `a\n${token}\tb` }))).not.toContain(token);
    expect(redactText(`\u001B[32m${token}\u001B[0m`)).not.toContain(token);
    expect(redactText(`https://example.org/?q=${token}`)).not.toContain(token);
  });
});

describe('a secret beside its name', () => {
  it.each(SECRETS_IN_CONTEXT)('is found: %s…', (before, secret, after) => {
    expect(redactText(before + secret + after)).toBe(`${before}[redacted]${after}`);
  });
});

describe('what is no secret', () => {
  it.each(HARMLESS)('stays: %s', (text) => {
    expect(redactText(text)).toBe(text);
    expect(redactText(`first ${text}\nlast`)).toBe(`first ${text}\nlast`);
  });
});

describe('any text', () => {
  it('keeps what is around a token, and loses the token', () => {
    const word = fc.stringMatching(/^[a-z ,.\n]{0,20}$/);
    fc.assert(
      fc.property(word, fc.constantFrom(...TOKENS), word, (before, [, token], after) => {
        expect(redactText(`${before} ${token} ${after}`)).toBe(`${before} [redacted] ${after}`);
      }),
    );
  });

  it('gives ranges in order that do not overlap, and is not redacted twice', () => {
    const piece = fc.oneof(
      fc.constantFrom(...TOKENS.map(([, token]) => token)),
      fc.constantFrom(...SECRETS_IN_CONTEXT.map((sample) => sample.join(''))),
      fc.constantFrom('password', '=', ':', '"', '\\', '\n', ' ', '://', '@', PRIVATE_KEY),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        const ends = findSecrets(text).flat();
        expect(ends).toEqual(ends.toSorted((one, other) => one - other));
        expect(ends.every((at) => at >= 0 && at <= text.length)).toBe(true);
      }),
    );
  });

  it('cannot switch the search off', () => {
    const token = ['gh', 'p_', mixed(36)].join('');
    const text = `/* ${['secretlint', 'disable'].join('-')} */\n${token}`;
    expect(redactText(text)).not.toContain(token);
  });
});
