import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { getErrorCode, getErrorMessage } from '../../base/errors.ts';
import { replacePrivateFileSync } from '../../base/files.ts';
import { FileMemo } from '../../base/observed-files.ts';
import type { SpawnRequest } from '../spawn.ts';
import {
  type BubblewrapOptions,
  buildBubblewrapArgs,
  type Covers,
  wrapInBubblewrap,
} from './bubblewrap.ts';
import { LaunchStatusFiles } from './launch-status.ts';
import { MountGate } from './mount-gate.ts';
import { Placeholders } from './placeholders.ts';
import { type MountPlan, planMounts } from './plan-mounts.ts';
import type { SandboxProbe } from './probe.ts';
import type { SandboxProfile, SandboxProfileName } from './profile.ts';
import { startThroughRelay } from './relay.ts';
import { wrapInSeatbelt } from './seatbelt.ts';
import { buildSyscallFilter } from './syscall-filter.ts';
import { MountVerifier, startVerified } from './verify-mounts.ts';

/** The launcher's command line, and whether whatever it starts ends with it. */
export interface SandboxedRequest extends SpawnRequest {
  readonly ownsPidNamespace: boolean;
}

/** A program to be put into a sandbox. */
export interface SandboxRequest extends SpawnRequest {
  /** Set for bash with `-c` and a script of ours. */
  readonly isBashScript?: boolean;
}

/** A program that is ready to be started in a sandbox. */
export interface SandboxedProgram {
  readonly program: SandboxedRequest;
  readonly profile: SandboxProfileName;
  /** How many mounts it takes beside the root, /dev and /proc, which every sandbox has. */
  readonly mountCount: number;
  /** Must be called with the leader of its process group once it was started. */
  track(leader: number): void;
  /** Whether it was started, once the launcher has ended by itself; null when this launcher does not say. */
  hasStarted(): boolean | null;
  /** Whether it was ended before it was started, because its mounts were not those of the plan. */
  hasOtherMounts(): boolean;
  /** The same program in another sandbox, without the sockets that are gone by now. */
  prepareAgain(): SandboxedProgram | string;
  /** Must be called when nothing in the sandbox runs any more. Never throws. */
  release(): void;
}

/** Starts programs in sandboxes. */
export interface SandboxLauncher {
  /** A string says why it could not be prepared; then nothing may be started. */
  prepare(request: SandboxRequest, profile: SandboxProfile): SandboxedProgram | string;
  /** Removes what it keeps between programs; what still runs goes on. */
  close(): void;
}

export interface LauncherOptions {
  readonly probe: Extract<SandboxProbe, { readonly works: true }>;
  /** A private directory for what sandboxes need outside; none of them may write in it. */
  readonly directory: string;
  /** The Node.js that relays connections to a proxy. */
  readonly nodePath: string;
}

export function createSandboxLauncher(options: LauncherOptions): SandboxLauncher {
  const { probe } = options;
  if (probe.launcher === 'sandbox-exec') return createSeatbeltLauncher(probe.file);
  return new BubblewrapLauncher(options, probe);
}

class BubblewrapLauncher implements SandboxLauncher {
  readonly #probe: Extract<SandboxProbe, { readonly launcher: 'bubblewrap' }>;
  readonly #nodePath: string;
  readonly #placeholders: Placeholders;
  readonly #statusFiles = new LaunchStatusFiles();
  readonly #plans = new FileMemo<BubblewrapPlan>();
  readonly #verifier = new MountVerifier();
  readonly #covers: Covers;
  readonly #syscallFilter: string | null;
  readonly #directory: string;
  /** The leader of each sandbox that may still run; null before it was started. */
  readonly #running = new Map<object, number | null>();

  constructor(
    { directory, nodePath }: LauncherOptions,
    probe: Extract<SandboxProbe, { readonly launcher: 'bubblewrap' }>,
  ) {
    this.#probe = probe;
    this.#nodePath = nodePath;
    this.#directory = directory;
    this.#placeholders = new Placeholders(path.join(directory, 'claims'));
    // Now, so that the directory exists, and is hidden, when the first profile is built.
    this.#covers = createCovers(directory);
    this.#syscallFilter = writeSyscallFilter(path.join(directory, 'syscall-filter'));
  }

  prepare(request: SandboxRequest, profile: SandboxProfile): SandboxedProgram | string {
    try {
      return this.#prepare(request, profile);
    } catch (error) {
      return `The sandbox could not be prepared, so nothing was started: ${getErrorMessage(error)}`;
    }
  }

