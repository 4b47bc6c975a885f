import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');

test.each(documents())('every link of %s leads somewhere', (document) => {
  const text = readFileSync(path.join(ROOT, document), 'utf8');
  const targets = [...text.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, to]) => to!);
  const deadLinks = targets.filter(
    (target) => !existsSync(path.join(ROOT, path.dirname(document), target)),
  );
  expect(deadLinks).toEqual([]);
});

function documents(): string[] {
  const inDocs = readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  const atTop = readdirSync(ROOT);
  return [...atTop, ...inDocs.map((file) => path.join('docs', file))].filter((file) =>
    file.endsWith('.md'),
  );
}
