import path from 'node:path';
import { memoizePerObject } from '../../base/memoize.ts';
import { FileMemo, type ObservedFiles } from '../../base/observed-files.ts';
import { findRealPath, isInside } from '../../base/paths.ts';
import { DIALECTS } from '../../dialects/index.ts';
import type { DeniedFiles, Permissions, SandboxAccess } from '../../permissions/permissions.ts';
import { expandHome } from '../../permissions/rules/home-path.ts';
import type { HostProxy } from '../../process/sandbox/host-proxy.ts';
import type {
  ProtectedPlace,
  SandboxProfile,
  SandboxProfileName,
} from '../../process/sandbox/profile.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import { listProtectedDirectories } from '../open-permissions.ts';
import { findGitPlaces } from './git-places.ts';
import { findLimitedNetwork, LimitedPlaces } from './limits.ts';
import {
  CACHES,
  findRunPlaces,
  HIDDEN_IN_HOME,
  isProgramDirectory,
  SOCKET_VARIABLES,
} from './places.ts';
import { findSocket, SocketLister } from './socket-lister.ts';

/** What a sandbox is made of: the machine, the settings, and who may do what in the session. */
export interface SandboxParts {
  readonly opened: OpenedHooks;
  /** Null for hooks, to which no rules apply. */
  readonly permissions: Pick<Permissions, 'directories' | 'deniedFiles' | 'deniedReads'> | null;
}

/** The directories that a session made for its commands. */
export interface SandboxDirectories {
  /** Holds the scripts of commands and the socket of the proxy; commands can only read it. */
  readonly own: string;
  /** In that one, writable, and known to commands as TMPDIR. */
  readonly temporary: string;
}

/** Builds the profile of each command, because rules, directories and files change between them. */
export class ProfileBuilder {
  readonly #parts: SandboxParts;
  readonly #directories: SandboxDirectories;
  readonly #home: string | null;
  readonly #proxy: HostProxy | null;
  readonly #limitedPlaces = new LimitedPlaces();
  readonly #sockets: SocketLister;
  readonly #lasting = new FileMemo<LastingPlaces>();
  readonly #listElsewhere: (hooks: object) => readonly string[];

  constructor(parts: SandboxParts, directories: SandboxDirectories, proxy: HostProxy | null) {
    this.#proxy = proxy;
    this.#parts = parts;
    this.#directories = directories;
    const { home, env } = parts.opened.surroundings;
    this.#sockets = new SocketLister(env);
    this.#home = home === null ? null : findRealPath(home);
    this.#listElsewhere = memoizePerObject(() => listProtectedDirectories(parts.opened));
  }

