import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readSurroundings } from '../../src/host/surroundings.ts';
import { createHost, type Host } from '../../src/host/create-host.ts';
import { toTrustUnit } from '../../src/host/hook-set.ts';
import { createProgramFinder } from '../../src/process/program-finder.ts';
import { bindUnit } from '../../src/trust/bind-unit.ts';
import { grantTrust } from '../../src/trust/trust-record.ts';
import { trustFilesOf } from '../trust/workspace.ts';

/** A workspace and a home directory of its own, both temporary. */
export interface TempWorkspace {
  readonly root: string;
  readonly home: string;
  remove(): void;
}

export function createTempWorkspace(): TempWorkspace {
  const directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-new-')));
  const root = path.join(directory, 'a workspace');
  const home = path.join(directory, 'home');
  mkdirSync(root);
  mkdirSync(home);
  write(path.join(root, '.git', 'HEAD'), 'ref: refs/heads/feature/one\n');
  return { root, home, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

export function write(file: string, text: string, mode = 0o644): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, mode);
}

/** Opens the hooks of the place as its owner would, with nothing of this machine's own settings. */
export function openWorkspaceHost(
  { root, home }: TempWorkspace,
  pathVariable?: string,
): Promise<Host> {
  const surroundings = readSurroundings();
  const own = Object.entries(surroundings.env).filter(
    ([name]) => !/^(?:HOOKLINE|CLINE)_/u.test(name),
  );
  const env = { ...Object.fromEntries(own), HOME: home };
  return createHost({
    cwd: root,
    surroundings: {
      ...surroundings,
      cwd: root,
      home,
      env: pathVariable === undefined ? env : { ...env, PATH: pathVariable },
    },
  });
}

/** Trusts these hooks of the workspace, or all, as `hookline trust --yes` would. */
export async function trustWorkspaceHooks(
  workspace: TempWorkspace,
  ids?: readonly string[],
): Promise<void> {
  const host = await openWorkspaceHost(workspace);
  const chosen = host
    .hooks()
    .map(({ hook }) => hook)
    .filter((hook) => hook.place === 'workspace' && (ids === undefined || ids.includes(hook.id)));
  const bindings = chosen.map((hook) => bindUnit(toTrustUnit(hook)));
  await grantTrust(trustFilesOf(workspace.home), bindings, { now: 0 });
  await host.dispose();
}

/** What `hooks list` would print about each hook. */
export async function statesOf(workspace: TempWorkspace): Promise<Record<string, string>> {
  const host = await openWorkspaceHost(workspace);
  const states = host.hooks().map(({ hook, state }) => [hook.id, state] as const);
  await host.dispose();
  return Object.fromEntries(states);
}

const findProgram = createProgramFinder(process.env['PATH'], process.platform);

export function hasPrograms(names: readonly string[]): boolean {
  return names.every((name) => findProgram(name) !== null);
}

export function programPath(name: string): string {
  return findProgram(name) ?? '';
}
