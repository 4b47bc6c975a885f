import { getHost, isLoopbackHost } from '../../../base/network-addresses.ts';
import { unusable } from './problem.ts';
import type { RemoteSource } from './source.ts';

/** A plugin that is one file ends in one of these; declarations of types are none. */
export const PLUGIN_FILE = /(?<!\.d)\.m?[tj]s$/iu;

/** The file that a URL leads to; null when it may be a repository. */
export function parseFileUrl(text: string): RemoteSource | null {
  if (!/^https?:\/\//iu.test(text) || !URL.canParse(text)) return null;
  const url = rawAddress(new URL(text));
  const file = fileName(url);
  if (!PLUGIN_FILE.test(file)) {
    if (isPageOfFile(new URL(text))) throw wrongEnding(text);
    return null;
  }
  refuseInsecure(url);
  if (url.password !== '' || url.username !== '') {
    throw unusable(
      'an address with a name or a password in it would be written down',
      'Download the file yourself and install it by its path.',
    );
  }
  url.hash = '';
  return { kind: 'remote', url: url.href, file };
}

/** What may be read over the network: https, and this machine itself. */
export function isSecure(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(getHost(url)));
}

function refuseInsecure(url: URL): void {
  if (isSecure(url)) return;
  throw unusable(
    `a plugin is downloaded over https only, found ${JSON.stringify(url.href)}`,
    'Whoever stands in between could put anything into it otherwise.',
  );
}

const GITHUB_FILE = /^\/(?<owner>[^/]+)\/(?<repo>[^/]+)\/(?:blob|raw)\/(?<rest>.+)$/u;

/** GitHub shows files in a page; the file itself is elsewhere. */
function rawAddress(url: URL): URL {
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

function fileName(url: URL): string {
  const last = url.pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last).replaceAll(/[^\w.@+-]+/gu, '-');
  } catch {
    return last;
  }
}

function wrongEnding(text: string) {
  return unusable(
    `a plugin file ends in .ts, .mts, .js or .mjs, found ${JSON.stringify(text)}`,
    'Name the plugin’s own file, or its repository with --git.',
  );
}
