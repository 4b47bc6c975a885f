import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';

/** A temporary directory with these files, removed after the test. */
export function createDirectory(files: Readonly<Record<string, string>> = {}): string {
  const directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  for (const [name, text] of Object.entries(files)) write(path.join(directory, name), text);
  return directory;
}

export function write(file: string, text: string, mode?: number): string {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text, mode === undefined ? {} : { mode });
  return file;
}

/** Shorter than the limit of a test, so that a failure says what was waited for. */
const WAIT_LIMIT_MS = 240_000;

/** Waits for a condition that becomes true by itself, never for a time. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(async () => expect(await condition()).toBe(true));
}

/** Waits until a check passes that fails at first; its value is what the check returned. */
export function eventually<Result>(
  check: () => Result | Promise<Result>,
  intervalMs = 10,
): Promise<Result> {
  return vi.waitFor(check, { timeout: WAIT_LIMIT_MS, interval: intervalMs });
}

/**
 * Gives what is cut short by a time limit a longer one until it got as far as the test needs, for
 * which a busy machine may need longer than a quiet one.
 */
export async function withEnoughTime<Result>(
  firstLimitMs: number,
  run: (limitMs: number) => Promise<Result>,
  isEnough: (result: Result) => boolean,
): Promise<Result> {
  for (let limitMs = firstLimitMs; ; limitMs *= 4) {
    const result = await run(limitMs);
    if (isEnough(result) || limitMs > LONGEST_LIMIT_MS) return result;
  }
}

const LONGEST_LIMIT_MS = 30_000;
