import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { getErrorCode, getErrorMessage } from '../../base/errors.ts';
import type { SpawnRequest } from '../spawn.ts';
import { buildBubblewrapArgs, wrapInBubblewrap, type Covers } from './bubblewrap.ts';
import { Placeholders } from './placeholders.ts';
import { planMounts } from './plan-mounts.ts';
import type { SandboxProbe } from './probe.ts';
import type { SandboxProfile, SandboxProfileName } from './profile.ts';
import { startThroughRelay } from './relay.ts';
import { wrapInSeatbelt } from './seatbelt.ts';

/** The launcher's command line, and whether whatever it starts ends with it. */
export interface SandboxedRequest extends SpawnRequest {
  readonly ownsPidNamespace: boolean;
}

/** A program that is ready to be started in a sandbox. */
export interface SandboxedProgram {
  readonly program: SandboxedRequest;
  readonly profile: SandboxProfileName;
  /** How many mounts it takes beside the root, /dev and /proc, which every sandbox has. */
  readonly mountCount: number;
  /** Must be called with the leader of its process group once it was started. */
  track(leader: number): void;
  /** Must be called when nothing in the sandbox runs any more. Never throws. */
  release(): void;
}

/** Starts programs in sandboxes. */
export interface SandboxLauncher {
  /** A string says why it could not be prepared; then nothing may be started. */
  prepare(request: SpawnRequest, profile: SandboxProfile): SandboxedProgram | string;
}

export interface LauncherOptions {
  readonly probe: Extract<SandboxProbe, { readonly works: true }>;
  /** A private directory for what sandboxes need outside; none of them may write in it. */
  readonly directory: string;
  /** The Node.js that relays connections to a proxy. */
  readonly nodePath: string;
}

export function createSandboxLauncher(options: LauncherOptions): SandboxLauncher {
  if (options.probe.launcher === 'sandbox-exec') return createSeatbeltLauncher(options.probe.file);
  const { directory, probe } = options;
  const placeholders = new Placeholders(path.join(directory, 'claims'));
  let covers: Covers | null = null;
  return {
    prepare(request, profile) {
      try {
        covers ??= createCovers(directory);
        placeholders.recover();
        const plan = planMounts(profile, placeholders.listClaimed());
        const release = placeholders.acquire(plan.placeholders);
        const args = buildBubblewrapArgs(profile, plan.mounts, covers);
        const inside = reachNetwork(
          { ...request, env: changeVariables(request.env, profile) },
          profile,
          options.nodePath,
        );
        let untrack = (): void => undefined;
        return {
          program: {
            ...wrapInBubblewrap(inside, { file: probe.file, args }),
            ownsPidNamespace: true,
          },
          profile: profile.name,
          mountCount: plan.mounts.length,
          track: (leader) => void (untrack = placeholders.trackGroup(leader)),
          release() {
            untrack();
            release();
          },
        };
      } catch (error) {
        return `The sandbox could not be prepared, so nothing was started: ${getErrorMessage(error)}`;
      }
    },
  };
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
  return {
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
      release: () => undefined,
    }),
  };
}

function changeVariables(
  env: SpawnRequest['env'],
  { removedVariables, addedVariables, temporaryDirectory }: SandboxProfile,
): SpawnRequest['env'] {
  const removed = new Set(removedVariables);
  const kept = Object.entries(env).filter(([name]) => !removed.has(name));
  return {
    ...Object.fromEntries(kept),
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

function ignoreExisting(create: () => void): void {
  try {
    create();
  } catch (error) {
    if (getErrorCode(error) !== 'EEXIST') throw error;
  }
}
