import { getHost, isLoopbackHost } from '../../base/network-addresses.ts';
import { type GitSource, type RemoteSource, createSourceError } from './source.ts';

/** Matches a single-file plugin; type declarations are none. */
export const PLUGIN_FILE = /(?<!\.d)\.m?[tj]s$/iu;

/** Parses the URL of a file; null when it may be a repository. */
export function parseFileUrl(text: string): RemoteSource | null {
  if (!/^https?:\/\//iu.test(text) || !URL.canParse(text)) return null;
  const url = toRawAddress(new URL(text));
  const file = getFileName(url);
  if (!PLUGIN_FILE.test(file)) {
    if (isPageOfFile(new URL(text))) throw createExtensionError(text);
    return null;
  }
  refuseInsecure(url);
  if (url.password !== '' || url.username !== '') {
    throw createSourceError(
      'an address with a name or a password in it would be written down',
      'Download the file yourself and install it by its path.',
    );
  }
  url.hash = '';
  return { kind: 'remote', url: url.href, file };
}

/** Whether it may be fetched: https, or a server on this machine. */
export function isSecure(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(getHost(url)));
}

function refuseInsecure(url: URL): void {
  if (isSecure(url)) return;
  throw createSourceError(
    `a plugin is downloaded over https only, found ${JSON.stringify(url.href)}`,
    'Otherwise anybody on the network could change it.',
  );
}

const GITHUB_FILE = /^\/(?<owner>[^/]+)\/(?<repo>[^/]+)\/(?:blob|raw)\/(?<rest>.+)$/u;

/** GitHub shows files in a page; the raw file has another address. */
function toRawAddress(url: URL): URL {
  const page = isGitHub(url) ? GITHUB_FILE.exec(url.pathname)?.groups : undefined;
  if (page === undefined) return url;
  const { owner = '', repo = '', rest = '' } = page;
  return new URL(`https://raw.githubusercontent.com/${owner}/${repo}/${rest}`);
}

function isPageOfFile(url: URL): boolean {
  return isGitHub(url) && GITHUB_FILE.test(url.pathname);
}

function isGitHub({ hostname, protocol }: URL): boolean {
  return protocol === 'https:' && (hostname === 'github.com' || hostname === 'www.github.com');
}

function getFileName(url: URL): string {
  const last = url.pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last).replaceAll(/[^\w.@+-]+/gu, '-');
  } catch {
    return last;
  }
}

function createExtensionError(text: string) {
  return createSourceError(
    `a plugin file ends in .ts, .mts, .js or .mjs, found ${JSON.stringify(text)}`,
    'Pass the plugin’s own file, or its repository with --git.',
  );
}

/** Parses `https://host/owner/repo#ref`, `git@host:owner/repo`, `host/owner/repo@ref`, `git:` in front or not. */
export function parseGitAddress(written: string): GitSource {
  const text = written.replace(/^git:(?!\/\/)/u, '').replace(/^git\+/u, '');
  const [address = '', ...refs] = text.split('#');
  const addressAndRef = refs.length === 0 ? splitRef(address) : { address, ref: refs.join('#') };
  const ref = addressAndRef.ref === null ? null : checkRef(addressAndRef.ref);
  const place = SCP_LIKE.test(addressAndRef.address)
    ? fromScp(addressAndRef.address)
    : fromUrl(addressAndRef.address);
  return { kind: 'git', ...place, ref };
}

// `git@github.com:owner/repo`, which is no URL.
const SCP_LIKE = /^[\w.-]+@(?<host>[\w.-]+):(?!\/\/)(?<path>[^\s:]+)$/u;

type Repository = Pick<GitSource, 'url' | 'host' | 'name'>;

/** Splits off a ref after `@`, which is one only after a repository's name. */
function splitRef(address: string): { readonly address: string; readonly ref: string | null } {
  if (address.startsWith('file:')) return { address, ref: null };
  const start = findPathStart(address);
  const at = /[^/]@(?=[^/])/u.exec(address.slice(start));
  if (at === null) return { address, ref: null };
  const end = start + at.index + 1;
  return { address: address.slice(0, end), ref: address.slice(end + 1) };
}

/** The index of the path; an `@` before it follows a user name. */
function findPathStart(address: string): number {
  const scp = SCP_LIKE.exec(address);
  if (scp !== null) return address.indexOf(':') + 1;
  const scheme = /^[a-z][a-z\d+.-]*:\/\//iu.exec(address)?.[0].length ?? 0;
  const slash = address.indexOf('/', scheme);
  return slash === -1 ? address.length : slash;
}

// What git allows in the name of a branch or tag, without revision syntax.
const REF = /^(?![-./])(?!.*(?:\.\.|@\{|\/\/))[^\p{C}\s~^:?*[\\]+(?<![/.])$/u;

function checkRef(ref: string): string {
  if (REF.test(ref)) return ref;
  throw createSourceError(
    `expected a branch, a tag or a commit after # or @, found ${JSON.stringify(ref)}`,
    'For example: --git github.com/owner/repo#v1.2.0',
  );
}

function fromScp(address: string): Repository {
  const { host = '', path = '' } = SCP_LIKE.exec(address)?.groups ?? {};
  return { url: address, host: host.toLowerCase(), name: parseRepositoryName(path, address) };
}

function fromUrl(address: string): Repository {
  const isBare = /^[\w-]+(?:\.[\w-]+)+(?::\d+)?\/[^/]/u.test(address);
  const url = readUrl(isBare ? `https://${address}` : address);
  if (url === null) throw createNoRepositoryError(address);
  refuseProtocol(url, address);
  if (url.password !== '') {
    throw createSourceError(
      'the address of a repository should hold no password, which would be written down',
      'Let git’s credential helper or an SSH key answer for you.',
    );
  }
  if (url.search !== '') throw createNoRepositoryError(address);
  const host = url.protocol === 'file:' ? 'file' : url.host.toLowerCase();
  return {
    url: isBare ? url.href : address,
    host,
    name: parseRepositoryName(url.pathname, address),
  };
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
  if (protocol !== 'http:' && protocol !== 'git:') throw createNoRepositoryError(address);
  throw createSourceError(
    `${protocol}// is neither private nor signed, found ${JSON.stringify(address)}`,
    'Use the https or ssh address of the repository.',
  );
}

function parseRepositoryName(path: string, address: string): string {
  const segments = path.split('/').filter((segment) => segment !== '');
  const name = (segments.at(-1) ?? '').replace(/\.git$/u, '');
  if (name === '' || name === '.' || name === '..') throw createNoRepositoryError(address);
  return name;
}

function createNoRepositoryError(address: string) {
  return createSourceError(
    `expected the address of a git repository, found ${JSON.stringify(address)}`,
    'For example: --git github.com/owner/repo, or --git git@host:owner/repo#main',
  );
}
