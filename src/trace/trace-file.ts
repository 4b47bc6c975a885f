import { statSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage, tryOrNull } from '../base/errors.ts';
import { type CallEntry, limitTexts, type TraceEntry } from './entry.ts';
import { appendToSpool, SPOOL_FILE } from './spool-file.ts';

type AnyEntry = TraceEntry | CallEntry;

export interface TraceFileOptions {
  /** `trace` in the state directory. */
  readonly directory: string;
  /** Called once when the trace cannot be written; the run continues without it. */
  readonly onProblem: (message: string) => void;
}

/** Writes entries later, never on the caller's path: a large event costs time. The event store takes them from there. */
export class TraceFile {
  readonly #options: TraceFileOptions;
  #waiting: (() => AnyEntry)[] = [];
  #writing: Promise<void> | null = null;
  #hasFailed = false;

  constructor(options: TraceFileOptions) {
    this.#options = options;
  }

  /** Makes the entry when it is written. */
  record(entry: () => AnyEntry): void {
    if (this.#hasFailed) return;
    this.#waiting.push(entry);
    this.#writing ??= this.#writeAll();
  }

  /** Settles when all that was recorded is on disk, or could not be written. */
  async flush(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  /** How many bytes wait for the event store. */
  getSize(): number {
    const file = path.join(this.#options.directory, SPOOL_FILE);
    return tryOrNull(() => statSync(file).size) ?? 0;
  }

  async #writeAll(): Promise<void> {
    await new Promise(setImmediate);
    while (this.#waiting.length > 0 && !this.#hasFailed) {
      const entries = this.#waiting;
      this.#waiting = [];
      this.#writeEntries(entries);
    }
    this.#writing = null;
  }

  #writeEntries(entries: readonly (() => AnyEntry)[]): void {
    const { directory, onProblem } = this.#options;
    try {
      const lines = entries.map((make) => `${JSON.stringify(limitTexts(make()))}\n`);
      appendToSpool(directory, lines.join(''));
    } catch (error) {
      this.#hasFailed = true;
      onProblem(`the trace in ${directory} cannot be written: ${getErrorMessage(error)}`);
    }
  }
}
