export interface TextFile {
  /** Without the byte-order mark; with the file's own line ends. */
  readonly text: string;
  /** The encoding of the file, kept when it is edited. */
  readonly format: {
    readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'latin1';
    readonly hasMark: boolean;
  };
}

export const NEW_FILE_FORMAT: TextFile['format'] = { encoding: 'utf-8', hasMark: false };

const MARKS = [
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] },
] as const;

/** Null when the bytes are not text. Encoding the result again gives the same bytes. */
export function decodeText(bytes: Buffer): TextFile | null {
  const mark = MARKS.find((each) => each.bytes.every((byte, at) => bytes[at] === byte));
  const { encoding } = mark ?? NEW_FILE_FORMAT;
  if (encoding === 'utf-8' && bytes.includes(0)) return null;
  const text = decodeStrictly(bytes.subarray(mark?.bytes.length ?? 0), encoding);
  if (text !== null) return { text, format: { encoding, hasMark: mark !== undefined } };
  return mark === undefined ? decodeLatin(bytes) : null;
}

function decodeStrictly(bytes: Buffer, encoding: string): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

// Old Latin-1 sources are text, too; the encoding keeps each byte.
function decodeLatin(bytes: Buffer): TextFile | null {
  if (hasManyControls(bytes.subarray(0, SAMPLE_BYTES))) return null;
  return { text: bytes.toString('latin1'), format: { encoding: 'latin1', hasMark: false } };
}

const SAMPLE_BYTES = 8192;

function hasManyControls(sample: Buffer): boolean {
  return sample.filter(isControl).length > sample.length / 20;
}

/** Tabs, line ends, form feeds and escapes are common in text. */
function isControl(byte: number): boolean {
  const isUsual = [0x09, 0x0a, 0x0c, 0x0d, 0x1b].includes(byte);
  return (byte < 0x20 && !isUsual) || (byte >= 0x7f && byte <= 0x9f);
}

/** A string says why the file's encoding cannot represent the text. */
export function encodeText({ text, format }: TextFile): Buffer | string {
  const mark = format.hasMark ? MARKS.find((each) => each.encoding === format.encoding) : undefined;
  const body = encodeBody(text, format.encoding);
  if (body === null) return 'the file is in Latin-1, which does not have all of the new characters';
  return mark === undefined ? body : Buffer.concat([Buffer.from(mark.bytes), body]);
}

function encodeBody(text: string, encoding: TextFile['format']['encoding']): Buffer | null {
  if (encoding === 'utf-8') return Buffer.from(text, 'utf8');
  if (encoding === 'utf-16le') return Buffer.from(text, 'utf16le');
  if (encoding === 'utf-16be') return Buffer.from(text, 'utf16le').swap16();
  return /[\u0100-\uffff]/.test(text) ? null : Buffer.from(text, 'latin1');
}

/** Converts \r\n to \n, as models see texts. */
export function normalizeLineEnds(text: string): string {
  return text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
}
