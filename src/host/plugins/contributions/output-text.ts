import { isRecord } from '../../../base/json.ts';
import {
  MAX_PLAIN_CHARACTERS,
  plainText,
  plainValue,
  shownText,
  withCutNote,
} from '../../../plugins/values/plain-value.ts';
import type { ServerBlock } from '../../../mcp/answer.ts';

/** Whatever a tool of a plugin returned, as a model can read it; bounded, and never throws. */
export function outputText(value: unknown): string {
  if (value === undefined) return '(no output)';
  if (typeof value === 'string') return shownText(value);
  return withCutNote(plainText(value, MAX_PLAIN_CHARACTERS));
}

/** The same as data: what can be stored stays as it is, all else is what the model reads of it. */
export function keptValue(value: unknown): unknown {
  return value === undefined || value === null ? undefined : plainValue(value);
}

/** Content blocks, as tools return them beside plain data; null when the value is something else. */
export function blocksIn(value: unknown): readonly ServerBlock[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  try {
    const blocks = value.map((block: unknown) => blockOf(block));
    return blocks.every((block) => block !== null) ? blocks : null;
  } catch {
    // One that cannot be looked at is shown as data, which says why.
    return null;
  }
}

function blockOf(block: unknown): ServerBlock | null {
  if (!isRecord(block)) return null;
  const { type, text, data, mediaType, path, content } = block;
  if (type === 'text' && typeof text === 'string') return { type, text };
  if (type === 'file' && typeof path === 'string' && typeof content === 'string') {
    return { type: 'text', text: `<file path="${path}">\n${content}\n</file>` };
  }
  if (type !== 'image' || typeof data !== 'string') return null;
  return { type, data, mimeType: typeof mediaType === 'string' ? mediaType : 'image/png' };
}