  #prepare(request: SandboxRequest, profile: SandboxProfile): SandboxedProgram {
    const { plan, isObserved } = this.#findPlan(profile);
    const release = this.#placeholders.acquire(plan.placeholders);
    const status = this.#statusFiles.take();
    const expected = this.#verifier.list(plan.mounts, this.#covers);
    const gate = isObserved ? new MountGate(this.#directory, expected, status) : null;
    const key = {};
    this.#running.set(key, null);
    let untrack = (): void => undefined;
    return {
      program: this.#wrap(request, profile, plan, {
        expected,
        descriptors: { status: status.descriptor, gate: gate?.descriptor ?? null },
      }),
      profile: profile.name,
      mountCount: plan.mounts.length,
      track: (leader) => {
        untrack = this.#placeholders.trackGroup(leader);
        this.#running.set(key, leader);
        gate?.watch(leader);
      },
      hasStarted: () => (this.#probe.isRecent ? status.hasStarted() : null),
      hasOtherMounts: () => gate?.isDifferent === true,
      prepareAgain: () =>
        this.prepare(request, { ...profile, sockets: profile.sockets.filter(existsSync) }),
      release: () => {
        if (!this.#running.delete(key)) return;
        untrack();
        release();
        status.giveBack();
        gate?.close();
      },
    };
  }

  #findPlan(profile: SandboxProfile) {
    this.#placeholders.recover();
    const { paths, isOtherRunning } = this.#placeholders.readClaims();
    const { network } = profile;
    const bubblewrap = { network, covers: this.#covers, isRecent: this.#probe.isRecent };
    const plan = this.#plans.compute(JSON.stringify([profile, paths]), (files) =>
      buildPlan(planMounts(profile, files, paths), bubblewrap),
    );
    // Only a program in another sandbox could lead the mounts elsewhere; all others need no sandbox for that.
    return { plan, isObserved: isOtherRunning || this.#isAnyRunning() };
  }

  #isAnyRunning(): boolean {
    return [...this.#running.values()].some((leader) => leader === null || isGroupAlive(leader));
  }

  #wrap(
    request: SandboxRequest,
    profile: SandboxProfile,
    { args }: BubblewrapPlan,
    { expected, descriptors }: LaunchParts,
  ): SandboxedRequest {
    const env = changeVariables(request.env, profile);
    const reached = reachNetwork({ ...request, env }, profile, this.#nodePath);
    const isBashScript = request.isBashScript === true && typeof profile.network === 'string';
    const inside = startVerified(reached, expected, isBashScript);
    const bubblewrap = { file: this.#probe.file, args, isRecent: this.#probe.isRecent };
    const files = { ...descriptors, syscallFilter: this.#syscallFilter };
    return { ...wrapInBubblewrap(inside, bubblewrap, files), ownsPidNamespace: true };
  }

  close(): void {
    this.#placeholders.close();
    this.#statusFiles.close();
  }
}

interface BubblewrapPlan extends MountPlan {
  readonly args: readonly string[];
}

interface LaunchParts {
  readonly expected: readonly string[];
  readonly descriptors: { readonly status: number; readonly gate: number | null };
}

function isGroupAlive(leader: number): boolean {
  try {
    return process.kill(-leader, 0);
  } catch {
    return false;
  }
}

function buildPlan(plan: MountPlan, options: BubblewrapOptions): BubblewrapPlan {
  return { ...plan, args: buildBubblewrapArgs(plan.mounts, options) };
}

function reachNetwork(
  request: SpawnRequest,
  { network }: SandboxProfile,
  nodePath: string,
): SpawnRequest {
  if (typeof network === 'string') return request;
  return startThroughRelay(request, { nodePath, socket: network.socket });
}

function createSeatbeltLauncher(file: string): SandboxLauncher {
  const launcher: SandboxLauncher = {
    prepare: (request, profile) => ({
      program: {
        ...wrapInSeatbelt(
          { ...request, env: changeVariables(request.env, profile) },
          file,
          profile,
        ),
        ownsPidNamespace: false,
      },
      profile: profile.name,
      mountCount: 0,
      track: () => undefined,
      hasStarted: () => null,
      hasOtherMounts: () => false,
      prepareAgain: () => launcher.prepare(request, profile),
      release: () => undefined,
    }),
    close: () => undefined,
  };
  return launcher;
}

function changeVariables(
  env: SpawnRequest['env'],
  { removedVariables, addedVariables, temporaryDirectory }: SandboxProfile,
): SpawnRequest['env'] {
  const removed = new Set(removedVariables);
  const remaining = Object.entries(env).filter(([name]) => !removed.has(name));
  return {
    ...Object.fromEntries(remaining),
    TMPDIR: temporaryDirectory,
    TMP: temporaryDirectory,
    TEMP: temporaryDirectory,
    ...addedVariables,
  };
}

/** Mounted read-only, so that not even their owner can give them permissions. */
function createCovers(directory: string): Covers {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const covers = {
    file: path.join(directory, 'hidden-file'),
    directory: path.join(directory, 'hidden-directory'),
  };
  ignoreExisting(() => closeSync(openSync(covers.file, 'wx', 0)));
  ignoreExisting(() => mkdirSync(covers.directory, 0));
  chmodSync(covers.file, 0);
  chmodSync(covers.directory, 0);
  return covers;
}

/** Null where there is none. */
function writeSyscallFilter(file: string): string | null {
  const filter = buildSyscallFilter(process.arch);
  if (filter === null) return null;
  replacePrivateFileSync(file, filter);
  return file;
}

function ignoreExisting(create: () => void): void {
  try {
    create();
  } catch (error) {
    if (getErrorCode(error) !== 'EEXIST') throw error;
  }
}
