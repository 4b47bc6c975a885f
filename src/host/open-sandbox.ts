import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { HooklineError, getErrorMessage } from '../base/errors.ts';
import { findPathInside, findRealPath, isInside } from '../base/paths.ts';
import type { CommandSandbox, OpenedSandbox } from '../agent/tools/shell/shell-launch.ts';
import { DIALECTS } from '../dialects/index.ts';
import type { Permissions } from '../permissions/permissions.ts';
import { expandHome } from '../permissions/rules/home-path.ts';
import { memoize } from '../base/memoize.ts';
import type { RunProgram } from '../process/run.ts';
import type { SpawnRequest } from '../process/spawn.ts';
import { createRefusal, runInSandbox } from '../process/sandbox/run-in-sandbox.ts';
import {
  createSandboxLauncher,
  type SandboxedProgram,
  type SandboxLauncher,
} from '../process/sandbox/create-sandbox.ts';
import { type HostProxy, startHostProxy } from '../process/sandbox/host-proxy.ts';
import { probeSandbox, type SandboxProbe } from '../process/sandbox/probe.ts';
import type {
  ProtectedPlace,
  SandboxProfile,
  SandboxProfileName,
} from '../process/sandbox/profile.ts';
import { findGitPlaces } from './git-places.ts';
import type { OpenedHooks } from './open-hooks.ts';
import { listProtectedDirectories } from './open-permissions.ts';
import type { Settings } from './settings.ts';
import {
  findLimitedNetwork,
  isReachable,
  LimitedPlaces,
  listLimitNotes,
  resolveSandboxMode,
} from './sandbox-limits.ts';
import {
  CACHES,
  findRunPlaces,
  HIDDEN_IN_HOME,
  isProgramDirectory,
  listSockets,
  SOCKET_VARIABLES,
} from './sandbox-places.ts';

/** The sandbox of a session's commands. */
export interface SessionSandbox extends CommandSandbox {
  /** Removes its temporary directory. */
  close(): void;
}

/** What a sandbox is made of: the machine, the settings, and who may do what in the session. */
export interface SandboxParts {
  readonly opened: OpenedHooks;
  /** Null for hooks, to which no rules apply. */
  readonly permissions: Pick<Permissions, 'directories' | 'deniedFiles'> | null;
  /** Overrides the setting. */
  readonly mode: Settings['sandbox.mode'] | undefined;
  readonly notice: (text: string) => void;
}

/** Whether a sandbox works on this machine, and what is missing. */
export function probeHostSandbox({
  surroundings,
  workspaceRoots,
}: Pick<OpenedHooks, 'surroundings' | 'workspaceRoots'>): Promise<SandboxProbe> {
  const { platform, env } = surroundings;
  return probeSandbox({ platform, path: env['PATH'], untrusted: workspaceRoots });
}

/**
 * Opens the sandbox of a session. In the mode `on` it throws where no sandbox works; in the mode `auto`
 * commands then run without one, which is reported once.
 */
export async function openSandbox(parts: SandboxParts): Promise<SessionSandbox> {
  const { opened, notice } = parts;
  for (const note of listLimitNotes(opened)) notice(note);
  const { mode, requiredBy } = resolveSandboxMode(opened, parts.mode);
  if (mode === 'off') return NO_SANDBOX;
  const probing = probeHostSandbox(opened);
  if (mode === 'on') requireSandbox(await probing, requiredBy);
  else void probing.then((probe) => reportUnavailable(probe, notice));
  const session = new SessionPlaces();
  let opening: Promise<OpenedSandbox | string | null> | null = null;
  return {
    open: () => (opening ??= probing.then((probe) => enterSandbox(probe, parts, session))),
    close: () => session.close(),
  };
}

const NO_SANDBOX: SessionSandbox = { open: async () => null, close: () => undefined };

function requireSandbox(probe: SandboxProbe, requiredBy: string | null): void {
  if (probe.works) return;
  if (requiredBy !== null) {
    throw new HooklineError('SANDBOX_UNAVAILABLE', {
      message: `"sandbox.enabled" in ${requiredBy} is true, and no sandbox can be made: ${probe.why}`,
      hint: probe.hint ?? 'Remove it there, or choose with `--sandbox auto` or `--sandbox off`.',
    });
  }
  throw new HooklineError('SANDBOX_UNAVAILABLE', {
    message: `the setting sandbox.mode is "on", and no sandbox can be made: ${probe.why}`,
    hint: probe.hint ?? 'Set it to "auto" or "off" to run commands without a sandbox.',
  });
}

function reportUnavailable(probe: SandboxProbe, notice: (text: string) => void): void {
  if (probe.works) return;
  const hint = probe.hint === null ? '' : ` ${probe.hint}`;
  notice(`commands run without a sandbox: ${probe.why}${hint}`);
}

/** Runs hooks in sandboxes of their own kind: without deny rules, which are about the agent. */
export interface HookSandboxes {
  readonly run: (profile: SandboxProfileName) => RunProgram;
  close(): void;
}

