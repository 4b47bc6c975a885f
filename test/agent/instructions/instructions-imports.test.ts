import { expect, test } from 'vitest';
import { findImports } from '../../../src/agent/instructions/instructions.ts';

test('imports stand on their own line or in the text, each counted once', () => {
  const text = [
    '@docs/style.md',
    'See @./a.md, (@~/mine.md) and @/etc/x.txt. Again @docs/style.md!',
    '- @../up.md',
  ].join('\n');
  expect(findImports(text)).toEqual([
    'docs/style.md',
    './a.md',
    '~/mine.md',
    '/etc/x.txt',
    '../up.md',
  ]);
});

test('addresses and code are not imports', () => {
  const text = [
    'mail me@example.com or `@inline.md`',
    '```sh',
    'cat @fenced.md',
    '```',
    '~~~',
    '@tilde.md',
    '```',
    '@still.md',
    '~~~',
    '@real.md',
    '```',
    '@open.md',
  ].join('\n');
  expect(findImports(text)).toEqual(['real.md']);
});
