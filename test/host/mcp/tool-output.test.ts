import { expect, test } from 'vitest';
import { toToolOutput } from '../../../src/host/mcp/tool-output.ts';

const LEFT_OUT =
  '[an image of type image/png is left out: the answer holds more than can be shown]';

function picture(characters: number) {
  return { type: 'image', mimeType: 'image/png', data: 'A'.repeat(characters) } as const;
}

test.each([
  ['many', Array.from({ length: 25 }, () => picture(4)), 20],
  ['large', Array.from({ length: 5 }, () => picture(4 * 1024 * 1024)), 2],
])(
  'an answer with %s pictures includes the first, with a note that the others are left out',
  (_how, blocks, shown) => {
    const { images, text } = toToolOutput({ blocks, isError: false }, null);
    expect({ images: images?.length, text }).toEqual({
      images: shown,
      text: Array.from({ length: blocks.length - shown }, () => LEFT_OUT).join('\n'),
    });
  },
);
