export interface ImageHead {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  /** Null when the header does not state it. */
  readonly size: { readonly width: number; readonly height: number } | null;
}

/** Detects an image by its first bytes; null when it is none. */
export function parseImageHead(bytes: Buffer): ImageHead | null {
  if (hasPrefix(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) {
    return { mediaType: 'image/png', size: readPngSize(bytes) };
  }
  if (hasPrefix(bytes, [0xff, 0xd8, 0xff])) {
    return { mediaType: 'image/jpeg', size: readJpegSize(bytes) };
  }
  if (/^GIF8[79]a$/.test(readAscii(bytes, 0, 6))) {
    return { mediaType: 'image/gif', size: readGifSize(bytes) };
  }
  if (readAscii(bytes, 0, 4) === 'RIFF' && readAscii(bytes, 8, 12) === 'WEBP') {
    return { mediaType: 'image/webp', size: readWebpSize(bytes) };
  }
  return null;
}

function hasPrefix(bytes: Buffer, head: readonly number[]): boolean {
  return head.every((byte, index) => bytes[index] === byte);
}

function readAscii(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('latin1', start, end);
}

function readPngSize(bytes: Buffer): ImageHead['size'] {
  if (bytes.length < 24) return null;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function readGifSize(bytes: Buffer): ImageHead['size'] {
  if (bytes.length < 10) return null;
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

/** The frame header follows any number of segments, each of which states its length. */
function readJpegSize(bytes: Buffer): ImageHead['size'] {
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1] ?? 0;
    if (isFrameHead(marker)) {
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    // A marker may be preceded by fill bytes.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

function isFrameHead(marker: number): boolean {
  const isTable = marker === 0xc4 || marker === 0xc8 || marker === 0xcc;
  return marker >= 0xc0 && marker <= 0xcf && !isTable;
}

function readWebpSize(bytes: Buffer): ImageHead['size'] {
  if (bytes.length < 30) return null;
  const kind = readAscii(bytes, 12, 16);
  if (kind === 'VP8X') {
    return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  }
  if (kind === 'VP8L') {
    const bits = bytes.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
  }
  if (kind !== 'VP8 ') return null;
  return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
}
