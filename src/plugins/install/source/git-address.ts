import { getHost, isLoopbackHost } from '../../../base/network-addresses.ts';
import { unusable } from './problem.ts';
import type { GitSource } from './source.ts';

/** `https://host/owner/repo#ref`, `git@host:owner/repo`, `host/owner/repo@ref`, `git:` in front or not. */
export function parseGitAddress(written: string): GitSource {
  const text = written.replace(/^git:(?!\/\/)/u, '').replace(/^git\+/u, '');
  const [address = '', ...refs] = text.split('#');
  const named = refs.length === 0 ? splitRef(address) : { address, ref: refs.join('#') };
  const ref = named.ref === null ? null : checkedRef(named.ref);
  const place = SCP_LIKE.test(named.address) ? fromScp(named.address) : fromUrl(named.address);
  return { kind: 'git', ...place, ref };
}

// `git@github.com:owner/repo`, which is no URL.
const SCP_LIKE = /^[\w.-]+@(?<host>[\w.-]+):(?!\/\/)(?<path>[^\s:]+)$/u;

interface Repository {
  readonly url: string;
  readonly host: string;
  readonly name: string;
}

/** A ref after `@`, which counts only where a repository's name may end. */
function splitRef(address: string): { readonly address: string; readonly ref: string | null } {
  if (address.startsWith('file:')) return { address, ref: null };
  const start = pathStart(address);
  const at = /[^/]@(?=[^/])/u.exec(address.slice(start));
  if (at === null) return { address, ref: null };
  const end = start + at.index + 1;
  return { address: address.slice(0, end), ref: address.slice(end + 1) };
}

/** Where the path begins: before it an `@` names a user. */
function pathStart(address: string): number {
  const scp = SCP_LIKE.exec(address);
  if (scp !== null) return address.indexOf(':') + 1;
  const scheme = /^[a-z][a-z\d+.-]*:\/\//iu.exec(address)?.[0].length ?? 0;
  const slash = address.indexOf('/', scheme);
  return slash === -1 ? address.length : slash;
}

// What git itself allows in the name of a branch or tag, and nothing that it would take for more.
const REF = /^(?![-./])(?!.*(?:\.\.|@\{|\/\/))[^\p{C}\s~^:?*[\\]+(?<![/.])$/u;

function checkedRef(ref: string): string {
  if (REF.test(ref)) return ref;
  throw unusable(
    `expected a branch, a tag or a commit after # or @, found ${JSON.stringify(ref)}`,
    'For example: --git github.com/owner/repo#v1.2.0',
  );
}

function fromScp(address: string): Repository {
  const { host = '', path = '' } = SCP_LIKE.exec(address)?.groups ?? {};
  return { url: address, host: host.toLowerCase(), name: repositoryName(path, address) };
}

function fromUrl(address: string): Repository {
  const isBare = /^[\w-]+(?:\.[\w-]+)+(?::\d+)?\/[^/]/u.test(address);
  const url = readUrl(isBare ? `https://${address}` : address);
  if (url === null) throw noRepository(address);
  refuseProtocol(url, address);
  if (url.password !== '') {
    throw unusable(
      'the address of a repository should hold no password, which would be written down',
      'Let git’s credential helper or an SSH key answer for you.',
    );
  }
  if (url.search !== '') throw noRepository(address);
  const host = url.protocol === 'file:' ? 'file' : url.host.toLowerCase();
  return { url: isBare ? url.href : address, host, name: repositoryName(url.pathname, address) };
}

function readUrl(text: string): URL | null {
  return /^[a-z][a-z\d+.-]*:\/\//iu.test(text) && !/[\p{C}\s]/u.test(text) && URL.canParse(text)
    ? new URL(text)
    : null;
}

function refuseProtocol(url: URL, address: string): void {
  const { protocol } = url;
  if (protocol === 'https:' || protocol === 'ssh:' || protocol === 'file:') return;
  if (protocol === 'http:' && isLoopbackHost(getHost(url))) return;
  if (protocol !== 'http:' && protocol !== 'git:') throw noRepository(address);
  throw unusable(
    `${protocol}// is neither private nor signed, found ${JSON.stringify(address)}`,
    'Use the https or ssh address of the repository.',
  );
}

function repositoryName(path: string, address: string): string {
  const segments = path.split('/').filter((segment) => segment !== '');
  const name = (segments.at(-1) ?? '').replace(/\.git$/u, '');
  if (name === '' || name === '.' || name === '..') throw noRepository(address);
  return name;
}

function noRepository(address: string) {
  return unusable(
    `expected the address of a git repository, found ${JSON.stringify(address)}`,
    'For example: --git github.com/owner/repo, or --git git@host:owner/repo#main',
  );
}
