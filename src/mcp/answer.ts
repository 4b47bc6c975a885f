import { isRecord } from '../base/json.ts';

/** What a server gave: texts, pictures, and what neither is, in words. */
export type ServerBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mimeType: string; readonly data: string };

export interface ServerAnswer {
  readonly blocks: readonly ServerBlock[];
  readonly isError: boolean;
}

/** The answer to a call, read with patience. */
export function parseAnswer(given: unknown): ServerAnswer {
  if (!isRecord(given)) return { blocks: [], isError: false };
  const { content, structuredContent, isError } = given;
  const blocks = Array.isArray(content) ? content.flatMap(readBlock) : [];
  const isToldInWords = blocks.length > 0 || structuredContent === undefined;
  return {
    // A server should say in words, too, what it says as data; some do not.
    blocks: isToldInWords
      ? blocks
      : [{ type: 'text', text: JSON.stringify(structuredContent) ?? '' }],
    isError: isError === true,
  };
}

/** The messages of a prompt as one text. */
export function parsePromptText(given: unknown): string {
  const messages = isRecord(given) && Array.isArray(given['messages']) ? given['messages'] : [];
  const texts = messages.filter(isRecord).flatMap(({ role, content }) => {
    const text = joinTexts((Array.isArray(content) ? content : [content]).flatMap(readBlock));
    return text === '' ? [] : [role === 'assistant' ? `(You said:) ${text}` : text];
  });
  return texts.join('\n\n');
}

/** What a resource holds; `uri` is what was asked for. */
export function parseContents(given: unknown): readonly ServerBlock[] {
  const contents = isRecord(given) && Array.isArray(given['contents']) ? given['contents'] : [];
  return contents.filter(isRecord).flatMap(readContent);
}

export function joinTexts(blocks: readonly ServerBlock[]): string {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

function readBlock(given: unknown): ServerBlock[] {
  if (!isRecord(given)) return [];
  const { type, text, data, mimeType, resource } = given;
  if (type === 'text' && typeof text === 'string') return [{ type: 'text', text }];
  if (type === 'image' && typeof data === 'string') {
    return [{ type: 'image', data, mimeType: wordOf(mimeType, 'image/png') }];
  }
  if (type === 'audio') return [words(`[audio of type ${wordOf(mimeType, 'unknown')}]`)];
  if (type === 'resource_link') return [words(linkWords(given))];
  if (type === 'resource' && isRecord(resource)) return readContent(resource);
  return [words(`[a block of type ${JSON.stringify(type ?? null)} that cannot be shown]`)];
}

function readContent(content: Record<string, unknown>): ServerBlock[] {
  const { text, blob, uri, mimeType } = content;
  if (typeof text === 'string') return [{ type: 'text', text }];
  const kind = wordOf(mimeType, 'application/octet-stream');
  if (typeof blob !== 'string') return [];
  if (kind.startsWith('image/')) return [{ type: 'image', data: blob, mimeType: kind }];
  return [words(`[${blob.length} characters of base64, type ${kind}, from ${wordOf(uri, '?')}]`)];
}

function linkWords({ uri, name, description }: Record<string, unknown>): string {
  const about = wordOf(description, '');
  return `[Resource link: ${wordOf(name, '')}] ${wordOf(uri, '')}${about === '' ? '' : ` (${about})`}`;
}

function words(text: string): ServerBlock {
  return { type: 'text', text };
}

function wordOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}
