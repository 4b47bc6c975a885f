import {
  getHost,
  isLoopbackHost,
  type ResolveHost,
  findAddressRefusal,
  createGuardedLookup,
  type Reach,
} from '../../../base/network-addresses.ts';
import { startTimeLimit } from '../../../base/abort.ts';
import {
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
  STATUS_CODES,
} from 'node:http';
import { getErrorMessage } from '../../../base/errors.ts';
import { decodeBody, readBoundedBody, formatSocketError } from '../../../base/http-body.ts';
import { VERSION } from '../../../base/version.ts';

interface FetchRules {
  /** Whether loopback and private addresses may be fetched. */
  readonly mayBePrivate: boolean;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Resolves host names; the system resolver by default. */
  readonly resolve?: ResolveHost;
}

export type Fetched =
  | { readonly kind: 'page'; readonly url: URL; readonly reply: PageReply }
  /** A redirect to another host, which the model has to request itself. */
  | { readonly kind: 'redirect'; readonly to: URL; readonly reply: PageReply }
  | { readonly kind: 'failed'; readonly message: string };

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 10 * 1024 * 1024;
const MAX_REDIRECTS = 10;

/** Fetches a page and follows redirects on the same host. */
export async function fetchPage(
  requested: URL,
  rules: FetchRules,
  signal: AbortSignal,
): Promise<Fetched> {
  const timeoutMs = rules.timeoutMs ?? TIMEOUT_MS;
  const limit = startTimeLimit(signal, timeoutMs);
  try {
    const fetched = await followRedirects(toHttps(requested, rules), rules, limit.signal);
    if (fetched.kind !== 'failed' || !limit.hasExpired()) return fetched;
    return createFailure(requested, `it did not answer completely within ${timeoutMs / 1000} s`);
  } finally {
    limit.clear();
  }
}

/** Upgrades http to https. */
function toHttps(url: URL, { mayBePrivate }: FetchRules): URL {
  if (url.protocol !== 'http:' || (mayBePrivate && isLoopbackHost(getHost(url)))) return url;
  const secure = new URL(url);
  secure.protocol = 'https:';
  return secure;
}

async function followRedirects(
  first: URL,
  rules: FetchRules,
  signal: AbortSignal,
): Promise<Fetched> {
  let url = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const reply = await requestPage(url, rules, signal);
    if (typeof reply === 'string') return createFailure(url, reply);
    if (!isRedirect(reply)) return toFetched(url, reply);
    const next = resolveRedirect(url, reply, rules);
    if (next === null) {
      return createFailure(url, `it redirects to "${reply.location}", no web page`);
    }
    if (!isSameSite(url, next)) return { kind: 'redirect', to: next, reply };
    url = next;
  }
  return createFailure(first, `it redirects more than ${MAX_REDIRECTS} times`);
}

function createFailure(url: URL, why: string): Fetched {
  return { kind: 'failed', message: `${url.href} could not be fetched: ${why}` };
}

function isRedirect({ status, location }: PageReply): boolean {
  return [301, 302, 303, 307, 308].includes(status) && location !== null;
}

function toFetched(url: URL, reply: PageReply): Fetched {
  if (reply.status >= 200 && reply.status <= 299) return { kind: 'page', url, reply };
  return createFailure(url, `the server answered ${reply.status} ${reply.statusText}`.trimEnd());
}

function resolveRedirect(url: URL, { location }: PageReply, rules: FetchRules): URL | null {
  if (location === null || !URL.canParse(location, url.href)) return null;
  const next = new URL(location, url.href);
  return /^https?:$/.test(next.protocol) ? toHttps(next, rules) : null;
}

function isSameSite(url: URL, next: URL): boolean {
  const getSite = ({ hostname }: URL) => hostname.replace(/^www\./, '');
  const hasCredentials = next.username !== '' || next.password !== '';
  return getSite(url) === getSite(next) && url.port === next.port && !hasCredentials;
}

export interface PageReply {
  readonly status: number;
  readonly statusText: string;
  readonly contentType: string;
  readonly location: string | null;
  /** Empty unless the status is 2xx. */
  readonly body: Buffer;
}

/** Requests one page over its own connection; a string says why it failed. */
async function requestPage(
  url: URL,
  { mayBePrivate, maxBytes = MAX_BYTES, resolve }: FetchRules,
  signal: AbortSignal,
): Promise<PageReply | string> {
  const reach: Reach = mayBePrivate ? 'any' : 'public';
  const refusal = findAddressRefusal(url, reach);
  if (refusal !== null) return refusal;
  const send = url.protocol === 'https:' ? (await import('node:https')).request : httpRequest;
  const request = send(url, {
    headers: HEADERS,
    agent: false,
    lookup: createGuardedLookup(reach, resolve),
    // Explicit, because an environment variable could disable the check.
    rejectUnauthorized: true,
    signal,
  });
  try {
    return await readReply(await waitForResponse(request), maxBytes);
  } catch (error) {
    return `no answer: ${formatSocketError(error)}`;
  } finally {
    request.destroy();
  }
}

const HEADERS = {
  accept: 'text/markdown, text/html;q=0.9, */*;q=0.5',
  'accept-encoding': 'gzip, deflate, br',
  'user-agent': `hookline/${VERSION}`,
};

function waitForResponse(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    // The listener stays, because the connection may fail again while it is closed.
    request.on('error', reject);
    request.end();
  });
}

async function readReply(response: IncomingMessage, maxBytes: number): Promise<PageReply | string> {
  const status = response.statusCode ?? 0;
  const { statusMessage = '' } = response;
  const head = {
    status,
    statusText: statusMessage === '' ? (STATUS_CODES[status] ?? '') : statusMessage,
    contentType: response.headers['content-type'] ?? '',
    location: response.headers.location ?? null,
  };
  if (status < 200 || status > 299) return { ...head, body: Buffer.alloc(0) };
  const body = decodeBody(response);
  if (body === null) {
    return `expected a body in gzip, deflate, br or no encoding, found "${response.headers['content-encoding']}"`;
  }
  try {
    const bytes = await readBoundedBody(body, maxBytes);
    return bytes === null ? `the page is longer than ${maxBytes} bytes` : { ...head, body: bytes };
  } catch (error) {
    return `the page broke off: ${getErrorMessage(error)}`;
  }
}
