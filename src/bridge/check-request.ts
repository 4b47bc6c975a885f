import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** An answer that is sent as JSON. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export function refuse(
  status: number,
  error: string,
  headers?: Readonly<Record<string, string>>,
): Answer {
  return { status, body: { success: false, error }, ...(headers === undefined ? {} : { headers }) };
}

/** The names under which a client on this machine reaches the bridge. */
export function listOwnHosts(port: number): ReadonlySet<string> {
  return new Set(['127.0.0.1', 'localhost', '[::1]'].map((host) => `${host}:${port}`));
}

/**
 * Refuses what a web page can send. A page of another origin carries its Origin or Sec-Fetch-Site; one that has made its
 * own name point to this machine carries that name as the Host.
 */
export function checkSender(
  { headers }: IncomingMessage,
  ownHosts: ReadonlySet<string>,
): Answer | null {
  const { host = '', origin } = headers;
  if (!ownHosts.has(host.toLowerCase())) {
    const expected = [...ownHosts].join(', ');
    return refuse(421, `expected one of these as the Host: ${expected}; found "${host}"`);
  }
  if (origin !== undefined && !isOwnOrigin(origin, ownHosts)) {
    return refuse(403, `requests of the origin "${origin}" are not answered`);
  }
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    return refuse(403, `requests of other sites are not answered (Sec-Fetch-Site: ${site})`);
  }
  return null;
}

function isOwnOrigin(origin: string, ownHosts: ReadonlySet<string>): boolean {
  return origin.startsWith('http://') && ownHosts.has(origin.slice('http://'.length).toLowerCase());
}

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

export function checkContentType({ headers }: IncomingMessage): Answer | null {
  const type = headers['content-type'] ?? '';
  if (type === 'application/json' || JSON_TYPE.test(type)) return null;
  return refuse(415, `expected Content-Type: application/json, found "${type}"`);
}

/** Compares in constant time, so that a secret cannot be found letter by letter. */
export function isSecret(value: string | readonly string[] | undefined, secret: string): boolean {
  if (typeof value !== 'string') return false;
  const found = Buffer.from(value);
  const expected = Buffer.from(secret);
  return found.length === expected.length && timingSafeEqual(found, expected);
}

export function checkToken({ headers }: IncomingMessage, token: string): Answer | null {
  const [, found] = /^Bearer (\w+)$/i.exec(headers.authorization ?? '') ?? [];
  if (isSecret(found, token)) return null;
  return refuse(401, 'expected "Authorization: Bearer TOKEN" with the token of the run file', {
    'www-authenticate': 'Bearer',
  });
}
