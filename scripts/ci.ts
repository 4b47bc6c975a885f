import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { truncateText } from '../src/base/json.ts';
import { readTestReport, type TestReport } from './test-report.ts';
import { runTestsAsNobody } from './unprivileged-tests.ts';

interface Count {
  passed: number;
  failed: number;
}

const STEP_LIMIT_MS = 60 * 60_000;
const TEST_REPORT = 'coverage/tests.json';
const MAX_REASON_CHARACTERS = 2000;
const GENERATED_FOLDERS = ['schema', 'docs'];

const total: Count = { passed: 0, failed: 0 };
const failures: string[] = [];

await step('format', () => npm('run', 'format:check'));
await step('lint', () => npm('run', 'lint'));
await step('types', () => npm('run', 'types'));
await step('layers', () => npm('run', 'layers'));
await step('budgets', () => npm('run', 'budgets'));
await step('unused', () => npm('run', 'unused'));
await step('tests', runTests);
// `.ci/run` passes it as root: any other user ran the tests above without its rights.
if (process.argv.includes('--as-nobody')) await step('tests as nobody', runUnprivilegedTests);
await step('examples', () => npm('run', 'examples'));
if (hasScript('generate')) await step('generated files', checkGeneratedFiles);
await step('package', () => npm('run', 'package'));

for (const failure of failures) process.stdout.write(`FAILED: ${failure}\n`);
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 ? 0 : 1;

async function step(name: string, run: () => Promise<boolean>): Promise<void> {
  process.stdout.write(`\n=== ${name}\n`);
  const startedAt = performance.now();
  const isFine = await run().catch((error: unknown) => {
    process.stdout.write(`${String(error)}\n`);
    return false;
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(`=== ${name}: ${isFine ? 'passed' : 'FAILED'} in ${seconds} s\n`);
  count(isFine, name);
}

function count(isFine: boolean, name: string, why = ''): void {
  if (isFine) total.passed += 1;
  else total.failed += 1;
  if (!isFine) {
    failures.push(why === '' ? name : `${name}\n${truncateText(why, MAX_REASON_CHARACTERS)}`);
  }
}

/** The tests count one by one; the step itself stands for the exit code, and so for coverage. */
async function runTests(): Promise<boolean> {
  rmSync(TEST_REPORT, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${TEST_REPORT}`];
  const isFine = await npm('test', '--', '--coverage', ...reporters);
  const report = readTestReport(TEST_REPORT);
  if (report === null) return false;
  countTests(report);
  for (const name of report.skipped) count(false, `${name} (skipped)`);
  for (const name of report.elsewhere) process.stdout.write(`not run here: ${name}\n`);
  return isFine;
}

/** A test that needs root was run before, where skipping one is a failure. */
async function runUnprivilegedTests(): Promise<boolean> {
  const report = runTestsAsNobody();
  if (report === null) return false;
  countTests(report);
  for (const name of report.skipped) process.stdout.write(`run as root only: ${name}\n`);
  return report.failed.length === 0;
}

function countTests(report: TestReport): void {
  total.passed += report.passed;
  for (const { name, why } of report.failed) count(false, name, why);
}

async function checkGeneratedFiles(): Promise<boolean> {
  const before = hashFiles(GENERATED_FOLDERS);
  if (!(await npm('run', 'generate'))) return false;
  const after = hashFiles(GENERATED_FOLDERS);
  const names = new Set([...before.keys(), ...after.keys()]);
  const changed = [...names].filter((file) => before.get(file) !== after.get(file));
  for (const file of changed) process.stdout.write(`${file} is not what npm run generate makes\n`);
  return changed.length === 0;
}

function hashFiles(folders: readonly string[]): Map<string, string> {
  const files = folders.filter((folder) => existsSync(folder)).flatMap(findFiles);
  return new Map(
    files.map((file) => [file, createHash('sha256').update(readFileSync(file)).digest('hex')]),
  );
}

function findFiles(place: string): string[] {
  if (!statSync(place).isDirectory()) return [place];
  return readdirSync(place)
    .filter((name) => name !== 'node_modules')
    .flatMap((name) => findFiles(path.join(place, name)));
}

function hasScript(name: string): boolean {
  const manifest: { scripts: object } = JSON.parse(readFileSync('package.json', 'utf8'));
  return name in manifest.scripts;
}

/** Runs npm in a process group of its own, so that a step that hangs is ended with its children. */
async function npm(...args: readonly string[]): Promise<boolean> {
  const child = spawn('npm', args, { stdio: ['ignore', 'inherit', 'inherit'], detached: true });
  const end = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  const interrupt = (): void => {
    end();
    process.exit(130);
  };
  const timer = setTimeout(end, STEP_LIMIT_MS);
  process.once('SIGINT', interrupt);
  const isFine = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
  clearTimeout(timer);
  process.off('SIGINT', interrupt);
  return isFine;
}
