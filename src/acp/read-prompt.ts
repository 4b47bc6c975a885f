import { fileURLToPath } from 'node:url';
import type * as acp from '@agentclientprotocol/sdk';
import type { ImageBlock } from '../sessions/messages.ts';

/** What a person said in an editor, for the agent. */
export interface ReadPrompt {
  readonly text: string;
  readonly images: readonly ImageBlock[];
  /** What of it cannot be passed on, in words. */
  readonly notes: readonly string[];
}

/**
 * Mentions stand in the text where the person made them; the content of what they gave along follows
 * after the text, so that a slash command stays at its beginning.
 */
export function readPrompt(blocks: readonly acp.ContentBlock[]): ReadPrompt {
  const parts = blocks.map(partOf);
  const said = parts.map(({ text = '' }) => text).join('');
  const given = parts.flatMap(({ context }) => context ?? []);
  return {
    text: [said.trim(), ...given].filter((text) => text !== '').join('\n\n'),
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

function partOf(block: acp.ContentBlock): Part {
  switch (block.type) {
    case 'text':
      return { text: block.text };
    case 'resource_link':
      return { text: mentionOf(block.uri, block.title ?? block.name) };
    case 'resource':
      return resourcePart(block.resource);
    case 'image':
      return imagePart(block);
    case 'audio':
      return { note: 'sound cannot be passed on to the model, so it is left out' };
  }
}

function mentionOf(uri: string, name: string): string {
  const file = fileOf(uri);
  return file === null ? `[${name}](${uri})` : `@${file}`;
}

function fileOf(uri: string): string | null {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : null;
  } catch {
    // Another machine's file, or no address at all: it is named as it was written.
    return null;
  }
}

function resourcePart(resource: acp.EmbeddedResourceResource): Part {
  const { uri } = resource;
  const name = fileOf(uri) ?? uri;
  const text = mentionOf(uri, uri);
  if ('text' in resource) {
    return { text, context: `<context ref="${name}">\n${resource.text}\n</context>` };
  }
  const { blob: data, mimeType } = resource;
  if (isPicture(mimeType)) return { text, ...imagePart({ data, mimeType }) };
  return { text, note: `${name} is neither text nor a picture, so only its name is passed on` };
}

const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

function isPicture(mimeType: string | null | undefined): mimeType is string {
  return PICTURES.includes(mimeType ?? '');
}

function imagePart({ data, mimeType }: Pick<acp.ImageContent, 'data' | 'mimeType'>): Part {
  if (!PICTURES.includes(mimeType)) {
    return { note: `a picture of type ${mimeType} cannot be passed on, so it is left out` };
  }
  return {
    image: { type: 'image', source: { type: 'base64', media_type: mimeType, data } },
  };
}
