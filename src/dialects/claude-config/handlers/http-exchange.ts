import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import type { RequestOptions } from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { errnoOf, messageOf } from '../../../base/errors.ts';
import type { Failure, FailureKind } from '../../../hooks/decision.ts';
import {
  AddressRefused,
  guardedLookup,
  isLoopbackHost,
  mayReach,
  type Reach,
  refusalOf,
  type Resolve,
} from './addresses.ts';
import { failed } from './asking.ts';
import { shownUrl } from './http-rules.ts';

export interface HttpPost {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether private addresses may be called. */
  readonly mayBePrivate: boolean;
  /** How names become addresses; by the system when absent. */
  readonly resolve?: Resolve;
}

export type Reply =
  | { readonly status: number; readonly text: string }
  | { readonly failure: Failure };

/** Sends one POST over a connection of its own, which is closed afterwards in every case. */
export async function post(wanted: HttpPost, signal: AbortSignal): Promise<Reply> {
  const reach = reachOf(wanted);
  if (typeof reach !== 'string') return reach;
  const send = wanted.url.protocol === 'https:' ? await loadHttps() : httpRequest;
  const request = send(wanted.url, requestOptions(wanted, reach, signal));
  try {
    const response = await responseTo(request, wanted.body);
    return await replyOf(response, wanted.url);
  } catch (error) {
    return failed(unansweredKind(error), unansweredMessage(error, wanted.url));
  } finally {
    request.destroy();
  }
}

/** How far the connection may go, or why there is none to make. */
function reachOf({ url, mayBePrivate }: HttpPost): Reach | { readonly failure: Failure } {
  const host = hostOf(url);
  const isLoopback = isLoopbackHost(host);
  if (url.protocol === 'http:' && !isLoopback) {
    return blocked(
      url,
      'expected https, or http to this machine; plain http to others is not safe',
    );
  }
  if (isLoopback) return 'loopback';
  const reach = mayBePrivate ? 'any' : 'public';
  // The connection never looks up what is an address already.
  const isRefused = isAddress(url) && !mayReach(host, reach);
  return isRefused ? blocked(url, refusalOf(host, host, reach)) : reach;
}

function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

function isAddress(url: URL): boolean {
  return mayReach(hostOf(url), 'any');
}

function blocked(url: URL, why: string): { readonly failure: Failure } {
  return failed('spawn', `HTTP hook blocked: ${shownUrl(url)}: ${why}`);
}

// Loading TLS takes longer than everything else here.
async function loadHttps(): Promise<typeof httpRequest> {
  const { request } = await import('node:https');
  return request;
}

function requestOptions(wanted: HttpPost, reach: Reach, signal: AbortSignal): RequestOptions {
  return {
    method: 'POST',
    headers: { ...wanted.headers, 'content-length': Buffer.byteLength(wanted.body) },
    agent: false,
    lookup: guardedLookup(reach, wanted.resolve),
    // Said aloud, because an environment variable could switch the check off.
    rejectUnauthorized: true,
    signal,
  };
}

function responseTo(request: ClientRequest, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    // Without a listener the request would neither answer nor fail.
    request.once('upgrade', (response, socket) => {
      socket.destroy();
      resolve(response);
    });
    // Stays, as a connection may break again while it is being closed.
    request.on('error', reject);
    request.end(body);
  });
}

async function replyOf(response: IncomingMessage, url: URL): Promise<Reply> {
  const status = response.statusCode ?? 0;
  if (status < 200 || status > 299) return { status, text: '' };
  const body = decoded(response);
  if (body === null) {
    const found = response.headers['content-encoding'] ?? '';
    return failed(
      'output',
      `expected a body in gzip, deflate, br or no encoding from ${shownUrl(url)}, found "${found}"`,
    );
  }
  try {
    const text = await readBounded(body);
    if (text !== null) return { status, text };
    return failed(
      'output',
      `the answer from ${shownUrl(url)} is longer than ${MAX_BODY_BYTES} bytes`,
    );
  } catch (error) {
    return failed('output', `the answer from ${shownUrl(url)} broke off: ${messageOf(error)}`);
  }
}

function decoded(response: IncomingMessage): Readable | null {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const decoder = decoderFor(encoding);
  if (decoder === 'none') return response;
  // The reader of the decoder sees every error; pipeline closes both ends.
  return decoder === null ? null : pipeline(response, decoder, () => undefined);
}

function decoderFor(encoding: string) {
  switch (encoding) {
    case '':
    case 'identity':
      return 'none';
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return null;
  }
}

const MAX_BODY_BYTES = 1024 * 1024;

/** The whole text, or null as soon as it is too long. */
async function readBounded(body: Readable): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function unansweredKind(error: unknown): FailureKind {
  const code = errnoOf(error) ?? '';
  const isReached = code === 'ECONNRESET' || code === 'EPIPE' || code.startsWith('HPE_');
  return isReached ? 'output' : 'spawn';
}

function unansweredMessage(error: unknown, url: URL): string {
  if (error instanceof AddressRefused) {
    return `HTTP hook blocked: ${shownUrl(url)}: ${error.message}`;
  }
  return `no answer from ${shownUrl(url)}: ${socketMessage(error)}`;
}

/** Trying several addresses fails with one error for each and no message of its own. */
function socketMessage(error: unknown): string {
  if (!(error instanceof AggregateError)) return messageOf(error);
  return [...new Set(error.errors.map(messageOf))].join(', ');
}
