import path from 'node:path';
import { findPathInside, findRealPath, isInside } from '../../base/paths.ts';
import type {
  SandboxAccess,
  SandboxNeed,
  SandboxQuestion,
  UnlistedRule,
} from '../../permissions/permissions.ts';
import { listSandboxNeeds } from '../../permissions/sandbox-needs.ts';
import { createHostGitReader } from '../open-permissions.ts';
import { findSocket } from './socket-lister.ts';
import { NO_ACCESS, type ProfileBuilder, type SandboxParts } from './profile-builder.ts';

/** Finds out for which commands the sandbox must be opened a little, which only the user may allow. */
export class CommandQuestions {
  readonly #parts: SandboxParts;
  readonly #builder: ProfileBuilder;
  readonly #readGit: ReturnType<typeof createHostGitReader>;

  constructor(parts: SandboxParts, builder: ProfileBuilder) {
    this.#parts = parts;
    this.#builder = builder;
    this.#readGit = createHostGitReader(parts.opened);
  }

  find(command: string, cwd: string): SandboxQuestion | null {
    const denied = this.#builder.listDenied(cwd);
    const isDenied = (place: string): boolean =>
      denied.reads.some((each) => isInside(each, place)) || this.#isDeniedByRule(place, cwd);
    const openings = this.#listNeeds(command, cwd).flatMap(
      (need) => this.#findOpening(need, isDenied) ?? [],
    );
    const { unlisted } = denied;
    if (openings.length === 0 && unlisted.length === 0) return null;
    return {
      reason: [
        ...openings.map(({ reason }) => reason),
        ...(unlisted.length === 0 ? [] : [describeUnlisted(unlisted)]),
      ].join(' '),
      hint: unlisted.length > 0 ? UNLISTED_HINT : OPENING_HINT,
      access: {
        readable: [...new Set(openings.flatMap(({ access }) => access.readable))],
        variables: [...new Set(openings.flatMap(({ access }) => access.variables))],
        changeable: [...new Set(openings.flatMap(({ access }) => access.changeable))],
        isIncomplete: unlisted.length > 0,
      },
    };
  }

  /** Whether a rule denies to read a place, or whatever is in it. */
  #isDeniedByRule(place: string, cwd: string): boolean {
    const isDenied = this.#parts.permissions?.deniedReads(cwd) ?? null;
    return isDenied !== null && (isDenied(place) || isDenied(path.join(place, ANY_NAME)));
  }

  #listNeeds(command: string, cwd: string): readonly SandboxNeed[] {
    const { opened, permissions } = this.#parts;
    const directories = [...opened.workspaceRoots, ...(permissions?.directories() ?? [])];
    return listSandboxNeeds(command, {
      cwd,
      home: opened.surroundings.home,
      readGitConfiguration: (directory) => this.#readGit(directory, directories),
    });
  }

  /** Null when nothing of it is there, or a deny rule hides it, which no answer of the user changes. */
  #findOpening(
    need: SandboxNeed,
    isDenied: (place: string) => boolean,
  ): { readonly reason: string; readonly access: SandboxAccess } | null {
    const readable = this.#listHidden(need.places).filter((place) => !isDenied(place));
    const { env, home } = this.#parts.opened.surroundings;
    const variables = need.variables.filter((name) => findSocket(env[name] ?? '') !== null);
    const changeable = need.changesSubmodules ? this.#builder.listSubmoduleConfigurations() : [];
    if (readable.length + variables.length + changeable.length === 0) return null;
    const places = readable.map((place) => formatInHome(place, home));
    return {
      reason: describeOpening(
        need.command,
        [...places, ...variables.map(describeAgent)],
        changeable,
      ),
      access: { ...NO_ACCESS, readable, variables, changeable },
    };
  }

  #listHidden(names: readonly string[]): readonly string[] {
    const { home, env } = this.#parts.opened.surroundings;
    const real = home === null ? null : findRealPath(home);
    const wanted = names.flatMap((name) =>
      real === null ? [] : (findRealPath(path.join(real, name)) ?? []),
    );
    const hidden = this.#builder.listHiddenKeys().filter((place) => wanted.includes(place));
    return [...hidden, ...(names.includes('.gnupg') ? findGpgSockets(env) : [])];
  }
}

/** A name that only a wildcard matches. */
const ANY_NAME = '\u0001any';

/** Where gpg-agent listens when it is not in ~/.gnupg. */
function findGpgSockets(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const runtime = env['XDG_RUNTIME_DIR'];
  return runtime === undefined ? [] : [findRealPath(path.join(runtime, 'gnupg')) ?? []].flat();
}

/** `~/.ssh` is what users and models know it by. */
export function formatInHome(file: string, home: string | null): string {
  const inHome = home === null ? null : findPathInside(findRealPath(home) ?? home, file);
  return inHome === null ? file : path.join('~', inHome);
}

function describeAgent(variable: string): string {
  return `the agent of ${variable}`;
}

function describeOpening(
  command: string,
  read: readonly string[],
  changed: readonly string[],
): string {
  const needs = [
    ...(read.length === 0 ? [] : [`needs ${joinNames(read)}, which the sandbox hides`]),
    ...(changed.length === 0 ? [] : ['writes .git/modules/*/config, which controls what git runs']),
  ];
  const opens = [
    ...(read.length === 0 ? [] : ['can read and use that']),
    ...(changed.length === 0 ? [] : ['can write these files']),
  ];
  return `${command} ${needs.join(' and ')}. Allowed, the whole command line ${opens.join(' and ')}, and still runs in the sandbox.`;
}

function joinNames(names: readonly string[]): string {
  return names.length < 2
    ? names.join('')
    : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
}

const OPENING_HINT =
  'Run it yourself, or start the session with a user who can be asked, or with `--sandbox off`.';

function describeUnlisted(rules: readonly UnlistedRule[]): string {
  const texts = rules.map(({ rule, why }) => `${rule}, because ${why}`);
  return `some files of deny rules cannot be hidden in the sandbox: those of ${texts.join('; ')}. Allowed, those that were found stay hidden, and of the others only what the command line names is checked.`;
}

const UNLISTED_HINT =
  'Write the rule for fewer files or directories, or start the session with a user who can be asked.';
