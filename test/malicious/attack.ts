import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import type { HooklineOptions } from '../cli/hookline.ts';
import { createTempWorkspace, type TempWorkspace, write } from '../cli/temp-workspace.ts';

/**
 * A repository as an attacker would hand it over: a directory with `attack.json` and the files in
 * `repo/`, and where the attack needs them in `home/` and `outside/`. What happens only after a
 * person trusted the repository lies in `later/`. Every payload writes into the home directory.
 */
export interface Attack {
  readonly about: string;
  readonly mustNot: string;
  /** What git cannot hold or a checkout may lose, by path: `repo/…`, `home/…`, `outside/…`. */
  readonly files?: Readonly<Record<string, string>>;
  readonly links?: Readonly<Record<string, string>>;
  readonly fifos?: readonly string[];
  /** Directories with this many files. */
  readonly crowd?: Readonly<Record<string, number>>;
  readonly env?: Readonly<Record<string, string>>;
  /** What the list of hooks must say (`untrusted` unless given); null when it finds none. */
  readonly says?: string | null;
  /** What must be noted on stderr. */
  readonly notes?: readonly string[];
  /** The exit code of `hooks fire --strict`, 3 unless given. */
  readonly strict?: number;
}

export interface StagedAttack extends TempWorkspace {
  readonly attack: Attack;
  readonly options: HooklineOptions;
}

export const ATTACKS: readonly string[] = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

export function readAttack(name: string): Attack {
  return JSON.parse(readFileSync(path.join(directoryOf(name), 'attack.json'), 'utf8'));
}

/** Copies an attack to a temporary place. */
export function prepareAttack(name: string): StagedAttack {
  const attack = readAttack(name);
  const workspace = createTempWorkspace();
  for (const part of ['repo', 'home', 'outside']) {
    copyPart(name, part, path.join(workspace.directory, part));
  }
  makeState(workspace);
  makeRest(attack, workspace.directory);
  const env = Object.entries(attack.env ?? {}).map(([key, value]) => [
    key,
    value.replace('$REPO', workspace.repo),
  ]);
  const options = { cwd: workspace.repo, home: workspace.home, env: Object.fromEntries(env) };
  return { ...workspace, attack, options };
}

/** Puts what comes after trust into the repository. */
export function continueAttack(name: string, { repo }: TempWorkspace): void {
  copyPart(name, 'later', repo);
}

function directoryOf(name: string): string {
  return path.join(import.meta.dirname, name);
}

function copyPart(name: string, part: string, target: string): void {
  const source = path.join(directoryOf(name), part);
  if (existsSync(source)) cpSync(source, target, { recursive: true, force: true });
}

// The record's directory must be closed to others, whatever the umask of the checkout was.
function makeState({ home }: TempWorkspace): void {
  const state = path.join(home, '.hookline');
  if (existsSync(state)) chmodSync(state, 0o700);
}

function makeRest({ files, links, fifos, crowd }: Attack, directory: string): void {
  for (const [name, text] of Object.entries(files ?? {})) writeFreely(directory, name, text);
  for (const [name, target] of Object.entries(links ?? {})) {
    symlinkSync(target, freePath(directory, name));
  }
  for (const name of fifos ?? []) spawnSync('mkfifo', [freePath(directory, name)]);
  for (const [name, count] of Object.entries(crowd ?? {})) {
    for (let number = 0; number < count; number++) write(directory, `${name}/${number}.txt`, '');
  }
}

function writeFreely(directory: string, name: string, text: string): void {
  write(directory, path.relative(directory, freePath(directory, name)), text);
}

/** The path, with its parents made, and with what the plain place had there out of the way. */
function freePath(directory: string, name: string): string {
  const file = path.join(directory, name);
  mkdirSync(path.dirname(file), { recursive: true });
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) rmSync(file, { recursive: true });
  return file;
}

const OWN_STATE = ['.hookline', '.local/state/hookline'];

/** Everything in the home directory but Hookline's own state, with its text. */
export function homeOf({ home }: TempWorkspace): Readonly<Record<string, string>> {
  const files = readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !OWN_STATE.some((own) => file.startsWith(path.join(home, own))));
  return Object.fromEntries(
    files.map((file) => [path.relative(home, file), readFileSync(file, 'utf8')]),
  );
}
