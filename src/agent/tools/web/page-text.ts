import { isUtf8 } from 'node:buffer';
import { truncateText } from '../../../base/json.ts';
import type { PageReply } from './page-request.ts';
import { readablePage } from './readable-page.ts';

/** How much of a page is used. */
const MAX_CHARACTERS = 100_000;

/** A page as text, markdown where it was HTML; `failure` says why there is none. */
export async function pageText(
  url: URL,
  { contentType, body }: PageReply,
  signal: AbortSignal,
): Promise<{ readonly text: string } | { readonly failure: string }> {
  const [type = ''] = contentType.toLowerCase().split(';');
  const text = isTextual(type.trim(), body) ? decode(contentType, body) : null;
  if (text === null || text.includes('\0')) {
    const found = type === '' ? 'binary data' : `${type.trim()} that is not text`;
    return { failure: `expected a page of text, found ${found} at ${url.href}` };
  }
  const isMarkup = type.includes('html') || (type === '' && /^\s*<(?:!doctype|html)/i.test(text));
  return { text: bounded(isMarkup ? await readableText(text, url, signal) : text) };
}

const TEXTUAL =
  /^text\/|[/+](?:json|xml|x?html|yaml|toml)\b|\/(?:javascript|ecmascript|x-(?:yaml|javascript|ndjson|sh|toml)|ndjson|ld|sql|graphql|rtf|typescript)\b/;
const UNTOLD = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

function isTextual(type: string, body: Buffer): boolean {
  return TEXTUAL.test(type) || (UNTOLD.has(type) && isUtf8(body));
}

const MAX_LOOKED_AT_BYTES = 2048;

function decode(contentType: string, body: Buffer): string {
  const inside = body.subarray(0, MAX_LOOKED_AT_BYTES).toString('latin1');
  const named = charsetIn(contentType) ?? charsetIn(/<meta[^>]{0,200}>/i.exec(inside)?.[0] ?? '');
  try {
    return new TextDecoder(named ?? 'utf-8').decode(body);
  } catch {
    return body.toString('utf8');
  }
}

function charsetIn(text: string): string | null {
  return /charset\s*=\s*["']?([\w:.-]+)/i.exec(text)?.[1] ?? null;
}

async function readableText(html: string, url: URL, signal: AbortSignal): Promise<string> {
  const page = await readablePage({ html, url }, signal);
  if ('markdown' in page) return page.markdown;
  return `[The page could not be made readable, so this is its HTML: ${page.failure}]\n\n${html}`;
}

function bounded(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  return `${truncateText(text, MAX_CHARACTERS)}\n\n[Cut here: the page has ${text.length} characters]`;
}
