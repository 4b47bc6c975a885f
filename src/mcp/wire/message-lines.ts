const NEWLINE = 0x0a;

export interface LineLimits {
  /** How long one line may be. */
  readonly maxLineBytes: number;
}

/** Cuts a stream of bytes into lines; what is too long is told, and nothing after it is read. */
export class MessageLines {
  readonly #limits: LineLimits;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isOver = false;

  constructor(limits: LineLimits) {
    this.#limits = limits;
  }

  /** The lines that are complete now; null when one is longer than allowed. */
  push(chunk: Buffer): readonly string[] | null {
    if (this.#isOver) return null;
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (!this.#keep(chunk.subarray(start, end))) return null;
      lines.push(this.#take());
      start = end + 1;
    }
    return this.#keep(chunk.subarray(start)) ? lines : null;
  }

  #keep(piece: Buffer): boolean {
    this.#waitingBytes += piece.length;
    if (this.#waitingBytes > this.#limits.maxLineBytes) {
      this.#waiting = [];
      this.#isOver = true;
      return false;
    }
    if (piece.length > 0) this.#waiting.push(piece);
    return true;
  }

  #take(): string {
    const line = Buffer.concat(this.#waiting).toString('utf8').replace(/\r$/, '');
    this.#waiting = [];
    this.#waitingBytes = 0;
    return line;
  }
}
