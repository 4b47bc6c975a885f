import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createHost, type Host, type HostOptions } from '../src/host/create-host.ts';
import type { Surroundings } from '../src/dialects/machine.ts';
import { toTrustUnit } from '../src/host/hook-set.ts';
import { bindUnit } from '../src/trust/bind-unit.ts';
import { grantTrust } from '../src/trust/trust-record.ts';

/** A temporary home and workspace. */
export interface TempWorkspace {
  readonly home: string;
  readonly workspace: string;
  readonly surroundings: Surroundings;
  remove(): void;
}

export function createTempWorkspace(): TempWorkspace {
  const directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-bench-')));
  const home = path.join(directory, 'home');
  const workspace = path.join(directory, 'workspace');
  mkdirSync(home);
  mkdirSync(path.join(workspace, '.git'), { recursive: true });
  const { PATH = '', USER = 'bench' } = process.env;
  return {
    home,
    workspace,
    surroundings: {
      cwd: workspace,
      env: { PATH, USER, HOME: home },
      platform: process.platform,
      home,
      nodePath: process.execPath,
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** What a hook of a row does: give back what it read, or read it and say little. */
export type Program = 'echo' | 'answer';

// Small programs that everybody has. Copied, because a hook must be a file of the workspace.
const ORIGINALS = { echo: '/bin/cat', answer: '/usr/bin/cksum' };
const SCRIPTS = { echo: 'exec cat', answer: "cat > /dev/null\necho '{}'" };

/** Writes the smallest program there is of its kind: the less it takes, the more an engine shows. */
export function writeProgram(file: string, kind: Program): void {
  mkdirSync(path.dirname(file), { recursive: true });
  copyFileSync(realpathSync(ORIGINALS[kind]), file);
  chmodSync(file, 0o755);
  const { stdout, status } = spawnSync(file, [], { input: '{}' });
  // Where one program plays many parts it goes by its name, and does not know this one.
  if (status !== 0 || stdout.length === 0) writeScript(file, kind);
}

/** The same as a script, for hosts that start nothing else. */
export function writeScript(file: string, kind: Program): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${SCRIPTS[kind]}\n`, { mode: 0o755 });
}

export async function openHost(place: TempWorkspace, options: HostOptions = {}): Promise<Host> {
  return createHost({ surroundings: place.surroundings, ...options });
}

// Trust remembers the hash of a file only once its times are sure to show the next change.
const FILES_SETTLE_AFTER_MS = 2100;

/** Trusts every hook of the workspace, as `hookline trust` does, and waits until trust is warm. */
export async function trustEverything(
  place: TempWorkspace,
  options: HostOptions = {},
): Promise<void> {
  const host = await openHost(place, options);
  const bindings = host.hooks().map(({ hook }) => bindUnit(toTrustUnit(hook)));
  const { files } = host.trust;
  await host.dispose();
  if (files !== null) await grantTrust(files, bindings, { now: Date.now() });
  await wait(FILES_SETTLE_AFTER_MS);
}
