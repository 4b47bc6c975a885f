import type { ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { extractErrorText, MAX_MESSAGE_BYTES, TransportFailure } from './failures.ts';
import { OutputCollector } from '../process/bounded-output.ts';
import {
  createTreeEnder,
  terminateTree,
  type TreeEnder,
  unregisterTree,
  registerTree,
} from '../process/end-tree.ts';
import { describeSpawnFailure, spawnChild, type SpawnRequest } from '../process/spawn.ts';

const MIB = 1024 * 1024;
/** Output besides messages after which a server counts as broken. */
const MAX_GARBAGE_BYTES = 4 * MIB;
/** Limit of unsent data for a server that does not read. */
const MAX_UNSENT_BYTES = 16 * MIB;
const MAX_UNSENT_MESSAGES = 20_000;
const MAX_STDERR_BYTES = 8 * 1024;
const STDIN_GRACE_MS = 300;
const KILL_GRACE_MS = 1500;
const EXIT_GRACE_MS = 500;
const SURVIVOR_POLL_MS = 25;

type ParseMessage = (line: string) => JSONRPCMessage;

/**
 * Runs a server as a program in its own process group, so that it ends with everything it started. The
 * SDK's own transport ends only the one process.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];

  readonly #program: SpawnRequest;
  readonly #parse: ParseMessage;
  readonly #lines = new MessageLines(MAX_MESSAGE_BYTES);
  readonly #stderr = new OutputCollector(MAX_STDERR_BYTES);
  #child: ChildProcess | null = null;
  #tree: TreeEnder | null = null;
  #unsentMessages = 0;
  #drained: Promise<void> | null = null;
  #garbageBytes = 0;
  #firstGarbage: string | null = null;
  #failure: string | null = null;
  #ended: Promise<void> | null = null;
  #isGivenUp = false;
  #isOver = false;

  constructor(program: SpawnRequest, parse: ParseMessage) {
    this.#program = program;
    this.#parse = parse;
  }

  /** Why the program ended, with what it printed to stderr. */
  describeEnd(): string {
    // After we ended it, its output is only about that.
    if (this.#isGivenUp && this.#failure !== null) return this.#failure;
    const stderr = this.#stderr.result();
    const errorText = extractErrorText(stderr.truncated ? stderr.tail : stderr.text);
    const why = this.#failure ?? this.#describeGarbage() ?? 'it ended';
    return errorText === '' ? why : `${why}; stderr: ${errorText}`;
  }

  #describeGarbage(): string | null {
    if (this.#firstGarbage === null) return null;
    return `it ended after printing an invalid message: ${JSON.stringify(this.#firstGarbage)}`;
  }

  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        const { message } = describeSpawnFailure(error, this.#program);
        this.#failure ??= message;
        reject(new TransportFailure(message));
        this.#finish();
      };
      try {
        this.#child = spawnChild(this.#program);
      } catch (error) {
        return fail(error);
      }
      this.#child.once('error', fail);
      this.#child.once('spawn', resolve);
      this.#listen(this.#child);
    });
  }

  #listen(child: ChildProcess): void {
    const { pid } = child;
    if (pid !== undefined) {
      registerTree(pid);
      this.#tree = createTreeEnder(pid);
    }
    // A broken pipe is reported by the end of the program.
    child.stdin?.on('error', () => undefined);
    child.stdout?.on('error', () => undefined);
    child.stderr?.on('error', () => undefined);
    child.stderr?.on('data', (chunk: Buffer) => this.#stderr.push(chunk));
    child.stdout?.on('data', (chunk: Buffer) => this.#receive(chunk));
    child.once('exit', (code, signal) => {
      this.#failure ??=
        signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
      // Its descendants may keep its pipes open forever.
      const timer = setTimeout(() => this.#finish(), EXIT_GRACE_MS);
      child.once('close', () => {
        clearTimeout(timer);
        this.#finish();
      });
    });
  }

  #receive(chunk: Buffer): void {
    // Messages are ignored once it is being ended.
    if (this.#isOver || this.#ended !== null) return;
    const lines = this.#lines.push(chunk);
    if (lines === null) {
      return this.#failAndClose(`it sent a message of more than ${MAX_MESSAGE_BYTES / MIB} MiB`);
    }
    for (const line of lines) this.#receiveLine(line);
  }

  #receiveLine(line: string): void {
    if (line.trim() === '') return;
    const message = this.#read(line);
    if (message !== null) return this.onmessage?.(message);
    this.#firstGarbage ??= line.slice(0, 200);
    this.#garbageBytes += line.length;
    if (this.#garbageBytes > MAX_GARBAGE_BYTES) {
      this.#failAndClose('it keeps printing invalid messages on its standard output');
    }
  }

  #read(line: string): JSONRPCMessage | null {
    if (!line.trimStart().startsWith('{')) return null;
    try {
      return this.#parse(line);
    } catch {
      return null;
    }
  }

  #failAndClose(why: string): void {
    if (this.#isOver) return;
    this.#failure ??= why;
    this.#isGivenUp = true;
    this.onerror?.(new TransportFailure(why));
    this.#child?.stdout?.destroy();
    void this.close();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (this.#isOver || !stdin?.writable) throw new TransportFailure(this.describeEnd());
    if (!this.#canWait(stdin)) {
      this.#failAndClose('it does not read its standard input');
      throw new TransportFailure(this.describeEnd());
    }
    this.#unsentMessages += 1;
    const isSent = stdin.write(`${JSON.stringify(message)}\n`, () => {
      this.#unsentMessages -= 1;
    });
    if (!isSent) await this.#waitForDrain(stdin);
  }

  /** Limits what is queued before a message, not the message itself. */
  #canWait({ writableLength }: Writable): boolean {
    return writableLength <= MAX_UNSENT_BYTES && this.#unsentMessages <= MAX_UNSENT_MESSAGES;
  }

  /** One promise for all waiting messages. */
  #waitForDrain(stdin: Writable): Promise<void> {
    this.#drained ??= new Promise<void>((resolve) => {
      const done = (): void => {
        stdin.off('drain', done);
        stdin.off('close', done);
        this.#drained = null;
        resolve();
      };
      stdin.on('drain', done);
      stdin.on('close', done);
    });
    return this.#drained;
  }

  close(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child === null || this.#isOver) return this.#finish();
    // The first look at the tree records processes that leave the group later.
    this.#tree?.hasEnded();
    child.stdin?.end();
    if (!(await this.#waitForEnd(STDIN_GRACE_MS)) && this.#tree !== null) {
      const killTimer = terminateTree(this.#tree, KILL_GRACE_MS);
      await this.#waitForEnd(KILL_GRACE_MS + EXIT_GRACE_MS);
      clearTimeout(killTimer);
    }
    this.#finish();
  }

  async #waitForEnd(ms: number): Promise<boolean> {
    for (let remainingMs = ms; remainingMs > 0; remainingMs -= SURVIVOR_POLL_MS) {
      if (this.#hasEnded()) return true;
      await new Promise((resolve) => setTimeout(resolve, SURVIVOR_POLL_MS));
    }
    return this.#hasEnded();
  }

  #hasEnded(): boolean {
    const { exitCode = null, signalCode = null } = this.#child ?? {};
    const hasExited = exitCode !== null || signalCode !== null;
    return hasExited && this.#tree?.hasEnded() !== false;
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const child = this.#child;
    if (child?.pid !== undefined) {
      if (this.#tree?.hasEnded() === false) this.#tree.end('SIGKILL');
      unregisterTree(child.pid);
    }
    child?.stdin?.destroy();
    child?.stdout?.destroy();
    child?.stderr?.destroy();
    child?.unref();
    this.onclose?.();
  }
}

const NEWLINE = 0x0a;

/** Splits a stream of bytes into lines; after a line that is too long, nothing is read. */
export class MessageLines {
  readonly #maxLineBytes: number;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isOver = false;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines that are complete now; null when one is longer than allowed. */
  push(chunk: Buffer): readonly string[] | null {
    if (this.#isOver) return null;
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (!this.#append(chunk.subarray(start, end))) return null;
      lines.push(this.#removeLine());
      start = end + 1;
    }
    return this.#append(chunk.subarray(start)) ? lines : null;
  }

  #append(piece: Buffer): boolean {
    this.#waitingBytes += piece.length;
    if (this.#waitingBytes > this.#maxLineBytes) {
      this.#waiting = [];
      this.#isOver = true;
      return false;
    }
    if (piece.length > 0) this.#waiting.push(piece);
    return true;
  }

  /** The line so far, which is cleared. */
  #removeLine(): string {
    const line = Buffer.concat(this.#waiting).toString('utf8').replace(/\r$/, '');
    this.#waiting = [];
    this.#waitingBytes = 0;
    return line;
  }
}
