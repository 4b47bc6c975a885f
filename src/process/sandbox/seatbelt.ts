import type { SpawnRequest } from '../spawn.ts';
import type { SandboxProfile } from './profile.ts';

/** The program as macOS starts it with this profile. */
export function wrapInSeatbelt(
  request: SpawnRequest,
  file: string,
  profile: SandboxProfile,
): SpawnRequest {
  const text = formatSeatbeltProfile(profile);
  return { ...request, file, args: ['-p', text, request.file, ...request.args] };
}

/**
 * The profile in the language of sandbox-exec, in which the last rule that fits decides. A rule for a
 * path also fits while the path does not exist, so that nothing has to stand in its place.
 */
export function formatSeatbeltProfile(profile: SandboxProfile): string {
  const isWorkspace = profile.name === 'workspace';
  const writable = [...(isWorkspace ? profile.writable : []), profile.temporaryDirectory];
  const protectedPaths = profile.protected.map((place) => place.path);
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    formatRule('allow file-write*', [...writable, ...DEVICES]),
    formatRule('deny file-write*', protectedPaths),
    formatMoves(protectedPaths, writable),
    formatRule('deny file-read* file-write* process-exec*', [
      ...profile.hidden,
      ...profile.sockets,
    ]),
    formatRule('deny network-outbound', profile.emptied),
    '(deny mach-lookup (global-name "com.apple.coreservices.launchservicesd"))',
    '(deny appleevent-send)',
    ...formatNetwork(profile),
  ]
    .filter((line) => line !== '')
    .join('\n');
}

const DEVICES = ['/dev/null', '/dev/zero', '/dev/tty', '/dev/stdout', '/dev/stderr', '/dev/fd'];

function formatRule(rule: string, paths: readonly string[]): string {
  if (paths.length === 0) return '';
  return `(${rule} ${paths.map((each) => `(subpath ${quoteText(each)})`).join(' ')})`;
}

/** The directories above a protected place may not be renamed or removed with it. */
function formatMoves(protectedPaths: readonly string[], writable: readonly string[]): string {
  const parents = protectedPaths.flatMap((place) =>
    listParents(place).filter((parent) => writable.some((root) => parent.startsWith(`${root}/`))),
  );
  if (parents.length === 0) return '';
  const literals = [...new Set(parents)].map((each) => `(literal ${quoteText(each)})`);
  return `(deny file-write-unlink ${literals.join(' ')})`;
}

function listParents(file: string): readonly string[] {
  const names = file.split('/').slice(1, -1);
  return names.map((_name, index) => `/${names.slice(0, index + 1).join('/')}`);
}

/** A list of hosts needs a namespace of its own, which macOS has not: there it is no network at all. */
function formatNetwork({ network }: SandboxProfile): readonly string[] {
  return network === 'on' ? [] : ['(deny network*)'];
}

function quoteText(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
