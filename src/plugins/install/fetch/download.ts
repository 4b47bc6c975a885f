import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { getErrorMessage } from '../../../base/errors.ts';
import { getHost, isLoopbackHost } from '../../../base/network-addresses.ts';
import { readBoundedBody, formatSocketError } from '../../../base/http-body.ts';
import { startTimeLimit } from '../../../base/abort.ts';
import { createInstallError, type RemoteSource } from '../source.ts';
import { isSecure } from '../parse-address.ts';
import { type Fetched, UNMARKED, type InstallTools } from './tools.ts';

/** The limits of a download. */
const DOWNLOAD_LIMITS = { timeoutMs: 30_000, maxBytes: 10 * 1024 * 1024 };

type Limits = typeof DOWNLOAD_LIMITS;

/** Downloads one file. */
export async function fetchFile(
  { url, file }: RemoteSource,
  staging: string,
  tools: InstallTools,
): Promise<Fetched> {
  tools.onProgress(`downloading ${url} …`);
  const bytes = await download(url, tools.signal, DOWNLOAD_LIMITS);
  writeFileSync(path.join(staging, file), bytes);
  return { path: file, isFile: true, name: file, ...UNMARKED, hasPackages: false };
}

/** Downloads the bytes of a URL; throws for an empty or too large response, and on a timeout. */
export async function download(url: string, signal: AbortSignal, limits: Limits): Promise<Buffer> {
  const limit = startTimeLimit(signal, limits.timeoutMs);
  try {
    const response = await followRedirects(new URL(url), limit.signal);
    return await readBody(response, limits);
  } catch (error) {
    signal.throwIfAborted();
    if (limit.hasExpired()) {
      throw createDownloadError(url, `it took longer than ${limits.timeoutMs} ms`);
    }
    throw error instanceof Refused
      ? createDownloadError(url, error.message)
      : createBrokenError(url, error);
  } finally {
    limit.clear();
  }
}

/** A download that we cancelled, with the reason. */
class Refused extends Error {
  override readonly name = 'Refused';
}

const MAX_REDIRECTS = 5;

async function followRedirects(start: URL, signal: AbortSignal): Promise<Response> {
  let url = start;
  for (let step = 0; step <= MAX_REDIRECTS; step += 1) {
    const response = await fetch(url, { redirect: 'manual', signal });
    const next =
      response.status >= 300 && response.status < 400 ? resolveRedirect(response, url) : null;
    if (next === null) return checkResponse(response);
    await response.body?.cancel();
    if (!canFollow(next, start)) throw new Refused(`it leads on to ${next.href}`);
    url = next;
  }
  throw new Refused(`it leads on more than ${MAX_REDIRECTS} times`);
}

function resolveRedirect(response: Response, from: URL): URL | null {
  const location = response.headers.get('location');
  if (location === null || !URL.canParse(location, from.href)) return null;
  return new URL(location, from);
}

/** A redirect must not lead to addresses that only this machine can reach. */
function canFollow(next: URL, start: URL): boolean {
  if (isLoopbackHost(getHost(next)) && !isLoopbackHost(getHost(start))) return false;
  return isSecure(next);
}

function checkResponse(response: Response): Response {
  const { status, headers } = response;
  if (status !== 200) throw new Refused(`the server answered ${status}`);
  const type = headers.get('content-type') ?? '';
  if (/^text\/html\b/iu.test(type)) throw new Refused('it is a web page, not a file');
  return response;
}

async function readBody(response: Response, { maxBytes }: Limits): Promise<Buffer> {
  const tooLong = `it is longer than ${maxBytes} bytes`;
  if (Number(response.headers.get('content-length') ?? 0) > maxBytes) {
    await response.body?.cancel();
    throw new Refused(tooLong);
  }
  if (response.body === null) throw new Refused('it is empty');
  const body = Readable.from(readChunks(response.body));
  const bytes = await readBoundedBody(body, maxBytes);
  if (bytes === null) throw new Refused(tooLong);
  if (bytes.length === 0) throw new Refused('it is empty');
  return bytes;
}

async function* readChunks(body: NonNullable<Response['body']>): AsyncGenerator<Buffer> {
  for await (const chunk of body) yield Buffer.from(chunk);
}

function createDownloadError(url: string, why: string) {
  return createInstallError(`${url} cannot be downloaded: ${why}`, 'Nothing was installed.');
}

/** Node.js reports only `fetch failed`; the reason is in its cause. */
function createBrokenError(url: string, error: unknown) {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return createDownloadError(url, formatSocketError(cause) || getErrorMessage(error));
}
