import {
  type BigIntStats,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { isSameState } from '../../base/file-state.ts';
import { findRealPath, isInside } from '../../base/paths.ts';
import { RUN, SOCKET_VARIABLES } from './places.ts';

/** Directories for sockets, as their programs call them in /tmp. */
const SOCKET_DIRECTORIES =
  /^(?:tmux-|ssh-|dbus-|gpg-|keyring-|emacs\d|screen|uscreens|\.X11-unix$|\.ICE-unix$|vscode-|nvim|zellij-|podman-|runtime-)/;

/**
 * Lists sockets outside of /run: all that lie in the directories for temporary files and in any
 * directory in which the kernel says that one was bound, because a socket may have another name since;
 * and those that variables name.
 */
export class SocketLister {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #temporary = [...new Set(['/tmp', tmpdir()])];
  readonly #listings = new Map<string, DirectoryListing>();
  readonly #relative = new RelativeNames();

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = env;
  }

  list(): readonly string[] {
    const bound = readBoundSockets();
    const names = [
      ...bound.flatMap(({ name }) => (path.isAbsolute(name) ? name : [])),
      ...this.#relative.resolve(bound.filter(({ name }) => !path.isAbsolute(name))),
    ];
    const named = SOCKET_VARIABLES.flatMap((name) => findSocket(this.#env[name] ?? '') ?? []);
    const directories = new Set([...this.#temporary, ...names.map((name) => path.dirname(name))]);
    const listed = [...directories].flatMap((directory) => this.#listIn(directory, names));
    return [...new Set([...listed, ...named])];
  }

  /** A directory may have many entries, and is read again only when it changed. */
  #listIn(directory: string, names: readonly string[]): readonly string[] {
    const real = findRealPath(directory);
    if (real === null || isInside(RUN, real)) return [];
    const state = statSync(real, { bigint: true, throwIfNoEntry: false }) ?? null;
    const known = this.#listings.get(real);
    if (known !== undefined && !known.isRacy && isSameState(known.state, state)) return known.found;
    const found = listSockets(real, this.#temporary.includes(directory));
    // What cannot be listed may still be entered by those who know a name.
    if (found === null) return findIn(directory, names);
    const isRacy = state === null || systemClock.now() - Number(state.mtimeMs) < RACY_MS;
    this.#listings.set(real, { state, found, isRacy });
    return found;
  }
}

/** Within one tick of the file system's clock a second change leaves the time as it is. */
const RACY_MS = 50;

interface DirectoryListing {
  readonly state: BigIntStats | null;
  readonly found: readonly string[];
  readonly isRacy: boolean;
}

/** Null when the directory cannot be listed. */
function listSockets(directory: string, isTemporary: boolean): readonly string[] | null {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isSocket() || (isTemporary && SOCKET_DIRECTORIES.test(entry.name)))
      .flatMap((entry) => findRealPath(path.join(directory, entry.name)) ?? []);
  } catch {
    return null;
  }
}

function findIn(directory: string, names: readonly string[]): readonly string[] {
  return names
    .filter((name) => path.dirname(name) === directory && isSocket(name))
    .flatMap((name) => findRealPath(name) ?? []);
}

/**
 * Finds where sockets lie that were bound by a name relative to a directory of their owner, for which
 * it looks once for each socket: when it is first listed, its owner has mostly not moved yet.
 */
class RelativeNames {
  #files = new Map<string, string | null>();

  resolve(sockets: readonly BoundSocket[]): readonly string[] {
    const unknown = sockets.filter(({ inode }) => !this.#files.has(inode));
    const owners = unknown.length === 0 ? NO_OWNERS : findOwners(unknown);
    this.#files = new Map(
      sockets.map(({ inode, name }) => {
        const directory = owners.get(inode);
        const file = directory === undefined ? null : path.join(directory, name);
        return [inode, this.#files.get(inode) ?? file];
      }),
    );
    return [...this.#files.values()].flatMap((file) => file ?? []);
  }
}

const NO_OWNERS: ReadonlyMap<string, string> = new Map();

/** The current directories of the processes that have these sockets open, by inode. */
function findOwners(sockets: readonly BoundSocket[]): ReadonlyMap<string, string> {
  const inodes = new Set(sockets.map(({ inode }) => inode));
  const owners = new Map<string, string>();
  for (const pid of listNames('/proc').filter((name) => /^\d+$/.test(name))) {
    const descriptors = `/proc/${pid}/fd`;
    for (const descriptor of listNames(descriptors)) {
      const [, inode = ''] =
        /^socket:\[(\d+)\]$/.exec(readLink(`${descriptors}/${descriptor}`)) ?? [];
      const directory = inodes.has(inode) ? readLink(`/proc/${pid}/cwd`) : '';
      if (directory !== '') owners.set(inode, directory);
    }
    if (owners.size === inodes.size) break;
  }
  return owners;
}

function listNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function readLink(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}

/** The socket that a variable names: `unix:path=/x,guid=…`, `unix:///x`, `/x,1,0` or `/x`; null when none is there. */
export function findSocket(value: string): string | null {
  const [, file] = /(?:^|=|:\/\/|^unix:)(\/[^,;]*)/.exec(value) ?? [];
  return file !== undefined && isSocket(file) ? findRealPath(file) : null;
}

function isSocket(file: string): boolean {
  try {
    return lstatSync(findRealPath(file) ?? file).isSocket();
  } catch {
    return false;
  }
}

interface BoundSocket {
  readonly inode: string;
  readonly name: string;
}

// Number, references, protocol, flags, type, state, inode, name.
const BOUND_SOCKET = /^\S+ \S+ \S+ (\S+) (\S+) \S+ +(\d+) ([^@].*)$/gm;
const DATAGRAM = '0002';
const LISTENS = 0x10000;

/**
 * What others can connect or send to in this network namespace; names that start with @ are no files.
 * An accepted connection has the name of its listener.
 */
function readBoundSockets(): readonly BoundSocket[] {
  try {
    const lines = readFileSync('/proc/net/unix', 'utf8').matchAll(BOUND_SOCKET);
    return [...lines]
      .map(([, flags = '', type, inode = '', name = '']) => ({ flags, type, inode, name }))
      .filter(
        ({ flags, type, name }) =>
          path.isAbsolute(name) ||
          type === DATAGRAM ||
          (Number.parseInt(flags, 16) & LISTENS) !== 0,
      );
  } catch {
    return [];
  }
}
