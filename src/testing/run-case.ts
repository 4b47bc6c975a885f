import { isFile, readTextIfPresent } from '../base/files.ts';
import path from 'node:path';
import { systemClock } from '../base/clock.ts';
import { dropUndefined } from '../base/defined.ts';
import { isRecord } from '../base/json.ts';
import { findRealPath, isInside } from '../base/paths.ts';
import type { Surroundings } from '../dialects/machine.ts';
import { getStateDirectory, readSurroundings } from '../host/surroundings.ts';
import { createLazyClaim } from '../trust/claims.ts';
import { createHost, type Host } from '../host/create-host.ts';
import type { HookSearch } from '../host/open-hooks.ts';
import type { Verdict } from '../hooks/decision.ts';
import { createProgramFinder } from '../process/program-finder.ts';
import type { HookCase } from './case.ts';
import { parseExpectation } from './case-fields.ts';
import { listWithheldHooks, findReasonsToWithhold } from './case-trust.ts';
import {
  type Difference,
  fillPlaceholders,
  findDifferences,
  type Placeholders,
  formatDifference,
} from './expectation.ts';
import { type FireDescription, resolveEvent } from './resolve-event.ts';
import { createTempWorkspace } from './temp-workspace.ts';
import { AssertionError } from 'node:assert';

/** The workspace for cases without their own directories, and the trust that lets hooks run. */
export interface RunCaseOptions extends HookSearch {
  readonly signal?: AbortSignal;
  readonly onNotice?: (notice: string) => void;
}

export interface CaseResult {
  readonly name: string;
  readonly passed: boolean;
  readonly differences: readonly Difference[];
  /** Why it was not run, or null. */
  readonly skipped: string | null;
  /** Null when nothing was fired. */
  readonly verdict: Verdict | null;
  readonly durationMs: number;
}

/** Fires the case's event at its hooks and compares the verdict. Rejects only when `signal` aborts. */
export async function runCase(
  hookCase: HookCase,
  options: RunCaseOptions = {},
): Promise<CaseResult> {
  const clock = options.clock ?? systemClock;
  const startedAt = clock.elapsed();
  const result = await examineCase(hookCase, options);
  const passed = result.skipped === null && result.differences.length === 0;
  return { name: hookCase.name, passed, ...result, durationMs: clock.elapsed() - startedAt };
}

async function examineCase(
  hookCase: HookCase,
  options: RunCaseOptions,
): Promise<Pick<CaseResult, 'differences' | 'skipped' | 'verdict'>> {
  const missing = findMissingPrograms(hookCase, options.surroundings ?? readSurroundings());
  if (missing !== null) return { differences: [], skipped: missing, verdict: null };
  const withheld = findReasonsToWithhold(hookCase, options);
  if (withheld.length > 0) return { differences: withheld, skipped: null, verdict: null };
  return withCaseHost(hookCase, options, async (caseHost) => {
    const verdict = await fireAt(caseHost, hookCase.fire, options.signal);
    return {
      differences: findCaseDifferences(hookCase, caseHost, verdict),
      skipped: null,
      verdict,
    };
  });
}

function findMissingPrograms({ needs, env }: HookCase, surroundings: Surroundings): string | null {
  const find = createProgramFinder(env['PATH'] ?? surroundings.env['PATH'], surroundings.platform);
  const missing = needs.filter((name) => find(name) === null);
  return missing.length === 0 ? null : `needs ${missing.join(', ')}`;
}

/** The opened hooks of a case, and the placeholders for their directories. */
interface CaseHost {
  readonly host: Host;
  readonly placeholders: Placeholders;
  /** The copy of the case's own directories; null in the real workspace. */
  readonly copyDirectory: string | null;
}

/** Opens the hooks that a case is about, in a copy of its own directories if it has some. */
export async function withCaseHost<Result>(
  hookCase: Pick<HookCase, 'own' | 'env' | 'settings'>,
  options: RunCaseOptions,
  work: (caseHost: CaseHost) => Promise<Result>,
): Promise<Result> {
  const { own } = hookCase;
  const surroundings = options.surroundings ?? readSurroundings();
  if (own === null) return withRealHost(hookCase, { ...options, surroundings }, work);
  const workspace = await createTempWorkspace(own, surroundings);
  // The hooks of the copy could still name the user's own home.
  const claim = createLazyClaim(getStateDirectory(surroundings));
  claim.hold();
  try {
    const { roots, directory, placeholders } = workspace;
    const env = fillVariables(hookCase.env, placeholders);
    const host = await createHost({
      cwd: workspace.surroundings.cwd,
      roots,
      surroundings: { ...workspace.surroundings, env: { ...workspace.surroundings.env, ...env } },
      // Trust was checked at the real place of the hooks; the copy is not in the record.
      trust: 'all',
      flags: { ...hookCase.settings, ...options.flags, 'trace.enabled': false },
      ...dropUndefined({ clock: options.clock }),
    });
    return await runAndDispose(host, () => work({ host, placeholders, copyDirectory: directory }));
  } finally {
    claim.release();
    await workspace.remove();
  }
}

