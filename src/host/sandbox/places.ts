import path from 'node:path';
import type { ObservedFiles } from '../../base/observed-files.ts';
import { isInside } from '../../base/paths.ts';

/** Keys, tokens and other agents' logins, relative to the home directory. */
export const HIDDEN_IN_HOME: readonly string[] = [
  '.ssh',
  '.aws',
  '.gnupg',
  '.azure',
  '.kube',
  '.netrc',
  '.pypirc',
  '.git-credentials',
  '.vault-token',
  '.password-store',
  '.1password',
  '.docker',
  '.hookline',
  '.config/gh',
  '.config/hub',
  '.config/glab-cli',
  '.config/gcloud',
  '.config/git/credentials',
  '.config/op',
  '.config/doctl',
  '.config/containers/auth.json',
  '.config/google-chrome',
  '.config/chromium',
  '.mozilla',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.terraform.d/credentials.tfrc.json',
  '.local/share/keyrings',
  '.local/state/hookline',
  '.claude/.credentials.json',
  '.codex/auth.json',
  '.gemini/oauth_creds.json',
  'Library/Keychains',
];

/** Caches that package managers write; where one is absent, its variable names a temporary directory. */
export const CACHES: readonly { readonly path: string; readonly variable?: string }[] = [
  { path: '.npm', variable: 'npm_config_cache' },
  { path: '.cache/pnpm' },
  { path: '.local/share/pnpm/store' },
  { path: '.cache/pip', variable: 'PIP_CACHE_DIR' },
  { path: '.cargo/registry' },
  { path: '.cargo/git' },
  { path: '.cache/go-build', variable: 'GOCACHE' },
  { path: 'go/pkg/mod', variable: 'GOMODCACHE' },
  { path: '.m2/repository' },
  { path: '.gradle/caches' },
];

/** Variables that name sockets which run or sign things for the user. */
export const SOCKET_VARIABLES: readonly string[] = [
  'SSH_AUTH_SOCK',
  'SSH_AGENT_PID',
  'GPG_AGENT_INFO',
  'DBUS_SESSION_BUS_ADDRESS',
  'DBUS_SYSTEM_BUS_ADDRESS',
  'DOCKER_HOST',
  'CONTAINER_HOST',
  'CONTAINERD_ADDRESS',
  'BUILDKIT_HOST',
  'TMUX',
  'TMUX_TMPDIR',
  'STY',
  'ZELLIJ',
  'ZELLIJ_SESSION_NAME',
  'DISPLAY',
  'XAUTHORITY',
  'WAYLAND_DISPLAY',
  'WAYLAND_SOCKET',
  'XDG_RUNTIME_DIR',
  'NOTIFY_SOCKET',
  'LISTEN_FDS',
  'LISTEN_PID',
  'SWAYSOCK',
  'I3SOCK',
  'HYPRLAND_INSTANCE_SIGNATURE',
  'KITTY_LISTEN_ON',
  'WEZTERM_UNIX_SOCKET',
  'NVIM',
  'NVIM_LISTEN_ADDRESS',
  'EMACS_SOCKET_NAME',
  'VSCODE_IPC_HOOK',
  'VSCODE_IPC_HOOK_CLI',
  'VSCODE_GIT_IPC_HANDLE',
  'VSCODE_GIT_ASKPASS_NODE',
  'GIT_ASKPASS',
  'SSH_ASKPASS',
  'P11_KIT_SERVER_ADDRESS',
  'PULSE_SERVER',
  'SESSION_MANAGER',
];

/** Where services listen; commands see nothing of it. */
export const RUN = '/run';
/** What programs read there, and no socket of a service. */
const READABLE_IN_RUN = ['current-system', 'booted-system', 'opengl-driver', 'wrappers', 'media'];

/** Services listen in /run, so that nothing of it can be read but what programs need. */
export function findRunPlaces(files: ObservedFiles): {
  readonly emptied: readonly string[];
  readonly readable: readonly string[];
} {
  const emptied = [RUN, '/var/run'].flatMap((directory) => files.findRealPath(directory) ?? []);
  const resolver = files.findRealPath('/etc/resolv.conf');
  return {
    emptied: [...new Set(emptied)],
    readable: [
      ...READABLE_IN_RUN.map((name) => path.join(RUN, name)),
      ...(resolver !== null && isInside(RUN, resolver) ? [resolver] : []),
    ],
  };
}

/** Program directories, in which what is written is run later: never writable, whatever a setting says. */
export function isProgramDirectory(directory: string): boolean {
  return /(?:^|\/)s?bin(?:\/|$)/.test(directory);
}
