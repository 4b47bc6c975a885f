import { existsSync, readFileSync } from 'node:fs';

export interface TestReport {
  readonly passed: number;
  /** Names of tests that failed, and of files that could not be loaded. */
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
  /** Skipped because they need another operating system, as their name says. */
  readonly elsewhere: readonly string[];
}

interface RawReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

const OTHER_SYSTEM = /\[(windows|macos)\]/;

/** Reads vitest's JSON report; null when the run ended before it was written. */
export function readTestReport(file: string): TestReport | null {
  if (!existsSync(file)) return null;
  const raw: RawReport = JSON.parse(readFileSync(file, 'utf8'));
  const tests = raw.testResults.flatMap((each) => each.assertionResults);
  const namesOf = (isMeant: (status: string) => boolean): string[] =>
    tests.filter(({ status }) => isMeant(status)).map(({ fullName }) => fullName);
  const idle = namesOf((status) => status !== 'passed' && status !== 'failed');
  const broken = raw.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  );
  return {
    passed: namesOf((status) => status === 'passed').length,
    failed: [...namesOf((status) => status === 'failed'), ...broken.map(({ name }) => name)],
    skipped: idle.filter((name) => !OTHER_SYSTEM.test(name)),
    elsewhere: idle.filter((name) => OTHER_SYSTEM.test(name)),
  };
}