  /** A string says why a deny rule could not be kept. */
  build(cwd: string, name: SandboxProfileName, access: SandboxAccess): SandboxProfile | string {
    const { opened } = this.#parts;
    const places = this.#findLastingPlaces();
    const denied = this.listDenied(cwd);
    if (denied.unlisted.length > 0 && !access.isIncomplete) return describeUnlisted(denied);
    const own = [...places.writable, this.#directories.own];
    const sockets = this.#sockets
      .list()
      .filter((file) => !own.some((area) => isInside(area, file)));
    const opening = this.#findOpenings(access);
    const limits = opened.hookSet.sandboxLimits();
    const hidden = [
      ...places.hidden.filter((file) => !opening.isOpen(file)),
      ...listReal(denied.reads),
    ];
    const ownDirectory = this.#directories.own;
    // A rule for /tmp would hide the scripts of commands.
    const isOwnHidden = hidden.some((file) => isInside(file, ownDirectory));
    return {
      name,
      writable: places.writable,
      protected: [
        ...places.protected.filter(({ path: place }) => !access.changeable.includes(place)),
        ...[...listReal(denied.edits), ...listAbsent(denied.absentEdits)].map((file) => ({
          path: file,
        })),
      ],
      hidden,
      sockets: sockets.filter((file) => !opening.isOpen(file)),
      emptied: places.emptied,
      readable: [...places.readable, ...opening.sockets, ...(isOwnHidden ? [ownDirectory] : [])],
      network: name === 'read-only' ? 'off' : this.#findNetwork(),
      temporaryDirectory: this.#directories.temporary,
      overlay: null,
      removedVariables: [
        ...SOCKET_VARIABLES.filter((variable) => !access.variables.includes(variable)),
        ...limits.flatMap(({ removedVariables }) => removedVariables),
      ],
      addedVariables: places.cacheVariables,
    };
  }

  /** What rules and settings files deny to commands; hooks have the user's rights. */
  listDenied(cwd: string): DeniedFiles {
    const { opened, permissions } = this.#parts;
    if (permissions === null) return NOTHING_DENIED;
    const areas = this.#listAreas(permissions.directories(), findRealPath);
    const denied = permissions.deniedFiles(cwd, areas);
    const limited = this.#limitedPlaces.list(opened);
    return {
      reads: [...denied.reads, ...limited.reads],
      edits: [...denied.edits, ...limited.edits],
      absentEdits: [...denied.absentEdits, ...limited.absentEdits],
      unlisted: [...denied.unlisted, ...limited.unlisted],
    };
  }

  /** The configurations of submodules, which are protected. */
  listSubmoduleConfigurations(): readonly string[] {
    return this.#findLastingPlaces()
      .protected.map((place) => place.path)
      .filter((file) => /\/\.git\/modules\/.+\/config$/.test(file));
  }

  #findOpenings({ readable, variables }: SandboxAccess) {
    const { env } = this.#parts.opened.surroundings;
    const sockets = variables.flatMap((name) => findSocket(env[name] ?? '') ?? []);
    return {
      sockets: [...sockets, ...readable],
      // A directory that is hidden because of its name opens with a socket in it.
      isOpen: (file: string): boolean =>
        readable.some((place) => isInside(place, file)) ||
        sockets.some((socket) => isInside(file, socket)),
    };
  }

  /** The places that the sandbox hides because of what they are, whatever rules say. */
  listHiddenKeys(): readonly string[] {
    return this.#findLastingPlaces().hidden;
  }

