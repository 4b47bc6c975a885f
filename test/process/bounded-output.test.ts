import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OutputCollector } from '../../src/process/bounded-output.ts';

function collect(chunks: readonly Uint8Array[], maxBytes: number) {
  const output = new OutputCollector(maxBytes);
  for (const chunk of chunks) output.push(Buffer.from(chunk));
  return output.result();
}

function inChunks(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let start = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(start, start + size));
    start += size;
  }
  return [...chunks, bytes.subarray(start)];
}

const sizes = fc.array(fc.nat(9), { maxLength: 40 });
const limit = fc.nat(64);
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 100 }),
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => Buffer.from(text)),
  fc
    .array(fc.constantFrom(0x41, 0x80, 0xbf, 0xc3, 0xe2, 0xf0, 0xff), { maxLength: 100 })
    .map((bytes) => Uint8Array.from(bytes)),
);

describe('output within the limit', () => {
  test('is kept whole', () => {
    expect(collect([Buffer.from('one '), Buffer.from('two')], 7)).toEqual({
      text: 'one two',
      totalBytes: 7,
      truncated: false,
      tail: '',
    });
  });

  test('is empty when nothing was written', () => {
    expect(collect([], 10)).toEqual({ text: '', totalBytes: 0, truncated: false, tail: '' });
  });

  test('keeps a character whole that was split over chunks', () => {
    const bytes = Buffer.from('a€😀z');
    expect(collect(inChunks(bytes, [2, 1, 2, 1]), 100).text).toBe('a€😀z');
  });

  test('shows invalid bytes as the replacement character', () => {
    expect(collect([Buffer.from([0x61, 0xff, 0xed, 0xa0, 0x80, 0x62])], 100).text).toBe(
      'a\uFFFD\uFFFD\uFFFD\uFFFDb',
    );
  });

  test('keeps a byte-order mark for the reader to judge', () => {
    expect(collect([Buffer.from('\uFEFF{}')], 100).text).toBe('\uFEFF{}');
  });

  test('may be asked for while more is to come', () => {
    const output = new OutputCollector(4);
    output.push(Buffer.from('ab'));
    const early = output.result();
    output.push(Buffer.from('cdef'));
    expect([early.text, output.result()]).toEqual([
      'ab',
      { text: 'ab', totalBytes: 6, truncated: true, tail: 'ef' },
    ]);
  });
});

describe('output above the limit', () => {
  test('keeps the first and the last half', () => {
    expect(collect([Buffer.from('0123456789')], 6)).toEqual({
      text: '012',
      totalBytes: 10,
      truncated: true,
      tail: '789',
    });
  });

  test('is cut between characters', () => {
    expect(collect([Buffer.from('€'.repeat(10))], 16)).toEqual({
      text: '€€',
      totalBytes: 30,
      truncated: true,
      tail: '€€',
    });
  });

  test('is only counted when the limit is 0', () => {
    expect(collect([Buffer.from('abc')], 0)).toEqual({
      text: '',
      totalBytes: 3,
      truncated: true,
      tail: '',
    });
  });

  test('survives being written byte by byte', () => {
    const digits = Buffer.from('0123456789'.repeat(2000));
    const output = new OutputCollector(10_000);
    for (const digit of digits) output.push(Buffer.from([digit]));
    expect(output.result()).toEqual({
      text: '0123456789'.repeat(500),
      totalBytes: 20_000,
      truncated: true,
      tail: '0123456789'.repeat(500),
    });
  });
});

test('how the bytes were chunked makes no difference', () => {
  fc.assert(
    fc.property(anyBytes, sizes, limit, (bytes, cuts, maxBytes) => {
      expect(collect(inChunks(bytes, cuts), maxBytes)).toEqual(collect([bytes], maxBytes));
    }),
  );
});

test('head and tail are the beginning and the end of the whole text, and fit the limit', () => {
  fc.assert(
    fc.property(anyBytes, sizes, limit, (bytes, cuts, maxBytes) => {
      const fullText = Buffer.from(bytes).toString('utf8');
      const { text, tail, totalBytes, truncated } = collect(inChunks(bytes, cuts), maxBytes);
      expect({ totalBytes, truncated }).toEqual({
        totalBytes: bytes.length,
        truncated: bytes.length > maxBytes,
      });
      expect(fullText.startsWith(text)).toBe(true);
      expect(fullText.endsWith(tail)).toBe(true);
      expect(truncated || text === fullText).toBe(true);
    }),
  );
});

test('of valid text at most three bytes are lost at either cut', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), limit, (text, maxBytes) => {
      const bytes = Buffer.from(text);
      fc.pre(bytes.length > maxBytes);
      const result = collect([bytes], maxBytes);
      const keptBytes = Buffer.byteLength(result.text) + Buffer.byteLength(result.tail);
      expect(keptBytes).toBeLessThanOrEqual(maxBytes);
      expect(keptBytes).toBeGreaterThanOrEqual(maxBytes - 6);
    }),
  );
});
