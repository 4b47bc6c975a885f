import { chmodSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../base/errors.ts';
import { appendPrivateFile, isNotFoundError } from '../base/files.ts';
import { type CallEntry, mapTexts, type TraceEntry } from './entry.ts';

type AnyEntry = TraceEntry | CallEntry;

/** Redacts a text; `name` is the field that holds it. */
export type Redact = (text: string, name: string) => string;

export interface TraceFileOptions {
  readonly directory: string;
  readonly maxFileBytes: number;
  readonly maxFiles: number;
  readonly redact: Redact;
  /** Called once when the trace cannot be written; the run continues without it. */
  readonly onProblem: (message: string) => void;
}

const TRACE_FILE = 'trace.jsonl';

/** Writes entries later, never on the caller's path: a large event costs time. */
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
    const { directory, redact, onProblem } = this.#options;
    try {
      const traceEntries = entries.map((make) => make());
      const lines = redactEntries(traceEntries, redact);
      rotateIfLarge(this.#options);
      appendPrivateFile(path.join(directory, TRACE_FILE), lines);
    } catch (error) {
      this.#hasFailed = true;
      onProblem(`the trace in ${directory} cannot be written: ${getErrorMessage(error)}`);
    }
  }
}

function redactEntries(entries: readonly AnyEntry[], redact: Redact): string {
  const clean = mapTexts(entries, redact);
  return Array.isArray(clean) ? clean.map((entry) => `${JSON.stringify(entry)}\n`).join('') : '';
}

/** `trace.jsonl` becomes `trace.1.jsonl`, that one `trace.2.jsonl`, and the oldest is deleted. */
function rotateIfLarge({ directory, maxFileBytes, maxFiles }: TraceFileOptions): void {
  if (getSize(path.join(directory, TRACE_FILE)) < maxFileBytes) return;
  const oldest = Math.floor(maxFiles) - 1;
  if (oldest < 1) return rmSync(path.join(directory, TRACE_FILE), { force: true });
  for (let number = oldest; number >= 1; number--) {
    renameIfPresent(getTraceFile(directory, number - 1), getTraceFile(directory, number));
  }
}

/** The nth newest trace file of a directory, from 0. */
export function getTraceFile(directory: string, number: number): string {
  return path.join(directory, number === 0 ? TRACE_FILE : `trace.${number}.jsonl`);
}

function getSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function renameIfPresent(from: string, to: string): void {
  try {
    renameSync(from, to);
    chmodSync(to, 0o600);
  } catch (error) {
    if (!isNotFoundError(error)) throw error;
  }
}
