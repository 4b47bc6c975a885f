export interface BoundedOutput {
  /** Everything, or the head when `truncated`. */
  readonly text: string;
  readonly totalBytes: number;
  readonly truncated: boolean;
  /** The last bytes when `truncated`, else empty. */
  readonly tail: string;
}

const NO_OUTPUT: BoundedOutput = { text: '', totalBytes: 0, truncated: false, tail: '' };

/** Collects bytes as UTF-8 text; past `maxBytes` only the first and the last half are kept. */
export class OutputCollector {
  readonly #maxBytes: number;
  readonly #headLimit: number;
  readonly #head = new ByteQueue();
  readonly #tail = new ByteQueue();
  #totalBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#headLimit = Math.floor(maxBytes / 2);
  }

  /** Keeps a reference to the chunk; the caller must not write to it afterwards. */
  push(chunk: Buffer): void {
    this.#totalBytes += chunk.length;
    const room = this.#headLimit - this.#head.bytes;
    if (chunk.length <= room) return this.#head.append(chunk);
    this.#head.append(chunk.subarray(0, room));
    this.#tail.append(chunk.subarray(room));
    this.#tail.keepLast(this.#maxBytes - this.#headLimit);
  }

  /** What was collected so far; may be asked for more than once. */
  result(): BoundedOutput {
    const totalBytes = this.#totalBytes;
    if (totalBytes === 0) return NO_OUTPUT;
    const { chunks: head } = this.#head;
    const { chunks: tail } = this.#tail;
    if (totalBytes <= this.#maxBytes) {
      return { text: decodeChunks([...head, ...tail]), totalBytes, truncated: false, tail: '' };
    }
    return {
      text: removeSplitEnd(joinChunks(head)).toString('utf8'),
      totalBytes,
      truncated: true,
      tail: removeSplitStart(joinChunks(tail)).toString('utf8'),
    };
  }
}

const CRUMBS_WORTH_PACKING = 512;

class ByteQueue {
  readonly chunks: Buffer[] = [];
  bytes = 0;
  #packed = 0;

  append(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    if (this.chunks.length - this.#packed >= CRUMBS_WORTH_PACKING) this.#pack();
  }

  keepLast(limit: number): void {
    while (this.bytes > limit) {
      const excess = this.bytes - limit;
      const first = this.chunks.shift();
      if (first === undefined) return;
      const rest = first.subarray(excess);
      this.bytes -= first.length - rest.length;
      if (rest.length > 0) this.chunks.unshift(rest);
      else this.#packed = Math.max(0, this.#packed - 1);
    }
  }

  // A program that writes byte by byte would otherwise cost a Buffer object for each byte kept.
  #pack(): void {
    this.chunks.push(Buffer.concat(this.chunks.splice(this.#packed)));
    this.#packed = this.chunks.length;
  }
}

function decodeChunks(chunks: readonly Buffer[]): string {
  return joinChunks(chunks).toString('utf8');
}

function joinChunks(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}

const MAX_CONTINUATION_BYTES = 3;

function removeSplitEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= MAX_CONTINUATION_BYTES; back++) {
    const byte = bytes.at(-back);
    if (byte === undefined) return bytes;
    if (isContinuation(byte)) continue;
    return getSequenceLength(byte) > back ? bytes.subarray(0, -back) : bytes;
  }
  return bytes;
}

function removeSplitStart(bytes: Buffer): Buffer {
  const start = bytes
    .subarray(0, MAX_CONTINUATION_BYTES)
    .findIndex((byte) => !isContinuation(byte));
  return bytes.subarray(start === -1 ? MAX_CONTINUATION_BYTES : start);
}

function isContinuation(byte: number): boolean {
  return (byte & 0b1100_0000) === 0b1000_0000;
}

function getSequenceLength(leadByte: number): number {
  if (leadByte >= 0xf0) return 4;
  if (leadByte >= 0xe0) return 3;
  return leadByte >= 0xc0 ? 2 : 1;
}
