import type { SpawnRequest } from '../spawn.ts';
import type { Mount } from './plan-mounts.ts';
import type { SandboxProfile } from './profile.ts';

/** Two empty things without any permission, which are mounted over what is hidden. */
export interface Covers {
  readonly file: string;
  readonly directory: string;
}

/** What the arguments depend on beside the mounts. */
export interface BubblewrapOptions {
  readonly network: SandboxProfile['network'];
  readonly covers: Covers;
  /** Whether this bubblewrap knows `--perms` and `--json-status-fd`, as all since 0.5 do. */
  readonly isRecent: boolean;
}

const BASE_ARGS: readonly string[] = [
  '--ro-bind / / --dev /dev --proc /proc --remount-ro /proc',
  '--unshare-pid --unshare-ipc --cap-drop ALL',
].flatMap((line) => line.split(' '));

/**
 * The arguments of bubblewrap for a profile. Capabilities are dropped by name, because bubblewrap keeps
 * them for root. `/proc` is read-only, because root may write kernel settings there without any
 * capability, and because nobody can then map users in a further namespace.
 */
export function buildBubblewrapArgs(
  mounts: readonly Mount[],
  options: BubblewrapOptions,
): readonly string[] {
  const emptied = mounts.filter(({ kind }) => kind === 'empty' || kind === 'hollow');
  return [
    ...BASE_ARGS,
    ...(options.network === 'on' ? [] : ['--unshare-net']),
    ...mounts.flatMap((mount) => buildMountArgs(mount, options)),
    // Last, because what is mounted in it needs a place there.
    ...(options.isRecent ? [] : emptied.flatMap((mount) => ['--remount-ro', mount.path])),
  ];
}

function buildMountArgs(mount: Mount, { covers, isRecent }: BubblewrapOptions): readonly string[] {
  const { path: place, source = place } = mount;
  switch (mount.kind) {
    case 'writable':
      return ['--bind', source, place];
    case 'read-only':
      return ['--ro-bind', source, place];
    case 'hidden':
      return ['--ro-bind', mount.isDirectory === true ? covers.directory : covers.file, place];
    case 'empty':
      // A mode takes bubblewrap a fifth of the time of a mount that is read-only, for which it reads all mounts.
      return [...(isRecent ? ['--perms', '0555'] : []), '--tmpfs', place];
    case 'hollow':
      return [...(isRecent ? ['--perms', '0111'] : []), '--tmpfs', place];
  }
}

/** What bubblewrap gets open; null for what it does without. */
export interface BubblewrapFiles {
  /** Where it writes what becomes of the sandbox. */
  readonly status: number;
  /** From where it reads before it starts anything. */
  readonly gate: number | null;
  /** The file with the filter of system calls. */
  readonly syscallFilter: string | null;
}

interface Bubblewrap {
  readonly file: string;
  readonly args: readonly string[];
  readonly isRecent: boolean;
}

/** The program as bubblewrap starts it, in the directory in which it would start. */
export function wrapInBubblewrap(
  request: SpawnRequest,
  { file, args, isRecent }: Bubblewrap,
  { status, gate, syscallFilter }: BubblewrapFiles,
): SpawnRequest {
  const { cwd, env } = request;
  const options = [
    // One before 0.5 only says which process the sandbox is.
    [isRecent ? '--json-status-fd' : '--info-fd', status],
    ['--block-fd', gate],
    ['--seccomp', syscallFilter],
  ] as const;
  const opened = options.flatMap(([name, each]) => (each === null ? [] : [{ name, each }]));
  const files = opened.flatMap(({ name }, index) => [name, String(3 + index)]);
  const started = ['--chdir', cwd, '--', request.file, ...request.args];
  return {
    file,
    args: [...args, ...files, ...started],
    cwd,
    env,
    descriptors: opened.map(({ each }) => each),
  };
}