/** `getOpened` is called when the first such hook runs. */
export function createHookSandboxes(getOpened: () => OpenedHooks): HookSandboxes {
  const places = new SessionPlaces();
  const open = memoize(async () => {
    const parts = { opened: getOpened(), permissions: null, mode: undefined, notice: ignoreNotice };
    const probe = await probeHostSandbox(parts.opened);
    return probe.works ? ((await enterSandbox(probe, parts, places)) ?? '') : probe.why;
  });
  return {
    run: (profile) => async (program, options) => {
      const sandbox = await open();
      const entered = typeof sandbox === 'string' ? sandbox : sandbox.enter(program, [], profile);
      if (typeof entered !== 'string') return runInSandbox(program, entered, options);
      return createRefusal(`It was not started, because its sandbox cannot be made: ${entered}`);
    },
    close: () => places.close(),
  };
}

// The reason is in the failure of each hook.
function ignoreNotice(): void {}

/** The session's own temporary directory and proxy, made with its first command. */
class SessionPlaces {
  #directory: string | null = null;
  #proxy: HostProxy | null = null;

  open(): string {
    this.#directory ??= realpathSync(mkdtempSync(path.join(tmpdir(), 'hookline-session-')));
    return this.#directory;
  }

  /** Null for a network that needs no proxy. */
  async openProxy(opened: OpenedHooks): Promise<HostProxy | null> {
    if (!needsProxy(findLimitedNetwork(opened))) return null;
    const socket = path.join(this.open(), 'proxy.socket');
    this.#proxy ??= await startHostProxy(socket, (host) => isReachable(host, opened));
    return this.#proxy;
  }

