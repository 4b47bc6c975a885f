import { availableParallelism } from 'node:os';
import path from 'node:path';
import { colors } from '../words/colors.ts';
import { HooklineError, isHooklineError } from '../../base/errors.ts';
import { isDirectory } from '../../base/files.ts';
import { readSurroundings } from '../../host/config.ts';
import { findCases, readCase } from '../../testing/case.ts';
import { formatDifference } from '../../testing/expectation.ts';
import { type CaseResult, runCase } from '../../testing/run-case.ts';
import { type Command, type CommandContext, hostOptions } from '../context.ts';
import type { EventFlags } from '../event-options.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { milliseconds, oneLine, printable } from '../words/print.ts';
import { recordFired, recordFromTrace } from './hooks-test-record.ts';

export interface TestOptions extends EventFlags {
  readonly dir?: string;
  /** The event to fire and to write as a case. */
  readonly record?: string;
  /** The id of a stored event to write as a case, or `last`. */
  readonly recordTrace?: string;
  readonly force?: boolean;
}

/** `hookline hooks test [DIR]`: runs case directories, or records one. */
export const testHooks: Command<TestOptions> = async (context, options) => {
  const { dir, record, recordTrace } = options;
  const directory = dir === undefined ? null : resolvePlace(dir);
  if (recordTrace !== undefined) {
    return recordFromTrace(context, { ...options, directory, id: recordTrace });
  }
  if (record !== undefined) return recordFired(context, { ...options, directory, event: record });
  const place = directory ?? findUsualPlace();
  const cases = findCases(place);
  if (cases.length === 0) throw nothingFound(place);
  return conclude(context, await runAll(cases, { context, place }));
};

function resolvePlace(directory: string): string {
  return path.resolve(readSurroundings().cwd, directory);
}

const USUAL_PLACES = ['hook-tests', 'test/hooks', '.clinerules/hook-tests'];

function findUsualPlace(): string {
  const places = USUAL_PLACES.map(resolvePlace);
  const found = places.find(isDirectory);
  if (found !== undefined) return found;
  throw nothingFound(USUAL_PLACES.join(', '));
}

const EXAMPLE = `Write DIR/case.json, for example
    { "fire": { "event": "PreToolUse", "tool": "write_to_file", "input": { "path": "a.js" } },
      "expect": { "effect": "deny" } }
  or have it written:
    hookline hooks test DIR --record PreToolUse --tool write_to_file --input '{"path":"a.js"}'`;

function nothingFound(place: string): HooklineError {
  const message = `expected case directories in ${place}, found none`;
  return new HooklineError('USAGE_INVALID', { message, hint: EXAMPLE });
}

interface TestRun {
  readonly context: CommandContext;
  readonly place: string;
}

interface TestedCase extends CaseResult {
  readonly directory: string;
  readonly about: string | null;
}

const MAX_AT_ONCE = 4;

/** A few at once; each is printed as soon as all before it are. */
async function runAll(cases: readonly string[], run: TestRun): Promise<readonly TestedCase[]> {
  const results: TestedCase[] = [];
  const waiting = cases.entries();
  let printed = 0;
  const work = async (): Promise<void> => {
    for (const [index, directory] of waiting) {
      results[index] = await testCase(directory, run);
      for (let next = results[printed]; next !== undefined; next = results[++printed]) {
        if (run.context.flags.json !== true) run.context.print.out(describe(next));
      }
    }
  };
  const atOnce = Math.min(MAX_AT_ONCE, availableParallelism(), cases.length);
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}

async function testCase(directory: string, { context, place }: TestRun): Promise<TestedCase> {
  const name = path.relative(place, directory) || path.basename(directory);
  try {
    const hookCase = readCase(directory);
    const result = await runCase(hookCase, {
      ...hostOptions(context.flags),
      signal: context.signal,
      onNotice: (notice) => context.print.note(`note: ${printable(notice)}`),
    });
    return { ...result, name, directory, about: hookCase.about };
  } catch (error) {
    if (!isHooklineError(error) || error.code !== 'CASE_INVALID') throw error;
    const expected = error.hint ?? 'a case that can be read';
    const differences = [{ path: 'case', expected, found: error.message }];
    const failed = { passed: false, differences, skipped: null, verdict: null, durationMs: 0 };
    return { ...failed, name, directory, about: null };
  }
}

function describe({ name, about, passed, skipped, differences, durationMs }: TestedCase): string {
  const title = `${oneLine(name)}${about === null ? '' : colors.dim(` ${printable(about)}`)}`;
  if (skipped !== null) return colors.yellow(`- ${title} skipped: ${printable(skipped)}`);
  if (passed) return `${colors.green('✓')} ${title} ${colors.dim(milliseconds(durationMs))}`;
  const lines = differences.map((difference) => `    ${printable(formatDifference(difference))}`);
  return [`${colors.red('✗')} ${title}`, ...lines].join('\n');
}

function conclude({ flags, print }: CommandContext, cases: readonly TestedCase[]): ExitCode {
  const skipped = cases.filter((each) => each.skipped !== null);
  const passed = cases.filter((each) => each.passed).length;
  const failed = cases.length - passed - skipped.length;
  if (flags.json === true) {
    print.json({ passed, failed, skipped: skipped.length, cases: cases.map(jsonCase) });
  } else print.out(`${passed} passed, ${failed} failed${skippedPart(skipped)}`);
  const isIncomplete = flags.strict === true && skipped.length > 0;
  return failed > 0 || isIncomplete ? EXIT.refused : EXIT.fine;
}

function skippedPart(skipped: readonly TestedCase[]): string {
  if (skipped.length === 0) return '';
  const reasons = new Set(skipped.map((each) => each.skipped));
  return `, ${skipped.length} skipped: ${[...reasons].join('; ')}`;
}

function jsonCase({ verdict: _verdict, ...shown }: TestedCase): unknown {
  return shown;
}
