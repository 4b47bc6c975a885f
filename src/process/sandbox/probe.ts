import { type ProgramResult, runProgram } from '../run.ts';
import { createProgramFinder } from '../program-finder.ts';
import { buildBubblewrapArgs } from './bubblewrap.ts';
import type { Mount } from './plan-mounts.ts';
import { MountVerifier } from './verify-mounts.ts';

/** Whether programs can be sandboxed here; shared by every mode and by `doctor`. */
export type SandboxProbe =
  | {
      readonly works: true;
      readonly launcher: 'bubblewrap';
      readonly file: string;
      /** Whether it knows `--perms` and `--json-status-fd`. */
      readonly isRecent: boolean;
    }
  | { readonly works: true; readonly launcher: 'sandbox-exec'; readonly file: string }
  | {
      readonly works: false;
      /** What is missing, as a sentence. */
      readonly why: string;
      /** What to do about it; null where nothing can be done. */
      readonly hint: string | null;
    };

export interface ProbeMachine {
  readonly platform: NodeJS.Platform;
  /** The variable PATH. */
  readonly path: string | undefined;
  /** Programs found in one of these directories are not used, because an agent may have written them. */
  readonly untrusted: readonly string[];
  /** Real paths of directories that sandboxes will be able to write in. */
  readonly places: readonly string[];
}

/** Starts a small sandbox, because only the kernel knows whether it may be made and how its mounts are listed. */
export async function probeSandbox(machine: ProbeMachine): Promise<SandboxProbe> {
  if (machine.platform === 'darwin') return probeSeatbelt();
  if (machine.platform !== 'linux') {
    return { works: false, why: `There is no sandbox for ${machine.platform}.`, hint: null };
  }
  const file = findBubblewrap(machine);
  if (file === null) {
    return {
      works: false,
      why: 'bubblewrap (the program bwrap) was not found.',
      hint: 'Install it: apt-get install bubblewrap, dnf install bubblewrap, or pacman -S bubblewrap.',
    };
  }
  return probeBubblewrap(file, machine.places);
}

const SYSTEM_DIRECTORIES = '/usr/bin:/bin:/usr/local/bin:/usr/sbin:/sbin';

/** The system's own comes first: a PATH may begin with a directory of the workspace. */
function findBubblewrap({ path: pathVariable, untrusted }: ProbeMachine): string | null {
  const own = createProgramFinder(SYSTEM_DIRECTORIES, 'linux')('bwrap');
  if (own !== null) return own;
  const directories = (pathVariable ?? '')
    .split(':')
    .filter((directory) => !untrusted.some((each) => `${directory}/`.startsWith(`${each}/`)));
  return createProgramFinder(directories.join(':'), 'linux')('bwrap');
}

const PROBE_TIMEOUT_MS = 20_000;

async function probeBubblewrap(file: string, places: readonly string[]): Promise<SandboxProbe> {
  const mounts = listProbeMounts(places);
  const first = await tryBubblewrap(file, mounts, true);
  const isOld = /unknown option/i.test(first.stderr.text);
  const result = isOld ? await tryBubblewrap(file, mounts, false) : first;
  if (!hasSucceeded(result)) return describeFailure(file, result);
  const unlisted = new MountVerifier().findUnlisted(mounts, COVERS, result.stdout.text);
  if (unlisted !== null) return describeUnlisted(unlisted);
  return { works: true, launcher: 'bubblewrap', file, isRecent: !isOld };
}

const COVERS = { file: '/dev/null', directory: '/' };

/** Parents before what lies in them. */
function listProbeMounts(places: readonly string[]): readonly Mount[] {
  const writable = [...new Set(places)].toSorted((one, other) => one.length - other.length);
  return [
    { kind: 'empty', path: '/dev/shm' },
    ...writable.map((place) => ({ kind: 'writable', path: place }) as const),
  ];
}

// Without another program, which a PATH would be needed for.
const PRINT_MOUNTS = `while IFS= read -r line; do printf '%s\\n' "$line"; done < /proc/self/mountinfo`;

function tryBubblewrap(
  file: string,
  mounts: readonly Mount[],
  isRecent: boolean,
): Promise<ProgramResult> {
  const args = buildBubblewrapArgs(mounts, { network: 'on', covers: COVERS, isRecent });
  return runProgram({
    file,
    args: [...args, '--', '/bin/sh', '-c', PRINT_MOUNTS],
    cwd: '/',
    env: {},
    stdin: '',
    timeoutMs: PROBE_TIMEOUT_MS,
  });
}

function hasSucceeded({ ending, exitCode }: ProgramResult): boolean {
  return ending === 'exit' && exitCode === 0;
}

function describeFailure(file: string, result: ProgramResult): SandboxProbe {
  const message = result.spawnError?.message ?? result.stderr.text.trim().split('\n')[0] ?? '';
  const detail = message === '' ? `it ended by ${result.ending}` : message;
  const hint = /make \/ slave|pivot_root/.test(detail) ? ROOT_IS_NO_MOUNT : FORBIDDEN;
  return { works: false, why: `${file} cannot make a sandbox here: ${detail}`, hint };
}

/** Sandboxes are compared with their plan by what the kernel lists, and none that differs starts anything. */
function describeUnlisted(place: string): SandboxProbe {
  return {
    works: false,
    why: `The kernel does not list where a mount of ${place} comes from (as for NFS, and in some containers), so that a sandbox with it cannot be checked.`,
    hint: 'Work in a directory of a local file system, or use `--sandbox off`.',
  };
}

const ROOT_IS_NO_MOUNT =
  'The root directory is not a mount, as in a chroot: bind it to itself (mount --bind DIR DIR) before chroot DIR.';

const FORBIDDEN =
  'The kernel or the container forbids it: allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0), or run the container with the rights to make them.';

const SANDBOX_EXEC = '/usr/bin/sandbox-exec';

async function probeSeatbelt(): Promise<SandboxProbe> {
  const result = await runProgram({
    file: SANDBOX_EXEC,
    args: ['-p', '(version 1)(allow default)', '/usr/bin/true'],
    cwd: '/',
    env: {},
    stdin: '',
    timeoutMs: PROBE_TIMEOUT_MS,
  });
  if (hasSucceeded(result)) return { works: true, launcher: 'sandbox-exec', file: SANDBOX_EXEC };
  const message = result.spawnError?.message ?? result.stderr.text.trim();
  return {
    works: false,
    why: `${SANDBOX_EXEC} cannot make a sandbox here: ${message}`,
    hint: null,
  };
}
