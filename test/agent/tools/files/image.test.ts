import { expect, test } from 'vitest';
import { parseImageHead } from '../../../../src/agent/tools/files/image.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const GIF = Buffer.from('R0lGODlhAwACAIAAAAAAAP///yH5BAEAAAAALAAAAAADAAIAAAICRF4AOw==', 'base64');

function webp(kind: string, body: readonly number[]): Buffer {
  const head = Buffer.from(`RIFF\0\0\0\0WEBP${kind}\0\0\0\0`, 'latin1');
  return Buffer.concat([head, Buffer.from(body), Buffer.alloc(10)]);
}

function jpeg(...segments: readonly (readonly number[])[]): Buffer {
  return Buffer.from([0xff, 0xd8, ...segments.flat(), ...Array.from({ length: 12 }, () => 0)]);
}

const APP0 = [0xff, 0xe0, 0, 4, 1, 2];
const FILL = [0xff];
const TABLE = [0xff, 0xc4, 0, 3, 9];
const FRAME = [0xff, 0xc2, 0, 11, 8, 0, 200, 1, 44];

test.each([
  ['a PNG', PNG, { mediaType: 'image/png', size: { width: 1, height: 1 } }],
  ['a GIF', GIF, { mediaType: 'image/gif', size: { width: 3, height: 2 } }],
  [
    'a JPEG',
    jpeg(APP0, FILL, TABLE, FRAME),
    { mediaType: 'image/jpeg', size: { width: 300, height: 200 } },
  ],
  ['a JPEG without a frame', jpeg(APP0), { mediaType: 'image/jpeg', size: null }],
  [
    'a lossy WebP',
    webp('VP8 ', [0, 0, 0, 0x9d, 0x01, 0x2a, 44, 1, 200, 0]),
    { mediaType: 'image/webp', size: { width: 300, height: 200 } },
  ],
  [
    'a lossless WebP',
    webp('VP8L', [0x2f, 0x2b, 0xc1, 0x31, 0x00]),
    { mediaType: 'image/webp', size: { width: 300, height: 200 } },
  ],
  [
    'an extended WebP',
    webp('VP8X', [0, 0, 0, 0, 43, 1, 0, 199, 0, 0]),
    { mediaType: 'image/webp', size: { width: 300, height: 200 } },
  ],
  ['a cut PNG', PNG.subarray(0, 12), { mediaType: 'image/png', size: null }],
  ['a cut GIF', GIF.subarray(0, 7), { mediaType: 'image/gif', size: null }],
])('%s is recognised by its first bytes', (_, bytes, image) => {
  expect(parseImageHead(bytes)).toEqual(image);
});

test.each(['', 'text', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'RIFF....WAVE', '%PDF-1.4'])(
  '%j is no picture',
  (text) => {
    expect(parseImageHead(Buffer.from(text))).toBeNull();
  },
);