  close(): void {
    this.#proxy?.close();
    if (this.#directory === null) return;
    rmSync(this.#directory, { recursive: true, force: true });
    this.#directory = null;
  }
}

function needsProxy(network: ReturnType<typeof findLimitedNetwork>): boolean {
  return network !== 'on' && network !== 'off';
}

/** A sandbox that is entered with either profile. */
interface NamedSandbox extends OpenedSandbox {
  enter(
    program: SpawnRequest,
    readOnly: readonly string[],
    profile?: SandboxProfileName,
  ): SandboxedProgram | string;
}

async function enterSandbox(
  probe: SandboxProbe,
  parts: SandboxParts,
  session: SessionPlaces,
): Promise<NamedSandbox | string | null> {
  if (!probe.works) return null;
  const { opened } = parts;
  const { home } = opened.surroundings;
  try {
    const temporaryDirectory = session.open();
    const stateDirectory = opened.stateDirectory ?? temporaryDirectory;
    const directory = path.join(stateDirectory, 'sandbox');
    const { nodePath } = opened.surroundings;
    const launcher = createSandboxLauncher({ probe, directory, nodePath });
    const proxy = await session.openProxy(opened);
    const builder = new ProfileBuilder(parts, temporaryDirectory, proxy);
    return {
      temporaryDirectory,
      hidden: builder.listHiddenKeys().map((file) => formatInHome(file, home)),
      enter: (program, readOnly, name = 'workspace') =>
        enterWithProfile(launcher, builder, program, readOnly, name),
    };
  } catch (error) {
    return `The sandbox could not be prepared, so nothing was started: ${getErrorMessage(error)}`;
  }
}

/** `~/.ssh` is what users and models know it by. */
function formatInHome(file: string, home: string | null): string {
  const inHome = home === null ? null : findPathInside(findRealPath(home) ?? home, file);
  return inHome === null ? file : path.join('~', inHome);
}

function enterWithProfile(
  launcher: SandboxLauncher,
  builder: ProfileBuilder,
  ...[program, readOnly, name = 'workspace']: Parameters<NamedSandbox['enter']>
): ReturnType<OpenedSandbox['enter']> {
  const profile = builder.build(program.cwd, readOnly, name);
  return typeof profile === 'string' ? profile : launcher.prepare(program, profile);
}

/** Builds the profile anew for each command, because rules, directories and files change. */
class ProfileBuilder {
  readonly #parts: SandboxParts;
  readonly #temporaryDirectory: string;
  readonly #home: string | null;
  readonly #proxy: HostProxy | null;
  readonly #limitedPlaces = new LimitedPlaces();

  constructor(parts: SandboxParts, temporaryDirectory: string, proxy: HostProxy | null) {
    this.#proxy = proxy;
    this.#parts = parts;
    this.#temporaryDirectory = temporaryDirectory;
    const { home } = parts.opened.surroundings;
    this.#home = home === null ? null : findRealPath(home);
  }

  /** A string says why a deny rule could not be kept. */
  build(
    cwd: string,
    readOnly: readonly string[],
    name: SandboxProfileName,
  ): SandboxProfile | string {
    const { opened, permissions } = this.#parts;
    const { settings } = opened.config;
    const added = listReal(permissions?.directories() ?? []);
    const areas = [...opened.workspaceRoots, ...added.filter((each) => !this.#isState(each))];
    const gitPlaces = areas.map(findGitPlaces);
    const denied = permissions?.deniedFiles(cwd, areas) ?? NOTHING_DENIED;
    const limited = permissions === null ? NOTHING_DENIED : this.#limitedPlaces.list(opened);
    const whyIncomplete = denied.whyIncomplete ?? limited.whyIncomplete;
    if (whyIncomplete !== null) return describeUnlisted(whyIncomplete);
    const writable = [
      ...areas,
      ...gitPlaces.flatMap((git) => git.writable),
      ...this.#listWritable(settings['sandbox.write']),
    ];
    const sockets = listSockets(opened.surroundings.env, tmpdir());
    const isOwn = (file: string): boolean =>
      [...writable, this.#temporaryDirectory].some((area) => isInside(area, file));
    return {
      name,
      writable,
      protected: [
        ...areas.flatMap((area) => this.#listProtected(area)),
        ...gitPlaces.flatMap((git) => git.protected),
        ...listReal([...denied.edits, ...limited.edits, ...readOnly, ...this.#listOwnFiles()]).map(
          (file) => ({
            path: file,
          }),
        ),
      ],
      hidden: [
        ...this.listHiddenKeys(),
        ...listReal([...denied.reads, ...limited.reads]),
        ...sockets.filter((file) => !isOwn(file)),
      ],
      ...findRunPlaces(),
      network: name === 'read-only' ? 'off' : this.#findNetwork(),
      temporaryDirectory: this.#temporaryDirectory,
      overlay: null,
      removedVariables: [
        ...SOCKET_VARIABLES,
        ...opened.hookSet.sandboxLimits().flatMap((limits) => limits.removedVariables),
      ],
      addedVariables: this.#listCacheVariables(),
    };
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

  #listOwnFiles(): readonly string[] {
    return this.#proxy === null ? [] : [this.#proxy.socket];
  }

  #listWritable(wishes: readonly string[]): readonly string[] {
    const absolute = wishes
      .map((wish) => expandHome(wish, this.#home))
      .filter((wish) => path.isAbsolute(wish));
    return listReal(absolute).filter((place) => !isProgramDirectory(place));
  }

  /** What decides what runs: the directories of the agents, and of hooks and plugins elsewhere. */
  #listProtected(area: string): readonly ProtectedPlace[] {
    const names = new Set(PROTECTED_NAMES.map((name) => name.split('/')[0] ?? name));
    const inArea = [...names].filter((name) => name.startsWith('.') && !IN_HOME_ONLY.has(name));
    const inHome =
      this.#home !== null && isInside(area, this.#home)
        ? PROTECTED_NAMES.map((name) => path.join(this.#home ?? '', name))
        : [];
    const elsewhere = listProtectedDirectories(this.#parts.opened).filter((file) =>
      isInside(area, file),
    );
    return [...inArea.map((name) => path.join(area, name)), ...inHome, ...elsewhere]
      .filter((file) => file !== area)
      .map((file) => ({ path: file }));
  }

  listHiddenKeys(): readonly string[] {
    const { stateDirectory, surroundings } = this.#parts.opened;
    const inHome = this.#home === null ? [] : HIDDEN_IN_HOME.map((name) => this.#inHome(name));
    const xdgState = surroundings.env['XDG_STATE_HOME'];
    const ofHookline = [
      ...(stateDirectory === null ? [] : [stateDirectory, `${stateDirectory}.key`]),
      ...(xdgState === undefined ? [] : [path.join(xdgState, 'hookline')]),
    ];
    return [...new Set(listReal([...inHome, ...ofHookline]))];
  }

  #inHome(name: string): string {
    return path.join(this.#home ?? '/', name);
  }

  /** A cache that does not exist cannot be made in a read-only home: it becomes a temporary one. */
  #listCacheVariables(): Readonly<Record<string, string>> {
    const { env } = this.#parts.opened.surroundings;
    const missing = CACHES.filter(
      ({ path: name, variable }) =>
        variable !== undefined &&
        env[variable] === undefined &&
        (this.#home === null || findRealPath(this.#inHome(name)) === null),
    );
    return Object.fromEntries(
      missing.map(({ path: name, variable = '' }) => [
        variable,
        path.join(this.#temporaryDirectory, path.basename(name)),
      ]),
    );
  }
}

const NOTHING_DENIED = { reads: [], edits: [], whyIncomplete: null };

const PROTECTED_NAMES: readonly string[] = [
  '.hookline',
  ...DIALECTS.flatMap(({ ownPaths }) => ownPaths?.protected ?? [])
    .filter((name) => !name.includes('*'))
    .map((name) => name.replace(/\/$/, '')),
];

/** No agent reads these in a workspace. */
const IN_HOME_ONLY: ReadonlySet<string> = new Set(['.claude.json']);

function describeUnlisted(why: string): string {
  return `The command was not started: the sandbox must hide the files that deny rules match, and they could not all be listed, because ${why}. Call Bash again with dangerouslyDisableSandbox: true to ask the user.`;
}

/** Real paths, because mounts follow links; what does not exist is left out. */
function listReal(files: readonly string[]): readonly string[] {
  return files.flatMap((file) => findRealPath(file) ?? []);
}
