import { availableParallelism } from 'node:os';
import path from 'node:path';
import { colors } from '../output/colors.ts';
import { HooklineError, isHooklineError } from '../../base/errors.ts';
import { isDirectory } from '../../base/files.ts';
import { readSurroundings } from '../../host/surroundings.ts';
import { findCases, readCase } from '../../testing/case.ts';
import { formatDifference } from '../../testing/expectation.ts';
import { type CaseResult, runCase } from '../../testing/run-case.ts';
import { type Command, type CommandContext, toHostOptions, withHost } from '../context.ts';
import { type EventFlags, readDescription } from '../event-options.ts';
import { withStore } from '../with-store.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { formatDuration, toOneLine, toPrintable } from '../output/print.ts';
import { recordCase, recordStored, readStoredEvent } from '../../testing/record-case.ts';
import { redactObject } from '../../host/redact-object.ts';
import { formatVerdict } from '../output/format-verdict.ts';

interface TestOptions extends EventFlags {
  readonly dir?: string;
  /** The event to fire and to record as a case. */
  readonly record?: string;
  /** The id of a stored event to record as a case, or `last`. */
  readonly recordTrace?: string;
  readonly force?: boolean;
  /** Takes the last event of any workspace. */
  readonly all?: boolean;
}

/** `hookline hooks test [DIR]`: runs case directories, or records one. */
export const testHooks: Command<TestOptions> = async (context, options) => {
  const { dir, record, recordTrace } = options;
  if (recordTrace !== undefined) return recordFromTrace(context, options, recordTrace);
  if (record !== undefined) return recordFiredEvent(context, options, record);
  const directory = dir === undefined ? findDefaultDirectory() : resolveDirectory(dir);
  const cases = findCases(directory);
  if (cases.length === 0) throw createNoCasesError(directory);
  return reportCases(context, await runCases(cases, context, directory));
};

function resolveDirectory(directory: string): string {
  return path.resolve(readSurroundings().cwd, directory);
}

const DEFAULT_DIRECTORIES = ['hook-tests', 'test/hooks', '.clinerules/hook-tests'];

function findDefaultDirectory(): string {
  const places = DEFAULT_DIRECTORIES.map(resolveDirectory);
  const found = places.find(isDirectory);
  if (found !== undefined) return found;
  throw createNoCasesError(DEFAULT_DIRECTORIES.join(', '));
}

const EXAMPLE = `Write DIR/case.json, for example
    { "fire": { "event": "PreToolUse", "tool": "write_to_file", "input": { "path": "a.js" } },
      "expect": { "effect": "deny" } }
  or have it written:
    hookline hooks test DIR --record PreToolUse --tool write_to_file --input '{"path":"a.js"}'`;

function createNoCasesError(place: string): HooklineError {
  const message = `no test cases found in ${place}`;
  return new HooklineError('USAGE_INVALID', { message, hint: EXAMPLE });
}

interface TestedCase extends CaseResult {
  readonly directory: string;
  readonly about: string | null;
}

const MAX_PARALLEL = 4;

/** Runs a few in parallel and prints the results in order. */
async function runCases(
  cases: readonly string[],
  context: CommandContext,
  root: string,
): Promise<readonly TestedCase[]> {
  const results: TestedCase[] = [];
  const waiting = cases.entries();
  let printed = 0;
  const work = async (): Promise<void> => {
    for (const [index, directory] of waiting) {
      results[index] = await testCase(directory, context, root);
      for (let next = results[printed]; next !== undefined; next = results[++printed]) {
        if (context.flags.json !== true) context.print.out(formatCase(next));
      }
    }
  };
  const atOnce = Math.min(MAX_PARALLEL, availableParallelism(), cases.length);
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}

