import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { getErrorMessage } from './errors.ts';

/** The decompressed body, or null when its content encoding is not supported. */
export function decodeBody(response: IncomingMessage): Readable | null {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const decoder = createDecoder(encoding);
  if (decoder === 'none') return response;
  // The decoder emits every error to its reader; pipeline closes both ends.
  return decoder === null ? null : pipeline(response, decoder, () => undefined);
}

function createDecoder(encoding: string) {
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

/** The whole body, or null as soon as it is too long; throws when the connection breaks. */
export async function readBoundedBody(body: Readable, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** When several addresses fail, Node.js throws an AggregateError without a message of its own. */
export function formatSocketError(error: unknown): string {
  if (!(error instanceof AggregateError)) return getErrorMessage(error);
  return [...new Set(error.errors.map(getErrorMessage))].join(', ');
}
