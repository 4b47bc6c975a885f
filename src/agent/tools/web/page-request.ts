import {
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
  STATUS_CODES,
} from 'node:http';
import { getErrorMessage } from '../../../base/errors.ts';
import {
  findAddressRefusal,
  createGuardedLookup,
  type Reach,
  type ResolveHost,
} from '../../../base/net/addresses.ts';
import { decodeBody, readBoundedBody, formatSocketError } from '../../../base/net/http-body.ts';
import { VERSION } from '../../../base/version.ts';

export interface RequestRules {
  readonly reach: Reach;
  readonly maxBytes: number;
  /** How names become addresses; by the system when absent. */
  readonly resolve?: ResolveHost;
}

export interface PageReply {
  readonly status: number;
  readonly statusText: string;
  readonly contentType: string;
  readonly location: string | null;
  /** Empty unless the status is good. */
  readonly body: Buffer;
}

/** Asks for one page over a connection of its own, which is closed afterwards; a string says why not. */
export async function requestPage(
  url: URL,
  rules: RequestRules,
  signal: AbortSignal,
): Promise<PageReply | string> {
  const refusal = findAddressRefusal(url, rules.reach);
  if (refusal !== null) return refusal;
  const send = url.protocol === 'https:' ? (await import('node:https')).request : httpRequest;
  const request = send(url, {
    headers: HEADERS,
    agent: false,
    lookup: createGuardedLookup(rules.reach, rules.resolve),
    // Said aloud, because an environment variable could switch the check off.
    rejectUnauthorized: true,
    signal,
  });
  try {
    return await replyOf(await responseTo(request), rules.maxBytes);
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

function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    // Stays, as a connection may break again while it is being closed.
    request.on('error', reject);
    request.end();
  });
}

async function replyOf(response: IncomingMessage, maxBytes: number): Promise<PageReply | string> {
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