  #findLastingPlaces(): LastingPlaces {
    const { opened, permissions } = this.#parts;
    const added = permissions?.directories() ?? [];
    const wishes = opened.config.settings['sandbox.write'];
    const elsewhere = this.#listElsewhere(opened.hookSet.hooks());
    return this.#lasting.compute(JSON.stringify([added, elsewhere]), (files) => {
      const areas = this.#listAreas(added, (file) => files.findRealPath(file));
      const gitPlaces = areas.map((area) => findGitPlaces(area, files));
      const writable = [
        ...areas,
        ...gitPlaces.flatMap((git) => git.writable),
        ...this.#listWritable(wishes, files),
      ];
      return {
        writable,
        protected: [
          ...areas.flatMap((area) => this.#listProtected(area, elsewhere)),
          ...gitPlaces.flatMap((git) => git.protected),
          { path: this.#directories.own },
        ],
        hidden: this.#listHidden(files),
        cacheVariables: this.#listCacheVariables(files),
        ...findRunPlaces(files),
      };
    });
  }

  /** The workspace roots and added directories. */
  #listAreas(
    added: readonly string[],
    findReal: (file: string) => string | null,
  ): readonly string[] {
    const { workspaceRoots } = this.#parts.opened;
    const real = added.flatMap((each) => findReal(each) ?? []);
    return [...workspaceRoots, ...real.filter((each) => !this.#isState(each))];
  }

  /** Output that was too long for the model is stored there; the tools read it, commands do not. */
  #isState(directory: string): boolean {
    const { stateDirectory } = this.#parts.opened;
    return stateDirectory !== null && isInside(stateDirectory, directory);
  }

  #findNetwork(): SandboxProfile['network'] {
    const network = findLimitedNetwork(this.#parts.opened);
    if (network === 'on' || network === 'off') return network;
    return this.#proxy === null ? 'off' : { socket: this.#proxy.socket };
  }

  #listWritable(wishes: readonly string[], files: ObservedFiles): readonly string[] {
    return wishes
      .map((wish) => expandHome(wish, this.#home))
      .filter((wish) => path.isAbsolute(wish))
      .flatMap((wish) => files.findRealPath(wish) ?? [])
      .filter((place) => !isProgramDirectory(place));
  }

  /** What decides what runs: the directories of the agents, and of hooks and plugins elsewhere. */
  #listProtected(area: string, elsewhere: readonly string[]): readonly ProtectedPlace[] {
    const names = new Set(PROTECTED_NAMES.map((name) => name.split('/')[0] ?? name));
    const inArea = [...names].filter((name) => name.startsWith('.') && !IN_HOME_ONLY.has(name));
    const inHome =
      this.#home !== null && isInside(area, this.#home)
        ? PROTECTED_NAMES.map((name) => this.#inHome(name))
        : [];
    const further = elsewhere.filter((file) => isInside(area, file));
    return [...inArea.map((name) => path.join(area, name)), ...inHome, ...further]
      .filter((file) => file !== area)
      .map((file) => ({ path: file }));
  }

  #listHidden(files: ObservedFiles): readonly string[] {
    const { stateDirectory, surroundings } = this.#parts.opened;
    const inHome = this.#home === null ? [] : HIDDEN_IN_HOME.map((name) => this.#inHome(name));
    const xdgState = surroundings.env['XDG_STATE_HOME'];
    const ofHookline = [
      ...(stateDirectory === null ? [] : [stateDirectory, `${stateDirectory}.key`]),
      ...(xdgState === undefined ? [] : [path.join(xdgState, 'hookline')]),
    ];
    return [
      ...new Set([...inHome, ...ofHookline].flatMap((file) => files.findRealPath(file) ?? [])),
    ];
  }

  #inHome(name: string): string {
    return path.join(this.#home ?? '/', name);
  }

  /** A cache that does not exist cannot be made in a read-only home: it becomes a temporary one. */
  #listCacheVariables(files: ObservedFiles): Readonly<Record<string, string>> {
    const { env } = this.#parts.opened.surroundings;
    const missing = CACHES.filter(
      ({ path: name, variable }) =>
        variable !== undefined &&
        env[variable] === undefined &&
        (this.#home === null || files.findRealPath(this.#inHome(name)) === null),
    );
    return Object.fromEntries(
      missing.map(({ path: name, variable = '' }) => [
        variable,
        path.join(this.#directories.temporary, path.basename(name)),
      ]),
    );
  }
}

/** What mostly stays the same from one command to the next. */
interface LastingPlaces extends Pick<
  SandboxProfile,
  'writable' | 'protected' | 'hidden' | 'emptied' | 'readable'
> {
  readonly cacheVariables: Readonly<Record<string, string>>;
}

const NOTHING_DENIED: DeniedFiles = { reads: [], edits: [], absentEdits: [], unlisted: [] };

/** What a command may reach that nobody was asked about. */
export const NO_ACCESS: SandboxAccess = {
  readable: [],
  variables: [],
  changeable: [],
  isIncomplete: false,
};

const PROTECTED_NAMES: readonly string[] = [
  '.hookline',
  ...DIALECTS.flatMap(({ ownPaths }) => ownPaths?.protected ?? [])
    .filter((name) => !name.includes('*'))
    .map((name) => name.replace(/\/$/, '')),
];

/** No agent reads these in a workspace. */
const IN_HOME_ONLY: ReadonlySet<string> = new Set(['.claude.json']);

/** The user is asked before a command runs, unless there were fewer files then. */
function describeUnlisted({ unlisted: [first] }: DeniedFiles): string {
  return `The command was not started: the sandbox must hide the files of the deny rule ${first?.rule}, and they could not all be listed, because ${first?.why}. Call Bash again to ask the user.`;
}

/** The paths by which they would be made. */
function listAbsent(files: readonly string[]): readonly string[] {
  return files.flatMap((file) => {
    const directory = findRealPath(path.dirname(file));
    return directory === null ? [] : path.join(directory, path.basename(file));
  });
}

/** Real paths, because mounts follow links; what does not exist is left out. */
function listReal(files: readonly string[]): readonly string[] {
  return files.flatMap((file) => findRealPath(file) ?? []);
}
