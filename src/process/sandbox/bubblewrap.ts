import type { SpawnRequest } from '../spawn.ts';
import type { Mount } from './plan-mounts.ts';
import type { SandboxProfile } from './profile.ts';

/** Two empty things without any permission, which are mounted over what is hidden. */
export interface Covers {
  readonly file: string;
  readonly directory: string;
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
  profile: Pick<SandboxProfile, 'network'>,
  mounts: readonly Mount[],
  covers: Covers,
): readonly string[] {
  return [
    ...BASE_ARGS,
    ...(profile.network === 'on' ? [] : ['--unshare-net']),
    ...mounts.flatMap((mount) => buildMountArgs(mount, covers)),
    // Last, because what is mounted in it needs a place there.
    ...mounts.flatMap(({ kind, path: place }) => (kind === 'empty' ? ['--remount-ro', place] : [])),
  ];
}

function buildMountArgs(mount: Mount, covers: Covers): readonly string[] {
  const { path: place, source = place } = mount;
  switch (mount.kind) {
    case 'writable':
      return ['--bind', source, place];
    case 'read-only':
      return ['--ro-bind', source, place];
    case 'hidden':
      return ['--ro-bind', mount.isDirectory === true ? covers.directory : covers.file, place];
    case 'empty':
      return ['--tmpfs', place];
  }
}

/** The program as bubblewrap starts it, in the directory in which it would start. */
export function wrapInBubblewrap(
  request: SpawnRequest,
  { file, args }: { readonly file: string; readonly args: readonly string[] },
): SpawnRequest {
  return {
    file,
    args: [...args, '--chdir', request.cwd, '--', request.file, ...request.args],
    cwd: request.cwd,
    env: request.env,
  };
}
