import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface TestReport {
  readonly passed: number;
  /** Tests that failed, and files that could not be loaded. */
  readonly failed: readonly FailedTest[];
  readonly skipped: readonly string[];
  /** Skipped because they need another operating system, as their name says. */
  readonly elsewhere: readonly string[];
}

export interface FailedTest {
  readonly name: string;
  readonly why: string;
}

interface RawReport {
  readonly testResults: readonly RawFile[];
}

interface RawFile {
  readonly name: string;
  readonly status: string;
  readonly message?: string;
  readonly assertionResults: readonly RawTest[];
}

interface RawTest {
  readonly status: string;
  readonly fullName: string;
  readonly failureMessages?: readonly string[];
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
  return {
    passed: namesOf((status) => status === 'passed').length,
    failed: raw.testResults.flatMap(failuresIn),
    skipped: idle.filter((name) => !OTHER_SYSTEM.test(name)),
    elsewhere: idle.filter((name) => OTHER_SYSTEM.test(name)),
  };
}

function failuresIn({ name: file, status, message = '', assertionResults }: RawFile): FailedTest[] {
  const failed = assertionResults.filter((test) => test.status === 'failed');
  if (failed.length === 0 && status === 'failed') {
    return [{ name: path.relative('', file), why: message }];
  }
  return failed.map(({ fullName, failureMessages = [] }) => ({
    name: `${path.relative('', file)}: ${fullName}`,
    why: failureMessages.join('\n'),
  }));
}
