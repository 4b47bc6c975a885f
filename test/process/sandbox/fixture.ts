import { chmodSync, lchownSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { runProgram, type ProgramResult } from '../../../src/process/run.ts';
import {
  createSandboxLauncher,
  type SandboxLauncher,
} from '../../../src/process/sandbox/create-sandbox.ts';
import { probeSandbox } from '../../../src/process/sandbox/probe.ts';
import type { SandboxProfile } from '../../../src/process/sandbox/profile.ts';
import type { SpawnRequest } from '../../../src/process/spawn.ts';
import { createDirectory } from '../../base/directory.ts';

/** A user without any right, because file modes stop nothing as root. */
const NOBODY = 65_534;

export type User = 'as it is' | 'dropped';

/** Only root can drop its rights; any other user has none to drop. */
export const USERS: readonly User[] =
  process.getuid?.() === 0 ? ['as it is', 'dropped'] : ['as it is'];

export interface SandboxFixture {
  readonly workspace: string;
  /** Beside the workspace. */
  readonly outside: string;
  readonly profile: SandboxProfile;
  readonly launcher: SandboxLauncher;
  /** Makes one of another session. */
  createLauncher(): SandboxLauncher;
  /** Runs a command of bash in the sandbox, in the workspace. */
  run(command: string, changes?: Partial<SandboxProfile>): Promise<Ran>;
}

export interface Ran {
  readonly text: string;
  readonly exitCode: number | null;
  readonly mountCount: number;
}

/**
 * A workspace with these files, and a launcher with a state directory of its own; `bubblewrap` makes a program
 * to be started in place of bubblewrap.
 */
export async function createSandboxFixture(
  files: Readonly<Record<string, string>> = {},
  user: User = 'as it is',
  bubblewrap?: (workspace: string) => string,
): Promise<SandboxFixture> {
  const base = createDirectory({ 'outside/notes.txt': 'beside', ...prefix('work', files) });
  const workspace = path.join(base, 'work');
  const temporaryDirectory = path.join(base, 'tmp');
  for (const each of [workspace, temporaryDirectory]) mkdirSync(each, { recursive: true });
  chmodSync(base, 0o755);
  if (user === 'dropped') giveAway(base);
  const probe = await probeSandbox({
    platform: 'linux',
    path: undefined,
    untrusted: [],
    places: [],
  });
  if (!probe.works) throw new Error(`${probe.why} ${probe.hint ?? ''}`);
  const createLauncher = (): SandboxLauncher =>
    createSandboxLauncher({
      probe: bubblewrap === undefined ? probe : { ...probe, file: bubblewrap(workspace) },
      directory: path.join(base, 'state'),
      nodePath: process.execPath,
    });
  const launcher = createLauncher();
  chmodSync(base, 0o755);
  const profile: SandboxProfile = {
    name: 'workspace',
    writable: [workspace],
    protected: [],
    hidden: [],
    sockets: [],
    emptied: [],
    readable: [],
    network: 'on',
    temporaryDirectory,
    overlay: null,
    removedVariables: [],
    addedVariables: {},
  };
  return {
    workspace,
    outside: path.join(base, 'outside'),
    profile,
    launcher,
    createLauncher,
    async run(command, changes = {}) {
      const env = {
        PATH: process.env['PATH'] ?? '/usr/bin:/bin',
        HOME: path.join(base, 'home'),
        GONE: 'there',
      };
      const request = { file: '/bin/bash', args: ['-c', command], cwd: workspace, env };
      const sandboxed = launcher.prepare(request, { ...profile, ...changes });
      if (typeof sandboxed === 'string') throw new Error(sandboxed);
      chmodSync(path.join(base, 'state'), 0o711);
      const program = user === 'dropped' ? dropRights(sandboxed.program) : sandboxed.program;
      const result = await runProgram(
        { ...program, stdin: '', opensStdin: true, timeoutMs: 240_000 },
        { onStart: sandboxed.track },
      );
      sandboxed.release();
      return { ...toRan(result), mountCount: sandboxed.mountCount };
    },
  };
}

function prefix(directory: string, files: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => [`${directory}/${name}`, text]),
  );
}

function dropRights(program: SpawnRequest): SpawnRequest {
  const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
  return { ...program, file: 'setpriv', args: [...user, program.file, ...program.args] };
}

function giveAway(file: string): void {
  lchownSync(file, NOBODY, NOBODY);
  for (const entry of readdirSync(file, { withFileTypes: true })) {
    const child = path.join(file, entry.name);
    if (entry.isDirectory()) giveAway(child);
    else lchownSync(child, NOBODY, NOBODY);
  }
}

function toRan({ stdout, stderr, exitCode, ending }: ProgramResult): Omit<Ran, 'mountCount'> {
  expect(ending).toBe('exit');
  return { text: `${stdout.text}${stderr.text}`.trim(), exitCode };
}
