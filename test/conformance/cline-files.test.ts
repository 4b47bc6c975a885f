import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { typescriptLoader } from '../../src/host/dialect-machine.ts';
import { readCase } from '../../src/testing/case.ts';
import { formatDifference } from '../../src/testing/expectation.ts';
import { runCase } from '../../src/testing/run-case.ts';

const PLACE = path.join(import.meta.dirname, 'cline-files');
const COVERAGE = path.join(PLACE, 'COVERAGE.md');
const NAMES = readdirSync(PLACE, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

// Their hooks are TypeScript, which runs with what `npm run build` makes.
const NEEDS_BUILD = new Set(['interpreter-ts']);

const counts = { passed: 0, failed: 0 };
const skips: string[] = [];

describe('Cline file hooks', () => {
  afterAll(() => {
    const { passed, failed } = counts;
    const reasons = [...new Set(skips)].join('; ');
    const more = skips.length === 0 ? '' : `, ${skips.length} skipped: ${reasons}`;
    process.stdout.write(`cline-files cases: ${passed} passed, ${failed} failed${more}\n`);
  });

  for (const name of NAMES) {
    const hookCase = readCase(path.join(PLACE, name));

    it.concurrent(`${name}: ${hookCase.about ?? ''}`, async ({ expect, skip }) => {
      const isUnbuilt = NEEDS_BUILD.has(name) && !existsSync(typescriptLoader);
      const result = isUnbuilt ? null : await runCase(hookCase, { trust: 'all' });
      const why = result === null ? 'needs npm run build' : result.skipped;
      if (result === null || why !== null) {
        skips.push(why ?? '');
        skip(why ?? '');
        return;
      }
      counts[result.passed ? 'passed' : 'failed'] += 1;
      expect(result.differences.map(formatDifference)).toEqual([]);
    });
  }
});

describe('the cases', () => {
  const coverage = readFileSync(COVERAGE, 'utf8');
  const coveredCases = new Set([...coverage.matchAll(/`([a-z0-9-]+)`/gu)].map((match) => match[1] ?? ''));
  const files = [...coverage.matchAll(/`(test\/[^`]+\.ts)`/gu)].map((match) => match[1] ?? '');

  it('each describe in a sentence of their own what they test', () => {
    const sentences = NAMES.map((name) => readCase(path.join(PLACE, name)).about);
    expect(sentences).not.toContain(null);
    expect(new Set(sentences).size).toBe(NAMES.length);
  });

  it('are all named in COVERAGE.md', () => {
    expect(NAMES.filter((name) => !coveredCases.has(name))).toEqual([]);
  });

  it('that COVERAGE.md names all exist, and so do the other tests it names', () => {
    expect([...coveredCases].filter((name) => !NAMES.includes(name))).toEqual([]);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });
});
