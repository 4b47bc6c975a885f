import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isInside } from '../../base/paths.ts';
import { quoteShellWord } from '../../base/text.ts';
import type { SpawnRequest } from '../spawn.ts';
import type { Mount } from './plan-mounts.ts';

/** What a sandbox that differs from its plan prints, and nothing else. */
export const DIFFERENT_MOUNTS = 'hookline: the sandbox was not made as it was planned\n';

/**
 * Finds out how the kernel must list the mounts of a plan: ` ROOT MOUNTPOINT `. A program in an older sandbox
 * may replace a directory by a link between plan and mount, and bubblewrap follows links: so the mounts
 * in writable places are compared before anything is started. The kernel lists where a mount really
 * comes from and where it really is.
 */
export class MountVerifier {
  #text = '';
  #hostMounts: readonly HostMount[] = [];
  #last: { readonly mounts: readonly Mount[]; readonly expected: readonly string[] } | null = null;

  /** The same mounts mostly follow each other. */
  list(mounts: readonly Mount[], covers: CoverPaths): readonly string[] {
    const text = readFileSync('/proc/self/mountinfo', 'utf8');
    if (text === this.#text && this.#last?.mounts === mounts) return this.#last.expected;
    this.#text = text;
    this.#hostMounts = text.split('\n').flatMap(parseMount);
    const expected = listChecked(mounts).map((mount) => this.#formatLine(mount, covers));
    this.#last = { mounts, expected };
    return expected;
  }

  /** The first place of a plan that a sandbox lists otherwise; null when it has all. */
  findUnlisted(mounts: readonly Mount[], covers: CoverPaths, listed: string): string | null {
    const expected = this.list(mounts, covers);
    const index = expected.findIndex((line) => !listed.includes(line));
    return listChecked(mounts)[index]?.path ?? null;
  }

  #formatLine(mount: Mount, covers: CoverPaths): string {
    return ` ${this.#findRoot(mount, covers)} ${escape(mount.path)} `;
  }

  /** The path of what is mounted, in its file system. */
  #findRoot({ kind, path: place, source, isDirectory }: Mount, covers: CoverPaths): string {
    if (kind === 'empty' || kind === 'hollow') return '/';
    const cover = isDirectory === true ? covers.directory : covers.file;
    const file = escape(kind === 'hidden' ? cover : (source ?? place));
    const around = findMountAround(file, this.#hostMounts);
    return path.join(around.root, path.relative(around.place, file));
  }
}

/** Those in writable places: nobody who is in a sandbox can change others. */
function listChecked(mounts: readonly Mount[]): readonly Mount[] {
  const writable = mounts.filter(({ kind }) => kind === 'writable').map((mount) => mount.path);
  return mounts.filter((mount) => writable.some((place) => isInside(place, mount.path)));
}

interface CoverPaths {
  readonly file: string;
  readonly directory: string;
}

/** Paths as the kernel writes them, with white space as numbers. */
interface HostMount {
  readonly id: string;
  readonly parent: string;
  readonly root: string;
  readonly place: string;
}

const ROOT: HostMount = { id: '', parent: '', root: '/', place: '/' };

function parseMount(line: string): readonly HostMount[] {
  const [id = '', parent = '', , root, place] = line.split(' ');
  return root === undefined || place === undefined ? [] : [{ id, parent, root, place }];
}

/** The mount that a path leads to, found as the kernel does: one that lies under another is listed, but not reached. */
function findMountAround(file: string, mounts: readonly HostMount[]): HostMount {
  const isListed = new Set(mounts.map(({ id }) => id));
  const isFirst = ({ id, parent }: HostMount): boolean => parent === id || !isListed.has(parent);
  let current = mounts.find((mount) => mount.place === '/' && isFirst(mount)) ?? ROOT;
  for (;;) {
    const { id: around } = current;
    const next = mounts
      .filter(
        ({ id, parent, place }) => parent === around && id !== around && isInside(place, file),
      )
      .toSorted((one, other) => one.place.length - other.place.length)[0];
    if (next === undefined) return current;
    current = next;
  }
}

function escape(file: string): string {
  return file.replaceAll(
    /[\\ \t\n]/g,
    (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
}

/**
 * The program, started by a shell that compares the mounts first and ends when they differ. `isBashScript` says
 * that the program is bash with `-c` and a script of ours, which then begins with the comparison. What makes a
 * program load a file is not in the environment of launcher and shell, and given to the program: the loader
 * would read it before anything is confined or compared. Bash is privileged, so that it ignores `BASH_ENV`,
 * options and functions of the environment; its programs get them.
 */
export function startVerified(
  request: SpawnRequest,
  expected: readonly string[],
  isBashScript: boolean,
): SpawnRequest {
  const { env, late } = splitEnvironment(request.env);
  const assignments = late.map(([name, value]) => `${name}=${value}`);
  const [option = '', script = '', ...args] = request.args;
  if (isBashScript) {
    const compare = `for __mount in "\${@:${args.length}}"; do ${COMPARE}; done; unset __mounts __mount`;
    const exports = assignments.map((word) => `export ${quoteShellWord(word)}; `).join('');
    const text = `${READ_IN_BASH}; ${compare}; ${exports}${script}`;
    return { ...request, env, args: ['-p', option, text, ...args, ...expected] };
  }
  const program = [request.file, ...request.args];
  const words = [...expected, '', ...assignments, '', ...program];
  return { ...request, env, file: '/bin/sh', args: ['-c', IN_SH, 'sh', ...words] };
}

/** Variables that the system's loader reads. */
const OF_LOADER = /^(?:LD_\w+|GCONV_PATH)$/;

function splitEnvironment(env: SpawnRequest['env']) {
  const entries = Object.entries(env);
  const late = entries.filter(([name]) => OF_LOADER.test(name));
  const early = entries.filter(([name]) => !OF_LOADER.test(name));
  return { env: late.length === 0 ? env : Object.fromEntries(early), late };
}

const FAIL = `printf %s ${quoteShellWord(DIFFERENT_MOUNTS)} >&2; exit 1`;
const COMPARE = `case $__mounts in *"$__mount"*) ;; *) ${FAIL} ;; esac`;
// Without another process.
const READ_IN_BASH = `mapfile __mounts < /proc/self/mountinfo; __mounts="\${__mounts[*]}"`;
/** Words up to an empty one are mounts, and up to the next one variables. */
const IN_SH = [
  '__mounts=$(cat /proc/self/mountinfo)',
  `while [ -n "$1" ]; do __mount=$1; ${COMPARE}; shift; done`,
  'unset __mounts __mount',
  'shift',
  'while [ -n "$1" ]; do export "$1"; shift; done',
  'shift',
  'exec "$@"',
].join('\n');
