import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { TrustUnit } from '../../src/trust/collect-unit.ts';
import type { TrustFiles } from '../../src/trust/record-seal.ts';
import { TrustChecker, type TrustSources } from '../../src/trust/trust-checker.ts';

export const HOOKS = '.clinerules/hooks';
export const GUARD = `${HOOKS}/PreToolUse`;

/** The trust record of this home, and its key. */
export function trustFilesOf(home: string): TrustFiles {
  return {
    record: path.join(home, '.hookline/trust.json'),
    key: path.join(home, '.local/state/hookline/trust.key'),
  };
}

/** A temporary directory with these files, removed after the test. */
export function createDirectory(files: Readonly<Record<string, string>> = {}): string {
  const directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-trust-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) write(directory, name, text);
  return directory;
}

export function write(directory: string, name: string, text: string): void {
  const file = path.join(directory, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Two changes within one tick of the file system's clock carry the same time. */
export function waitForFileClock(): void {
  const probe = path.join(createDirectory(), 'tick');
  const touch = (): bigint => {
    writeFileSync(probe, '');
    return statSync(probe, { bigint: true }).ctimeNs;
  };
  const start = touch();
  while (touch() === start);
}

export function unitOf(root: string, changes: Partial<TrustUnit> = {}): TrustUnit {
  return {
    id: 'cline:workspace:PreToolUse',
    root,
    entry: path.join(root, GUARD),
    files: [],
    directories: [path.join(root, HOOKS)],
    ...changes,
  };
}

/** A checker whose record does not change. */
export function createChecker({
  record,
  ...sources
}: Omit<TrustSources, 'readRecord'> & {
  readonly record: ReturnType<TrustSources['readRecord']>;
}): TrustChecker {
  return new TrustChecker({ readRecord: () => record, ...sources });
}
