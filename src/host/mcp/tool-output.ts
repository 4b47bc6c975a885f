import { dropUndefined } from '../../base/defined.ts';
import { limitText } from '../../agent/tools/shell/command-output.ts';
import { createFailedOutput, type ToolOutput } from '../../agent/tools/tool.ts';
import { type ServerAnswer, type ServerBlock, joinTexts } from '../../mcp/answer.ts';
import type { ImageBlock, TextBlock } from '../../sessions/messages.ts';

const NO_REASON = 'The tool failed without saying why.';
const NO_OUTPUT = '(the tool answered without content)';

/** Converts the answer of a server: long text is truncated, the rest goes to a file. */
export function toToolOutput(
  { blocks, isError }: ServerAnswer,
  spillDirectory: string | null,
): ToolOutput {
  const showableBlocks = toShowableBlocks(blocks);
  const text = joinTexts(showableBlocks);
  const bounded = limitText(text, spillDirectory);
  if (isError) return createFailedOutput(bounded === '' ? NO_REASON : bounded);
  const images = extractImages(showableBlocks);
  const isTruncated = bounded !== text;
  return {
    response: isTruncated
      ? [createTextBlock(bounded), ...images]
      : showableBlocks.flatMap(toBlocks),
    text: bounded === '' && images.length === 0 ? NO_OUTPUT : bounded,
    success: true,
    ...dropUndefined({ images: images.length === 0 ? undefined : images }),
  };
}

/** Replaces images that providers do not accept by text. */
export function toShowableBlocks(blocks: readonly ServerBlock[]): readonly ServerBlock[] {
  return limitImages(blocks.map(replaceUnshowableImage));
}

export function extractImages(blocks: readonly ServerBlock[]): readonly ImageBlock[] {
  return blocks.flatMap(toImage);
}

const SHOWABLE = /^image\/(?:png|jpeg|gif|webp)$/;
/** Providers refuse larger images. */
const MAX_IMAGE_CHARACTERS = 5 * 1024 * 1024;

function replaceUnshowableImage(block: ServerBlock): ServerBlock {
  if (block.type === 'text') return block;
  const { mimeType, data } = block;
  if (SHOWABLE.test(mimeType) && data.length <= MAX_IMAGE_CHARACTERS) return block;
  const text = `[an image of type ${mimeType} and ${data.length} characters of base64, which cannot be shown]`;
  return { type: 'text', text };
}

/** Every later request has the images of an answer again, and providers refuse too many. */
const MAX_IMAGES = 20;
const MAX_IMAGES_CHARACTERS = 10 * 1024 * 1024;

/** Keeps the first images within the limit and replaces the others by text. */
function limitImages(blocks: readonly ServerBlock[]): readonly ServerBlock[] {
  let count = 0;
  let characters = 0;
  return blocks.map((block) => {
    if (block.type === 'text') return block;
    const { data, mimeType } = block;
    if (count >= MAX_IMAGES || characters + data.length > MAX_IMAGES_CHARACTERS) {
      const text = `[an image of type ${mimeType} is left out: the answer holds more than can be shown]`;
      return { type: 'text', text };
    }
    count += 1;
    characters += data.length;
    return block;
  });
}

function toBlocks(block: ServerBlock): readonly (TextBlock | ImageBlock)[] {
  return block.type === 'text' ? [createTextBlock(block.text)] : toImage(block);
}

function createTextBlock(text: string): TextBlock {
  return { type: 'text', text };
}

function toImage(block: ServerBlock): readonly ImageBlock[] {
  if (block.type === 'text') return [];
  const { data, mimeType } = block;
  return [{ type: 'image', source: { type: 'base64', media_type: mimeType, data } }];
}