async function testCase(
  directory: string,
  context: CommandContext,
  root: string,
): Promise<TestedCase> {
  const name = path.relative(root, directory) || path.basename(directory);
  try {
    const hookCase = readCase(directory);
    const result = await runCase(hookCase, {
      ...toHostOptions(context.flags),
      signal: context.signal,
      onNotice: (notice) => context.print.note(`note: ${toPrintable(notice)}`),
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

function formatCase({ name, about, passed, skipped, differences, durationMs }: TestedCase): string {
  const title = `${toOneLine(name)}${about === null ? '' : colors.dim(` ${toPrintable(about)}`)}`;
  if (skipped !== null) return colors.yellow(`- ${title} skipped: ${toPrintable(skipped)}`);
  if (passed) return `${colors.green('✓')} ${title} ${colors.dim(formatDuration(durationMs))}`;
  const lines = differences.map((difference) => `    ${toPrintable(formatDifference(difference))}`);
  return [`${colors.red('✗')} ${title}`, ...lines].join('\n');
}

function reportCases({ flags, print }: CommandContext, cases: readonly TestedCase[]): ExitCode {
  const skipped = cases.filter((each) => each.skipped !== null);
  const passed = cases.filter((each) => each.passed).length;
  const failed = cases.length - passed - skipped.length;
  if (flags.json === true) {
    print.json({ passed, failed, skipped: skipped.length, cases: cases.map(toCaseJson) });
  } else print.out(`${passed} passed, ${failed} failed${formatSkipped(skipped)}`);
  const isIncomplete = flags.strict === true && skipped.length > 0;
  return failed > 0 || isIncomplete ? EXIT.refused : EXIT.fine;
}

function formatSkipped(skipped: readonly TestedCase[]): string {
  if (skipped.length === 0) return '';
  const reasons = new Set(skipped.map((each) => each.skipped));
  return `, ${skipped.length} skipped: ${[...reasons].join('; ')}`;
}

function toCaseJson({ verdict: _verdict, ...fields }: TestedCase): unknown {
  return fields;
}

/** Fires the event that the flags describe and records the result as a case. */
async function recordFiredEvent(
  context: CommandContext,
  options: TestOptions,
  event: string,
): Promise<ExitCode> {
  const { file, verdict } = await recordCase({
    ...toHostOptions(context.flags),
    directory: requireDirectory(options),
    fire: readDescription({ ...options, event }),
    replace: options.force === true,
    signal: context.signal,
    onNotice: (notice) => context.print.note(`note: ${toPrintable(notice)}`),
  });
  if (context.flags.json !== true) {
    context.print.out(formatVerdict(await redactObject(verdict, context.flags)));
  }
  return reportRecorded(context, file, verdict.effect);
}

/** Records a traced event with its result as a case. */
function recordFromTrace(
  context: CommandContext,
  options: TestOptions,
  id: string,
): Promise<ExitCode> {
  const directory = requireDirectory(options);
  return withHost(context, async ({ workspaceRoots, surroundings }) => {
    const roots = options.all === true ? null : workspaceRoots;
    const stored = await withStore(context, (store) => readStoredEvent(store, id, roots));
    const placeholders = new Map([
      ['$WORKSPACE', workspaceRoots[0] ?? surroundings.cwd],
      ...(surroundings.home === null ? [] : [['$HOME', surroundings.home] as const]),
    ]);
    const file = recordStored(directory, stored, placeholders, options.force === true);
    context.print.note(`note: recorded from ${toPrintable(stored.origin)}`);
    for (const note of stored.notes) context.print.note(`note: ${note}`);
    return reportRecorded(context, file, stored.answer.effect);
  });
}

function requireDirectory({ dir }: TestOptions): string {
  if (dir !== undefined) return resolveDirectory(dir);
  throw new HooklineError('USAGE_INVALID', {
    message: 'missing case directory',
    hint: 'For example: `hookline hooks test hook-tests/my-case --record PreToolUse`.',
  });
}

function reportRecorded({ flags, print }: CommandContext, file: string, effect: string): ExitCode {
  if (flags.json === true) print.json({ file, effect });
  else print.out(`Recorded ${file}; run it with \`hookline hooks test ${path.dirname(file)}\`.`);
  return EXIT.fine;
}
