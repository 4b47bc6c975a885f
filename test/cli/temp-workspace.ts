import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { environmentOf, hooklineProgram, type HooklineOptions } from './hookline.ts';

/** A temporary home and a repository beside it. */
export interface TempWorkspace {
  readonly directory: string;
  readonly home: string;
  readonly repo: string;
}

export const HOOKS = '.clinerules/hooks';
export const GLOBAL_HOOKS = 'Documents/Cline/Hooks';
export const PRE_TOOL_USE = 'cline:workspace:PreToolUse';

/** A place with these files in its repository, removed after the test. */
export function createTempWorkspace(files: Readonly<Record<string, string>> = {}): TempWorkspace {
  const directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-cli-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const workspace = {
    directory,
    home: path.join(directory, 'home'),
    repo: path.join(directory, 'repo'),
  };
  mkdirSync(workspace.home);
  mkdirSync(path.join(workspace.repo, '.git'), { recursive: true });
  for (const [name, text] of Object.entries(files)) write(workspace.repo, name, text);
  return workspace;
}

/** Every file is executable: most are hooks, and it harms no other. */
export function write(directory: string, name: string, text: string | Uint8Array): string {
  const file = path.join(directory, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

export function at(
  { repo, home }: TempWorkspace,
  more: Partial<HooklineOptions> = {},
): HooklineOptions {
  return { cwd: repo, home, ...more };
}

/** A hook that reads its input and answers with this. */
export function answering(answer: unknown): string {
  const text = JSON.stringify(answer).replaceAll("'", String.raw`'\''`);
  return `#!/bin/sh\ncat > /dev/null\nprintf '%s' '${text}'\n`;
}

/** A hook in Node, given the payload as \`input\`. */
export function nodeHook(body: string): string {
  return `#!/usr/bin/env node
const input = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
${body}
`;
}

/** Trusts all hooks of the repository, without looking. */
export function trust({ repo, home }: TempWorkspace, args: readonly string[] = []): void {
  const { status, stderr } = spawnSync(
    process.execPath,
    [hooklineProgram(), 'trust', '--yes', ...args],
    { cwd: repo, env: environmentOf({ home }), encoding: 'utf8' },
  );
  if (status !== 0) throw new TrustFailed(stderr);
}

class TrustFailed extends Error {
  override readonly name = 'TrustFailed';
}

export const isRoot = process.getuid?.() === 0;
export const NOBODY = 65_534;

export function hasProgram(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
}
