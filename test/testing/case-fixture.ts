import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Surroundings } from '../../src/dialects/machine.ts';
import { readSurroundings } from '../../src/host/surroundings.ts';

export const HOOKS = '.clinerules/hooks';
export const GUARD = `${HOOKS}/PreToolUse`;

export type Files = Readonly<Record<string, string>>;

/** A temporary directory with these files, all executable, removed after the test. */
export function createDirectory(files: Files = {}): string {
  const directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-testing-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) write(directory, name, text);
  return directory;
}

export function write(directory: string, name: string, text: string): string {
  const file = path.join(directory, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

/** A hook that reads its input and answers with this. */
export function createHookScript(answer: unknown): string {
  return `#!/bin/sh\ncat > /dev/null\ncat <<'END'\n${JSON.stringify(answer)}\nEND\n`;
}

/** A case directory: a case.json and further files. */
export function createCase(fields: object, files: Files = {}): string {
  return createDirectory({ 'case.json': JSON.stringify(fields), ...files });
}

/** This machine with another home, so that no personal hooks and no record are found. */
export function surroundingsWith(home: string, cwd = home): Surroundings {
  const { HOOKLINE_HOME: _state, ...env } = process.env;
  return { ...readSurroundings(), cwd, home, env: { ...env, HOME: home } };
}
