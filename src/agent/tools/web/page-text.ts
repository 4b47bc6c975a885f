import { isUtf8 } from 'node:buffer';
import { truncateText, isRecord } from '../../../base/json.ts';
import type { PageReply } from './fetch-page.ts';
import { Worker } from 'node:worker_threads';
import { resolveBuiltFile } from '../../../base/built-files.ts';
import { getErrorMessage } from '../../../base/errors.ts';
import { startTimeLimit } from '../../../base/abort.ts';

/** The longest page text that is used. */
const MAX_CHARACTERS = 100_000;

/** Converts a page to text, HTML to Markdown; `failure` says why that is impossible. */
export async function extractPageText(
  url: URL,
  { contentType, body }: PageReply,
  signal: AbortSignal,
): Promise<{ readonly text: string } | { readonly failure: string }> {
  const [type = ''] = contentType.toLowerCase().split(';');
  const text = isTextual(type.trim(), body) ? decodeBytes(contentType, body) : null;
  if (text === null || text.includes('\0')) {
    const found = type === '' ? 'binary data' : `${type.trim()} that is not text`;
    return { failure: `expected a page of text, found ${found} at ${url.href}` };
  }
  const isMarkup = type.includes('html') || (type === '' && /^\s*<(?:!doctype|html)/i.test(text));
  return { text: truncatePage(isMarkup ? await convertToMarkdown(text, url, signal) : text) };
}

const TEXTUAL =
  /^text\/|[/+](?:json|xml|x?html|yaml|toml)\b|\/(?:javascript|ecmascript|x-(?:yaml|javascript|ndjson|sh|toml)|ndjson|ld|sql|graphql|rtf|typescript)\b/;
const UNSPECIFIC_TYPES = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

function isTextual(type: string, body: Buffer): boolean {
  return TEXTUAL.test(type) || (UNSPECIFIC_TYPES.has(type) && isUtf8(body));
}

const MAX_LOOKED_AT_BYTES = 2048;

function decodeBytes(contentType: string, body: Buffer): string {
  const inside = body.subarray(0, MAX_LOOKED_AT_BYTES).toString('latin1');
  const charset =
    findCharset(contentType) ?? findCharset(/<meta[^>]{0,200}>/i.exec(inside)?.[0] ?? '');
  try {
    return new TextDecoder(charset ?? 'utf-8').decode(body);
  } catch {
    return body.toString('utf8');
  }
}

function findCharset(text: string): string | null {
  return /charset\s*=\s*["']?([\w:.-]+)/i.exec(text)?.[1] ?? null;
}

async function convertToMarkdown(html: string, url: URL, signal: AbortSignal): Promise<string> {
  const page = await extractReadablePage(html, url, signal);
  if ('markdown' in page) return page.markdown;
  return `[The page could not be made readable, so this is its HTML: ${page.failure}]\n\n${html}`;
}

function truncatePage(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  return `${truncateText(text, MAX_CHARACTERS)}\n\n[Cut here: the page has ${text.length} characters]`;
}

type ReadablePage = { readonly markdown: string } | { readonly failure: string };

const READER_TIMEOUT_MS = 20_000;
const MAX_HEAP_MB = 768;

/**
 * Extracts the main content of a page as Markdown. Runs in a worker that can be terminated, because a
 * hostile page could keep a parser busy or exhaust the memory.
 */
export async function extractReadablePage(
  html: string,
  url: URL,
  signal: AbortSignal,
  timeoutMs = READER_TIMEOUT_MS,
): Promise<ReadablePage> {
  try {
    return await waitForPage(startWorker(html, url), timeoutMs, signal);
  } catch (error) {
    return { failure: getErrorMessage(error) };
  }
}

function startWorker(html: string, url: URL): Worker {
  return new Worker(resolveBuiltFile('agent/tools/web/page-reader.js'), {
    // The worker needs nothing of the environment.
    env: {},
    execArgv: [],
    workerData: { html, url: url.href },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    stdout: true,
    stderr: true,
  });
}

function waitForPage(
  worker: Worker,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ReadablePage> {
  const limit = startTimeLimit(signal, timeoutMs);
  return new Promise((resolve) => {
    const settle = (page: ReadablePage): void => {
      limit.clear();
      resolve(page);
      void worker.terminate();
    };
    const giveUp = (): void => settle({ failure: `it took longer than ${timeoutMs / 1000} s` });
    worker.once('message', (message: unknown) => settle(parseMessage(message)));
    worker.on('error', (error) => settle({ failure: getErrorMessage(error) }));
    worker.once('exit', () => settle({ failure: 'its reader ended without an answer' }));
    limit.signal.addEventListener('abort', giveUp, { once: true });
    if (limit.signal.aborted) giveUp();
  });
}

function parseMessage(message: unknown): ReadablePage {
  if (isRecord(message) && typeof message['markdown'] === 'string') {
    return { markdown: message['markdown'] };
  }
  const failure = isRecord(message) ? message['failure'] : null;
  return { failure: typeof failure === 'string' ? failure : 'its reader gave no answer' };
}
