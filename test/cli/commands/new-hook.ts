import { expect, vi } from 'vitest';
import { type NewOptions, writeNewHook } from '../../../src/cli/commands/hooks-new.ts';
import type { GlobalFlags } from '../../../src/cli/context.ts';
import { createTempWorkspace, type TempWorkspace } from '../../dialects/template-fixture.ts';

/** A new place whose home is this process's own until `vi.unstubAllEnvs`. */
export function enterNewWorkspace(): TempWorkspace {
  const workspace = createTempWorkspace();
  vi.stubEnv('HOME', workspace.home);
  for (const name of Object.keys(process.env)) {
    if (/^(?:HOOKLINE|CLINE)_/u.test(name)) vi.stubEnv(name, undefined);
  }
  return workspace;
}

export interface NewHookOutput {
  readonly out: string[];
  readonly json: unknown[];
  readonly notes: string[];
}

/** What `hooks new` prints when it succeeds. */
export async function collectNewHookOutput(
  options: NewOptions,
  flags: GlobalFlags,
): Promise<NewHookOutput> {
  const output: NewHookOutput = { out: [], json: [], notes: [] };
  const print = {
    isTerminal: false,
    isStdoutTerminal: false,
    isStdoutClosed: () => false,
    out: (text: string) => output.out.push(text),
    json: (value: unknown) => output.json.push(value),
    jsonLine: (value: unknown) => output.json.push(value),
    note: (text: string) => output.notes.push(text),
    notify: () => undefined,
    progress: () => undefined,
  };
  const { signal } = new AbortController();
  const exitCode = await writeNewHook({ flags, env: process.env, signal, print }, options);
  expect(exitCode).toBe(0);
  return output;
}
