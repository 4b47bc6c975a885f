import type { ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { extractErrorText, MAX_MESSAGE_BYTES, TransportFailure } from './failures.ts';
import { createBoundedOutput } from '../process/bounded-output.ts';
import { createTreeEnder, type TreeEnder } from '../process/end-tree.ts';
import { forgetTree, rememberTree } from '../process/live-trees.ts';
import { describeSpawnFailure, spawnChild, type SpawnRequest } from '../process/spawn.ts';

const MIB = 1024 * 1024;
/** What a server may print beside its messages before it is taken for broken. */
const MAX_GARBAGE_BYTES = 4 * MIB;
/** What may wait for a server that does not read. */
const MAX_UNSENT_BYTES = 16 * MIB;
const MAX_UNSENT_MESSAGES = 20_000;
const MAX_STDERR_BYTES = 8 * 1024;
const STDIN_GRACE_MS = 300;
const KILL_GRACE_MS = 1500;
const EXIT_GRACE_MS = 500;
const SURVIVOR_POLL_MS = 25;

type ParseMessage = (line: string) => JSONRPCMessage;

/**
 * A server that is a program, in a group of its own, so that it ends with everything it started. What
 * the protocol's own transport does is not enough for that: it ends the one process only.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];

  readonly #program: SpawnRequest;
  readonly #parse: ParseMessage;
  readonly #lines = new MessageLines({ maxLineBytes: MAX_MESSAGE_BYTES });
  readonly #stderr = createBoundedOutput(MAX_STDERR_BYTES);
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

  /** Why it is no longer there, as far as the program itself tells. */
  whyOver(): string {
    // What it says when it is cut off is about that.
    if (this.#isGivenUp && this.#failure !== null) return this.#failure;
    const said = this.#stderr.result();
    const words = extractErrorText(said.truncated ? said.tail : said.text);
    const why = this.#failure ?? this.#garbageWords() ?? 'it ended';
    return words === '' ? why : `${why}; it said: ${words}`;
  }

  #garbageWords(): string | null {
    if (this.#firstGarbage === null) return null;
    return `it ended after it had printed what is no message: ${JSON.stringify(this.#firstGarbage)}`;
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
      rememberTree(pid);
      this.#tree = createTreeEnder(pid);
    }
    // A pipe that breaks is told of by the end of the program.
    child.stdin?.on('error', () => undefined);
    child.stdout?.on('error', () => undefined);
    child.stderr?.on('error', () => undefined);
    child.stderr?.on('data', (chunk: Buffer) => this.#stderr.push(chunk));
    child.stdout?.on('data', (chunk: Buffer) => this.#receive(chunk));
    child.once('exit', (code, signal) => {
      this.#failure ??=
        signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
      // What it left behind may hold its pipes for ever.
      const timer = setTimeout(() => this.#finish(), EXIT_GRACE_MS);
      child.once('close', () => {
        clearTimeout(timer);
        this.#finish();
      });
    });
  }

  #receive(chunk: Buffer): void {
    // Whatever it still says while it ends is heard by nobody.
    if (this.#isOver || this.#ended !== null) return;
    const lines = this.#lines.push(chunk);
    if (lines === null) {
      return this.#giveUp(`it sent a message of more than ${MAX_MESSAGE_BYTES / MIB} MiB`);
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
      this.#giveUp('it keeps printing what is no message on its standard output');
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

  #giveUp(why: string): void {
    if (this.#isOver) return;
    this.#failure ??= why;
    this.#isGivenUp = true;
    this.onerror?.(new TransportFailure(why));
    this.#child?.stdout?.destroy();
    void this.close();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (this.#isOver || !stdin?.writable) throw new TransportFailure(this.whyOver());
    if (!this.#canWait(stdin)) {
      this.#giveUp('it does not read what it is sent, and asks for ever more');
      throw new TransportFailure(this.whyOver());
    }
    this.#unsentMessages += 1;
    const isSent = stdin.write(`${JSON.stringify(message)}\n`, () => {
      this.#unsentMessages -= 1;
    });
    if (!isSent) await this.#untilDrained(stdin);
  }

  /** One message may be as long as it likes; what counts is what waits before it. */
  #canWait({ writableLength }: Writable): boolean {
    return writableLength <= MAX_UNSENT_BYTES && this.#unsentMessages <= MAX_UNSENT_MESSAGES;
  }

  /** One promise for all who wait. */
  #untilDrained(stdin: Writable): Promise<void> {
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
    // Looking at the tree once remembers those who leave the group.
    this.#tree?.hasEnded();
    child.stdin?.end();
    if (!(await this.#endsWithin(STDIN_GRACE_MS))) {
      this.#tree?.end('SIGTERM');
      await this.#endsWithin(KILL_GRACE_MS);
    }
    if (this.#tree?.hasEnded() === false) this.#tree.end('SIGKILL');
    await this.#endsWithin(EXIT_GRACE_MS);
    this.#finish();
  }

  async #endsWithin(ms: number): Promise<boolean> {
    for (let left = ms; left > 0; left -= SURVIVOR_POLL_MS) {
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
      forgetTree(child.pid);
    }
    child?.stdin?.destroy();
    child?.stdout?.destroy();
    child?.stderr?.destroy();
    child?.unref();
    this.onclose?.();
  }
}

const NEWLINE = 0x0a;

interface LineLimits {
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
