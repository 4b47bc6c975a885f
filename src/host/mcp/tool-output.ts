import {
  captureOutput,
  MAX_KEPT_BYTES,
  MAX_SHOWN_CHARACTERS,
  formatOutput,
} from '../../agent/tools/shell/command-output.ts';
import { createSpillFile } from '../../agent/tools/shell/spill-file.ts';
import { createFailedOutput, type ToolOutput } from '../../agent/tools/tool.ts';
import { type ServerAnswer, type ServerBlock, joinTexts } from '../../mcp/answer.ts';
import { createBoundedOutput } from '../../process/bounded-output.ts';
import type { ImageBlock, TextBlock } from '../../sessions/messages.ts';

const NO_REASON = 'The tool failed without saying why.';
const NO_OUTPUT = '(the tool answered without content)';

/** What a server answered as a model and hooks are shown it: bounded, the rest in a file. */
export function toToolOutput(
  { blocks, isError }: ServerAnswer,
  spillDirectory: string | null,
): ToolOutput {
  const shown = toShowableBlocks(blocks);
  const text = joinTexts(shown);
  const bounded = limitText(text, spillDirectory);
  if (isError) return createFailedOutput(bounded === '' ? NO_REASON : bounded);
  const images = extractImages(shown);
  const isCut = bounded !== text;
  return {
    response: isCut ? [textBlock(bounded), ...images] : shown.flatMap(blockOf),
    text: bounded === '' && images.length === 0 ? NO_OUTPUT : bounded,
    success: true,
    ...(images.length === 0 ? {} : { images }),
  };
}

/** A text as long as may be shown, or what is left of it and where the rest is. */
export function limitText(text: string, spillDirectory: string | null): string {
  if (text.length <= MAX_SHOWN_CHARACTERS) return text;
  const bytes = Buffer.from(text);
  const kept = createBoundedOutput(MAX_KEPT_BYTES);
  const spill = createSpillFile(spillDirectory, MAX_SHOWN_CHARACTERS);
  kept.push(bytes);
  spill.push(bytes);
  return formatOutput(captureOutput(kept.result(), spill));
}

/** What services accept of an answer; the rest in words. */
export function toShowableBlocks(blocks: readonly ServerBlock[]): readonly ServerBlock[] {
  return withinBudget(blocks.map(withoutHuge));
}

export function extractImages(blocks: readonly ServerBlock[]): readonly ImageBlock[] {
  return blocks.flatMap(imageOf);
}

const SHOWABLE = /^image\/(?:png|jpeg|gif|webp)$/;
/** Services refuse larger pictures. */
const MAX_IMAGE_CHARACTERS = 5 * 1024 * 1024;

function withoutHuge(block: ServerBlock): ServerBlock {
  if (block.type === 'text') return block;
  const { mimeType, data } = block;
  if (SHOWABLE.test(mimeType) && data.length <= MAX_IMAGE_CHARACTERS) return block;
  const text = `[an image of type ${mimeType} and ${data.length} characters of base64, which cannot be shown]`;
  return { type: 'text', text };
}

/** Every later request carries the pictures of an answer again, and services refuse what is too much. */
const MAX_IMAGES = 20;
const MAX_IMAGES_CHARACTERS = 10 * 1024 * 1024;

/** As many pictures as may be shown, the first ones; the others in words. */
function withinBudget(blocks: readonly ServerBlock[]): readonly ServerBlock[] {
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

function blockOf(block: ServerBlock): readonly (TextBlock | ImageBlock)[] {
  return block.type === 'text' ? [textBlock(block.text)] : imageOf(block);
}

function textBlock(text: string): TextBlock {
  return { type: 'text', text };
}

function imageOf(block: ServerBlock): readonly ImageBlock[] {
  if (block.type === 'text') return [];
  const { data, mimeType } = block;
  return [{ type: 'image', source: { type: 'base64', media_type: mimeType, data } }];
}
