import { isRecord } from '../base/json.ts';

/** Content of a server: texts and images; other content is described as text. */
export type ServerBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mimeType: string; readonly data: string };

export interface ServerAnswer {
  readonly blocks: readonly ServerBlock[];
  readonly isError: boolean;
}

/** Parses the answer to a call leniently: invalid parts are skipped or described. */
export function parseAnswer(value: unknown): ServerAnswer {
  if (!isRecord(value)) return { blocks: [], isError: false };
  const { content, structuredContent, isError } = value;
  const blocks = Array.isArray(content) ? content.flatMap(parseBlock) : [];
  const hasText = blocks.length > 0 || structuredContent === undefined;
  return {
    // A server should return structured content as text, too; some do not.
    blocks: hasText ? blocks : [{ type: 'text', text: JSON.stringify(structuredContent) ?? '' }],
    isError: isError === true,
  };
}

/** Joins the messages of a prompt to one text. */
export function parsePromptText(value: unknown): string {
  const messages = isRecord(value) && Array.isArray(value['messages']) ? value['messages'] : [];
  const texts = messages.filter(isRecord).flatMap(({ role, content }) => {
    const text = joinTexts((Array.isArray(content) ? content : [content]).flatMap(parseBlock));
    return text === '' ? [] : [role === 'assistant' ? `(You said:) ${text}` : text];
  });
  return texts.join('\n\n');
}

/** Parses the contents of a resource. */
export function parseContents(value: unknown): readonly ServerBlock[] {
  const contents = isRecord(value) && Array.isArray(value['contents']) ? value['contents'] : [];
  return contents.filter(isRecord).flatMap(parseContent);
}

export function joinTexts(blocks: readonly ServerBlock[]): string {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

function parseBlock(value: unknown): ServerBlock[] {
  if (!isRecord(value)) return [];
  const { type, text, data, mimeType, resource } = value;
  if (type === 'text' && typeof text === 'string') return [{ type: 'text', text }];
  if (type === 'image' && typeof data === 'string') {
    return [{ type: 'image', data, mimeType: toText(mimeType, 'image/png') }];
  }
  if (type === 'audio') return [createText(`[audio of type ${toText(mimeType, 'unknown')}]`)];
  if (type === 'resource_link') return [createText(formatLink(value))];
  if (type === 'resource' && isRecord(resource)) return parseContent(resource);
  return [createText(`[a block of type ${JSON.stringify(type ?? null)} that cannot be shown]`)];
}

function parseContent(content: Record<string, unknown>): ServerBlock[] {
  const { text, blob, uri, mimeType } = content;
  if (typeof text === 'string') return [{ type: 'text', text }];
  const kind = toText(mimeType, 'application/octet-stream');
  if (typeof blob !== 'string') return [];
  if (kind.startsWith('image/')) return [{ type: 'image', data: blob, mimeType: kind }];
  return [
    createText(`[${blob.length} characters of base64, type ${kind}, from ${toText(uri, '?')}]`),
  ];
}

function formatLink({ uri, name, description }: Record<string, unknown>): string {
  const descriptionText = toText(description, '');
  return `[Resource link: ${toText(name, '')}] ${toText(uri, '')}${descriptionText === '' ? '' : ` (${descriptionText})`}`;
}

function createText(text: string): ServerBlock {
  return { type: 'text', text };
}

function toText(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback;
}
