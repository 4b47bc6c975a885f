import { fileURLToPath } from 'node:url';
import type * as acp from '@agentclientprotocol/sdk';
import type { ImageBlock } from '../sessions/messages.ts';

/**
 * Reads a prompt from an editor; `notes` are about parts that cannot be passed on. Mentions stay where
 * the user wrote them; the content of attached resources follows after the text, so that a slash command
 * stays at its beginning.
 */
export function readPrompt(blocks: readonly acp.ContentBlock[]) {
  const parts = blocks.map(readPart);
  const typed = parts.map(({ text = '' }) => text).join('');
  const attached = parts.flatMap(({ context }) => context ?? []);
  return {
    text: [typed.trim(), ...attached].filter((text) => text !== '').join('\n\n'),
    images: parts.flatMap(({ image }) => image ?? []),
    notes: parts.flatMap(({ note }) => note ?? []),
  };
}

interface Part {
  readonly text?: string;
  readonly context?: string;
  readonly image?: ImageBlock;
  readonly note?: string;
}

function readPart(block: acp.ContentBlock): Part {
  switch (block.type) {
    case 'text':
      return { text: block.text };
    case 'resource_link':
      return { text: formatMention(block.uri, block.title ?? block.name) };
    case 'resource':
      return readResource(block.resource);
    case 'image':
      return readImage(block);
    case 'audio':
      return { note: 'audio cannot be sent to the model and is ignored' };
  }
}

function formatMention(uri: string, name: string): string {
  const file = toFilePath(uri);
  return file === null ? `[${name}](${uri})` : `@${file}`;
}

function toFilePath(uri: string): string | null {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : null;
  } catch {
    // A file of another machine, or an invalid URL, is passed on as it was written.
    return null;
  }
}

function readResource(resource: acp.EmbeddedResourceResource): Part {
  const { uri } = resource;
  const name = toFilePath(uri) ?? uri;
  const text = formatMention(uri, uri);
  if ('text' in resource) {
    return { text, context: `<context ref="${name}">\n${resource.text}\n</context>` };
  }
  const { blob: data, mimeType } = resource;
  if (isImage(mimeType)) return { text, ...readImage({ data, mimeType }) };
  return { text, note: `${name} is neither text nor a picture, so only its name is passed on` };
}

const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

function isImage(mimeType: string | null | undefined): mimeType is string {
  return PICTURES.includes(mimeType ?? '');
}

function readImage({ data, mimeType }: Pick<acp.ImageContent, 'data' | 'mimeType'>): Part {
  if (!PICTURES.includes(mimeType)) {
    return { note: `an image of type ${mimeType} cannot be sent to the model and is ignored` };
  }
  return {
    image: { type: 'image', source: { type: 'base64', media_type: mimeType, data } },
  };
}
