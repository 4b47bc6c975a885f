import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createTree, removeTree } from './tree.ts';

const roots: string[] = [];
afterEach(() => roots.splice(0).forEach(removeTree));

const STEPS = ['format:check', 'lint', 'types', 'layers', 'budgets', 'unused', 'examples'];
const PASSED = { status: 'passed', fullName: 'it works' };

test('when everything passes, tests and steps are counted in the last line', () => {
  const { exitCode, lines } = runGate({
    tests: [PASSED, { status: 'pending', fullName: 'taskkill ends the tree [windows]' }],
  });
  expect(exitCode).toBe(0);
  expect(lines.filter((line) => /^=== .*: passed in \d+\.\d s$/.test(line))).toHaveLength(9);
  expect(lines).toContain('not run here: taskkill ends the tree [windows]');
  expect(lines.at(-1)).toBe('10 passed, 0 failed');
});

test('whatever fails is named, the steps after it still run, and the gate fails', () => {
  const { exitCode, lines } = runGate({
    tests: [
      PASSED,
      { status: 'failed', fullName: 'it breaks', failureMessages: ['expected 1 to be 2'] },
      { status: 'skipped', fullName: 'it waits' },
    ],
    brokenFile: 'broken.test.ts',
    testExit: 1,
    scripts: {
      lint: 'exit 1',
      generate: `node -e "fs.writeFileSync('schema/new.json', '{}')"`,
    },
  });
  expect(exitCode).toBe(1);
  expect(lines).toContain('schema/new.json is not what npm run generate makes');
  expect(lines.slice(-9)).toEqual([
    'FAILED: lint',
    'FAILED: a.test.ts: it breaks',
    'expected 1 to be 2',
    'FAILED: broken.test.ts',
    'no such module',
    'FAILED: it waits (skipped)',
    'FAILED: tests',
    'FAILED: generated files',
    '8 passed, 6 failed',
  ]);
});

test('a test run that leaves no report fails the gate although it exits with 0', () => {
  const { exitCode, lines } = runGate({ tests: null });
  expect(exitCode).toBe(1);
  expect(lines.slice(-2)).toEqual(['FAILED: tests', '8 passed, 1 failed']);
});

interface Project {
  readonly tests:
    | readonly { status: string; fullName: string; failureMessages?: readonly string[] }[]
    | null;
  readonly testExit?: number;
  readonly brokenFile?: string;
  readonly scripts?: Readonly<Record<string, string>>;
}

function runGate({ tests, testExit = 0, brokenFile, scripts = {} }: Project): {
  exitCode: number | null;
  lines: string[];
} {
  const steps = Object.fromEntries([...STEPS, 'package'].map((name) => [name, 'exit 0']));
  const broken = brokenFile
    ? [{ name: brokenFile, status: 'failed', message: 'no such module', assertionResults: [] }]
    : [];
  const fileStatus = testExit === 0 ? 'passed' : 'failed';
  const report = {
    testResults: [{ name: 'a.test.ts', status: fileStatus, assertionResults: tests }, ...broken],
  };
  const root = createTree({
    'package.json': JSON.stringify({
      scripts: { ...steps, test: 'node write-report.mjs', ...scripts },
    }),
    'write-report.mjs': `import fs from 'node:fs';
      fs.mkdirSync('coverage');
      if (${tests !== null}) fs.writeFileSync('coverage/tests.json', ${JSON.stringify(JSON.stringify(report))});
      process.exitCode = ${testExit};`,
    'schema/old.json': '{}',
  });
  roots.push(root);
  const script = ['--import', import.meta.resolve('jiti/register'), path.resolve('scripts/ci.ts')];
  const { status, stdout } = spawnSync(process.execPath, script, { cwd: root, encoding: 'utf8' });
  return { exitCode: status, lines: stdout.trimEnd().split('\n') };
}
