import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import type { RequestOptions } from 'node:https';
import { getErrorCode, getErrorMessage } from '../../../base/errors.ts';
import {
  AddressRefused,
  findAddressRefusal,
  createGuardedLookup,
  getHost,
  isLoopbackHost,
  type Reach,
  type ResolveHost,
} from '../../../base/network-addresses.ts';
import { decodeBody, readBoundedBody, formatSocketError } from '../../../base/http-body.ts';
import type { Failure, FailureKind } from '../../../hooks/decision.ts';
import { createFailedAnswer } from './limited-run.ts';
import { formatUrl } from './http-rules.ts';

export interface HttpPost {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether private addresses may be called. */
  readonly mayBePrivate: boolean;
  /** Resolves host names; the system's resolver by default. */
  readonly resolve?: ResolveHost;
}

export type Reply =
  | { readonly status: number; readonly text: string }
  | { readonly failure: Failure };

/** Sends one POST over a new connection, which is always closed afterwards. */
export async function sendPost(post: HttpPost, signal: AbortSignal): Promise<Reply> {
  const reach = resolveReach(post);
  if (typeof reach !== 'string') return reach;
  const send = post.url.protocol === 'https:' ? await loadHttps() : httpRequest;
  const request = send(post.url, createRequestOptions(post, reach, signal));
  try {
    const response = await waitForResponse(request, post.body);
    return await readReply(response, post.url);
  } catch (error) {
    return createFailedAnswer(getFailureKind(error), formatConnectionError(error, post.url));
  } finally {
    request.destroy();
  }
}

/** Resolves which addresses may be connected to, or a failure when the URL is not allowed. */
function resolveReach({ url, mayBePrivate }: HttpPost): Reach | { readonly failure: Failure } {
  const isLoopback = isLoopbackHost(getHost(url));
  if (url.protocol === 'http:' && !isLoopback) {
    return createBlockedAnswer(
      url,
      'expected https, or http to this machine; plain http to others is not safe',
    );
  }
  if (isLoopback) return 'loopback';
  const reach = mayBePrivate ? 'any' : 'public';
  const refusal = findAddressRefusal(url, reach);
  return refusal === null ? reach : createBlockedAnswer(url, refusal + HOW_TO_ALLOW);
}

const HOW_TO_ALLOW =
  '; to allow it, name its URL, without a wildcard in the host, in allowedHttpHookUrls of your own settings';

function createBlockedAnswer(url: URL, why: string): { readonly failure: Failure } {
  return createFailedAnswer('spawn', `HTTP hook blocked: ${formatUrl(url)}: ${why}`);
}

// Loaded on first use, because loading TLS is slow.
async function loadHttps(): Promise<typeof httpRequest> {
  const { request } = await import('node:https');
  return request;
}

function createRequestOptions(post: HttpPost, reach: Reach, signal: AbortSignal): RequestOptions {
  return {
    method: 'POST',
    headers: { ...post.headers, 'content-length': Buffer.byteLength(post.body) },
    agent: false,
    lookup: createGuardedLookup(reach, post.resolve),
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED could disable the check.
    rejectUnauthorized: true,
    signal,
  };
}

function waitForResponse(request: ClientRequest, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    // Without this listener the request would neither resolve nor reject.
    request.once('upgrade', (response, socket) => {
      socket.destroy();
      resolve(response);
    });
    // Not `once`: the connection may fail again while it is closed.
    request.on('error', reject);
    request.end(body);
  });
}

async function readReply(response: IncomingMessage, url: URL): Promise<Reply> {
  const status = response.statusCode ?? 0;
  if (status < 200 || status > 299) return { status, text: '' };
  const body = decodeBody(response);
  if (body === null) {
    const encoding = response.headers['content-encoding'] ?? '';
    return createFailedAnswer(
      'output',
      `expected a body in gzip, deflate, br or no encoding from ${formatUrl(url)}, found "${encoding}"`,
    );
  }
  try {
    const bytes = await readBoundedBody(body, MAX_BODY_BYTES);
    if (bytes !== null) return { status, text: bytes.toString('utf8') };
    return createFailedAnswer(
      'output',
      `the answer from ${formatUrl(url)} is longer than ${MAX_BODY_BYTES} bytes`,
    );
  } catch (error) {
    return createFailedAnswer(
      'output',
      `the answer from ${formatUrl(url)} broke off: ${getErrorMessage(error)}`,
    );
  }
}

const MAX_BODY_BYTES = 1024 * 1024;

function getFailureKind(error: unknown): FailureKind {
  const code = getErrorCode(error) ?? '';
  const isReached = code === 'ECONNRESET' || code === 'EPIPE' || code.startsWith('HPE_');
  return isReached ? 'output' : 'spawn';
}

function formatConnectionError(error: unknown, url: URL): string {
  if (error instanceof AddressRefused) {
    const hint = error.isOutOfReach && !isLoopbackHost(getHost(url)) ? HOW_TO_ALLOW : '';
    return `HTTP hook blocked: ${formatUrl(url)}: ${error.message}${hint}`;
  }
  return `no answer from ${formatUrl(url)}: ${formatSocketError(error)}`;
}
