import { getHost, isLoopbackHost, type ResolveHost } from '../../../base/net/addresses.ts';
import { startTimeLimit } from '../../../base/time-limit.ts';
import { requestPage, type PageReply } from './page-request.ts';

export interface FetchRules {
  /** Whether this machine and private networks may be asked. */
  readonly mayBePrivate: boolean;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** How names become addresses; by the system when absent. */
  readonly resolve?: ResolveHost;
}

export type Fetched =
  | { readonly kind: 'page'; readonly url: URL; readonly reply: PageReply }
  /** To another host, which somebody else must decide on. */
  | { readonly kind: 'redirect'; readonly to: URL; readonly reply: PageReply }
  | { readonly kind: 'failed'; readonly message: string };

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 10 * 1024 * 1024;
const MAX_REDIRECTS = 10;

/** Gets a page, and follows where it went on the same host. */
export async function fetchPage(
  wanted: URL,
  rules: FetchRules,
  signal: AbortSignal,
): Promise<Fetched> {
  const timeoutMs = rules.timeoutMs ?? TIMEOUT_MS;
  const limit = startTimeLimit(signal, timeoutMs);
  try {
    const fetched = await follow(secured(wanted, rules), rules, limit.signal);
    if (fetched.kind !== 'failed' || !limit.hasExpired()) return fetched;
    return failure(wanted, `it did not answer completely within ${timeoutMs / 1000} s`);
  } finally {
    limit.clear();
  }
}

/** Nothing goes over the net unprotected. */
function secured(url: URL, { mayBePrivate }: FetchRules): URL {
  if (url.protocol !== 'http:' || (mayBePrivate && isLoopbackHost(getHost(url)))) return url;
  const secure = new URL(url);
  secure.protocol = 'https:';
  return secure;
}

async function follow(first: URL, rules: FetchRules, signal: AbortSignal): Promise<Fetched> {
  let url = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const reply = await requestPage(url, requestRules(rules), signal);
    if (typeof reply === 'string') return failure(url, reply);
    if (!isRedirect(reply)) return pageOf(url, reply);
    const next = nextUrl(url, reply, rules);
    if (next === null) return failure(url, `it redirects to "${reply.location}", no web page`);
    if (!isSameSite(url, next)) return { kind: 'redirect', to: next, reply };
    url = next;
  }
  return failure(first, `it redirects more than ${MAX_REDIRECTS} times`);
}

function requestRules({ mayBePrivate, maxBytes, resolve }: FetchRules) {
  return {
    reach: mayBePrivate ? ('any' as const) : ('public' as const),
    maxBytes: maxBytes ?? MAX_BYTES,
    ...(resolve === undefined ? {} : { resolve }),
  };
}

function failure(url: URL, why: string): Fetched {
  return { kind: 'failed', message: `${url.href} could not be fetched: ${why}` };
}

function isRedirect({ status, location }: PageReply): boolean {
  return [301, 302, 303, 307, 308].includes(status) && location !== null;
}

function pageOf(url: URL, reply: PageReply): Fetched {
  if (reply.status >= 200 && reply.status <= 299) return { kind: 'page', url, reply };
  return failure(url, `the server answered ${reply.status} ${reply.statusText}`.trimEnd());
}

function nextUrl(url: URL, { location }: PageReply, rules: FetchRules): URL | null {
  if (location === null || !URL.canParse(location, url.href)) return null;
  const next = new URL(location, url.href);
  return /^https?:$/.test(next.protocol) ? secured(next, rules) : null;
}

function isSameSite(url: URL, next: URL): boolean {
  const bare = ({ hostname }: URL) => hostname.replace(/^www\./, '');
  const hasCredentials = next.username !== '' || next.password !== '';
  return bare(url) === bare(next) && url.port === next.port && !hasCredentials;
}