async function withRealHost<Result>(
  { env, settings }: Pick<HookCase, 'env' | 'settings'>,
  { surroundings, ...options }: RunCaseOptions & { readonly surroundings: Surroundings },
  work: (caseHost: CaseHost) => Promise<Result>,
): Promise<Result> {
  const host = await createHost({
    ...options,
    surroundings: { ...surroundings, env: { ...surroundings.env, ...env } },
    flags: { ...settings, ...options.flags, 'trace.enabled': false },
  });
  const placeholders = new Map([
    ['$WORKSPACE', host.workspaceRoots[0] ?? surroundings.cwd],
    ...(surroundings.home === null ? [] : [['$HOME', surroundings.home] as const]),
  ]);
  return runAndDispose(host, () => work({ host, placeholders, copyDirectory: null }));
}

async function runAndDispose<Result>(host: Host, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } finally {
    await host.dispose();
  }
}

function fillVariables(
  env: Readonly<Record<string, string>>,
  placeholders: Placeholders,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, fillPlaceholders(value, placeholders)]),
  );
}

/** Fires the described event, with `$WORKSPACE` and `$ROOT_…` in it replaced. */
export async function fireAt(
  { host, placeholders }: CaseHost,
  fire: FireDescription,
  signal: AbortSignal | undefined,
): Promise<Verdict> {
  // `$HOME` stays: in a command it is meant for the shell.
  const places = new Map([...placeholders].filter(([name]) => name !== '$HOME'));
  const event = resolveEvent(fire);
  const filled = mapTexts(event, (text) => fillPlaceholders(text, places));
  const verdict = await host.engine.dispatch(
    { ...event, ...(isRecord(filled) ? filled : {}) },
    dropUndefined({ signal }),
  );
  await host.engine.idle();
  return verdict;
}

export function mapTexts(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === 'string') return fill(value);
  if (Array.isArray(value)) return value.map((each: unknown) => mapTexts(each, fill));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, mapTexts(each, fill)]),
  );
}

function findCaseDifferences(
  hookCase: HookCase,
  caseHost: CaseHost,
  verdict: Verdict,
): readonly Difference[] {
  const { expect } = hookCase;
  const withheld = 'skipped' in expect ? [] : listWithheldHooks(verdict.skipped);
  const found = {
    ...toPlainVerdict(verdict),
    hooks: describeHooks(caseHost.host),
    ignored: caseHost.host.ignored(),
    files: readFiles(expect['files'], caseHost),
  };
  return [...withheld, ...findDifferences(expect, found, caseHost.placeholders)];
}

/** Converts the verdict to the form that `hooks fire --json` prints. */
function toPlainVerdict(verdict: Verdict): Readonly<Record<string, unknown>> {
  const outcomes = verdict.outcomes.map(({ decision: _decision, ...fields }) => fields);
  return { ...verdict, outcomes };
}

function describeHooks(host: Host): readonly unknown[] {
  return host.hooks().map(({ hook, state, why, timeoutMs, onFailure }) => ({
    ...hook.details,
    id: hook.id,
    event: hook.eventName,
    path: hook.path,
    place: hook.place,
    state,
    why,
    timeoutMs,
    onFailure,
    notes: hook.notes,
    problem: hook.problem,
  }));
}

/** The contents of the expected files, by the name that the case uses. */
function readFiles(expected: unknown, caseHost: CaseHost): Readonly<Record<string, string | null>> {
  const names = typeof expected === 'object' && expected !== null ? Object.keys(expected) : [];
  return Object.fromEntries(names.map((name) => [name, readOwnFile(name, caseHost)]));
}

/** Null when there is none; a file outside of the copy is never shown. */
function readOwnFile(name: string, { placeholders, copyDirectory }: CaseHost): string | null {
  const file = findRealPath(path.resolve(fillPlaceholders(name, placeholders)));
  if (copyDirectory === null || file === null || !isInside(copyDirectory, file)) return null;
  return isFile(file) ? readTextIfPresent(file) : null;
}

/** Part of a verdict as `expect` of a case.json writes it: `{ effect: 'deny', reasons: ['no'] }`. */
export type ExpectedDecision = Readonly<Record<string, unknown>>;

/** Throws an AssertionError that lists every difference; any test runner shows it. */
export function expectDecision(verdict: Verdict, expected: ExpectedDecision): void {
  const found = toPlainVerdict(verdict);
  const differences = findDifferences(parseExpectation(expected, 'expectDecision'), found);
  if (differences.length === 0) return;
  const lines = differences.map((difference) => `  ${formatDifference(difference)}`);
  throw new AssertionError({
    message: `${verdict.event} did not match the expectation:\n${lines.join('\n')}`,
    actual: found,
    expected,
    operator: 'expectDecision',
    stackStartFn: expectDecision,
  });
}
