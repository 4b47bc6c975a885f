import type { ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { systemClock } from '../base/clock.ts';
import { invariant } from '../base/errors.ts';
import { openAnonymousFile } from '../base/files.ts';
import { addAbortListener, clampTimerDelay, removeAbortListener } from '../base/abort.ts';
import { type BoundedOutput, OutputCollector } from './bounded-output.ts';
import {
  createTreeEnder,
  terminateTree,
  type TreeEnder,
  type TreeOptions,
  unregisterTree,
  registerTree,
} from './end-tree.ts';
import { markEnvironment } from './process-marker.ts';
import { describeSpawnFailure, spawnChild, type SpawnFailure, type SpawnRequest } from './spawn.ts';

export interface Program extends SpawnRequest {
  /** Set for a program that runs in a PID namespace of its own, which ends with it. */
  readonly ownsPidNamespace?: boolean;
  /**
   * Written at once and closed; many programs may share one Buffer. A function is called once
   * the program has been started, so that creating the input delays nothing.
   */
  readonly stdin: string | Uint8Array | (() => string | Uint8Array);
  /** Set for a program that opens `/dev/stdin`: it gets a file there, because Node's pipes are sockets. */
  readonly opensStdin?: boolean;
  readonly timeoutMs: number;
  readonly maxStdoutBytes?: number;
  readonly maxStderrBytes?: number;
  /** How long the tree has between SIGTERM and SIGKILL. */
  readonly killGraceMs?: number;
  /** How long output is awaited after the program ended but something still holds its pipes. */
  readonly exitGraceMs?: number;
}

export interface RunOptions {
  /** Ends the whole tree, also after a hand-over. */
  readonly signal?: AbortSignal;
  /** Gets the pid of the program, which leads its own process group. Must not throw. */
  readonly onStart?: (leader: number) => void;
  /** Gets all of stdout as it comes, also what is not kept. Must not throw. */
  readonly onOutput?: (chunk: Buffer) => void;
  /** Gets the first complete line of stdout. Must not throw. */
  readonly handOver?: HandOver;
}

/** `true`, or a new time limit, means that the caller continues without waiting. */
export type HandOver = (firstLine: string) => boolean | { readonly timeoutMs: number };

/** The first thing that happened: a program that is killed after its time-out ended by time-out. */
export type Ending = 'exit' | 'signal' | 'timeout' | 'abort' | 'spawn' | 'handed-over';

export interface ProgramResult {
  readonly ending: Ending;
  /** Null unless the program exited normally or after SIGTERM; null is never success. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: BoundedOutput;
  readonly stderr: BoundedOutput;
  readonly durationMs: number;
  /** Whether the program was ended and nothing that it started can be left; never true when it ended by itself. */
  readonly isTreeEnded: boolean;
  /** Why nothing was started; only when `ending` is `spawn`. */
  readonly spawnError: SpawnFailure | null;
  /** How the program ended after all; only when `ending` is `handed-over`. */
  readonly late: Promise<ProgramResult> | null;
}

/** Runs a program; another one than `runProgram` runs it in a sandbox. */
export type RunProgram = (program: Program, options?: RunOptions) => Promise<ProgramResult>;

/** Runs a program to its end. Never rejects and never throws: whatever goes wrong is the result. */
export function runProgram(program: Program, options: RunOptions = {}): Promise<ProgramResult> {
  return new Promise((resolve) => new Run(program, options, resolve).start());
}

const MIB = 1024 * 1024;
const DEFAULTS = {
  maxStdoutBytes: 8 * MIB,
  maxStderrBytes: MIB,
  killGraceMs: 1500,
  exitGraceMs: 500,
};
const SURVIVOR_POLL_MS = 50;

class Run {
  readonly #program: Program;
  readonly #options: RunOptions;
  #resolve: (result: ProgramResult) => void;

  readonly #startedAt = systemClock.elapsed();
  readonly #stdout: OutputCollector;
  readonly #stderr: OutputCollector;
  #child: ChildProcess | null = null;
  #tree: TreeEnder | null = null;
  #treeOptions: TreeOptions = {};

  #ending: Ending | null = null;
  #exitCode: number | null = null;
  #exitSignal: string | null = null;
  #spawnError: SpawnFailure | null = null;
  #hasExited = false;
  #hasClosed = false;
  #isSettled = false;

  // One after the other: time-out, then SIGKILL, then giving up.
  #deadline: NodeJS.Timeout | undefined;
  // Between exit and settling: looking for survivors, then waiting for the pipes.
  #pause: NodeJS.Timeout | undefined;

  constructor(program: Program, options: RunOptions, resolve: (result: ProgramResult) => void) {
    this.#program = program;
    this.#options = options;
    this.#resolve = resolve;
    this.#stdout = new OutputCollector(program.maxStdoutBytes ?? DEFAULTS.maxStdoutBytes);
    this.#stderr = new OutputCollector(program.maxStderrBytes ?? DEFAULTS.maxStderrBytes);
  }

  start(): void {
    const { signal } = this.#options;
    if (signal?.aborted) {
      this.#ending = 'abort';
      return this.#settle();
    }
    const file = this.#program.opensStdin === true ? this.#openStdin() : null;
    try {
      const { env, marker } = markEnvironment(this.#program.env);
      this.#treeOptions = { marker, ownsPidNamespace: this.#program.ownsPidNamespace === true };
      this.#child = spawnChild({ ...this.#program, env }, file ?? 'pipe');
    } catch (error) {
      return this.#failToStart(error);
    } finally {
      if (file !== null) closeSync(file);
    }
    if (this.#child.pid !== undefined) {
      registerTree(this.#child.pid, this.#treeOptions);
      this.#options.onStart?.(this.#child.pid);
    }
    this.#listen(this.#child);
    // Delayed, so that the program, and those that start beside it, start first.
    queueMicrotask(() => this.#startLimits());
    this.#writeStdin(this.#child);
  }

  #startLimits(): void {
    const { signal } = this.#options;
    if (this.#isSettled) return;
    this.#setTimeLimit(this.#program.timeoutMs);
    if (signal?.aborted === true) this.#endTree('abort');
    else if (signal !== undefined) addAbortListener(signal, this.#onAbort);
  }

  #setTimeLimit(timeoutMs: number): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#endTree('timeout'), clampTimerDelay(timeoutMs));
  }

  #listen(child: ChildProcess): void {
    const { handOver, onOutput } = this.#options;
    child.on('error', (error) => this.#failToStart(error));
    child.on('exit', (code, signal) => this.#onExit(code, signal));
    child.on('close', () => this.#onClose());
    // Without pipes (too many open files) only the error event follows.
    child.stdin?.on('error', ignoreError);
    child.stdout?.on('error', ignoreError);
    child.stderr?.on('error', ignoreError);
    child.stdout?.on('data', (chunk: Buffer) => this.#stdout.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => this.#stderr.push(chunk));
    if (onOutput !== undefined) child.stdout?.on('data', onOutput);
    if (handOver !== undefined && child.stdout) {
      watchFirstLine(child.stdout, (line) => this.#askForHandOver(line, handOver));
    }
  }

  #openStdin(): number | null {
    const { stdin } = this.#program;
    const content = typeof stdin === 'function' ? stdin() : stdin;
    return openAnonymousFile(Buffer.from(content));
  }

  #writeStdin(child: ChildProcess): void {
    const { stdin } = this.#program;
    try {
      if (child.stdin) child.stdin.end(typeof stdin === 'function' ? stdin() : stdin);
    } catch (error) {
      if (child.pid !== undefined) createTreeEnder(child.pid, this.#treeOptions).end('SIGKILL');
      this.#failToStart(error);
    }
  }

  #failToStart(error: unknown): void {
    if (this.#isSettled) return;
    this.#ending ??= 'spawn';
    this.#spawnError = describeSpawnFailure(error, this.#program);
    this.#settle();
  }

  readonly #onAbort = (): void => this.#endTree('abort');

  #endTree(reason: 'timeout' | 'abort'): void {
    const pid = this.#child?.pid;
    if (this.#ending !== null || pid === undefined) return;
    this.#ending = reason;
    this.#tree = createTreeEnder(pid, this.#treeOptions);
    clearTimeout(this.#deadline);
    const killGraceMs = this.#program.killGraceMs ?? DEFAULTS.killGraceMs;
    this.#deadline = terminateTree(this.#tree, killGraceMs, () => {
      this.#deadline = setTimeout(() => this.#settle(), this.#exitGraceMs);
    });
  }

  #onExit(code: number | null, signal: string | null): void {
    this.#hasExited = true;
    this.#exitCode = code;
    this.#exitSignal = signal;
    this.#ending ??= code === null ? 'signal' : 'exit';
    // Mostly the pipes are closed by then, and there is nothing left to wait for.
    process.nextTick(() => this.#settleWhenEnded());
  }

  #onClose(): void {
    this.#hasClosed = true;
    this.#settleWhenEnded();
  }

  #settleWhenEnded(): void {
    if (this.#isSettled || !this.#hasExited) return;
    clearTimeout(this.#pause);
    if (this.#tree?.hasEnded() === false) {
      this.#pause = setTimeout(() => this.#settleWhenEnded(), SURVIVOR_POLL_MS);
      return;
    }
    if (this.#hasClosed) return this.#settle();
    // What waits in the pipes is read after the timers, so that a busy process would not have read it yet.
    this.#pause = setTimeout(() => setImmediate(() => this.#settle()), this.#exitGraceMs);
  }

  get #exitGraceMs(): number {
    return this.#program.exitGraceMs ?? DEFAULTS.exitGraceMs;
  }

  #askForHandOver(firstLine: string, handOver: HandOver): void {
    if (this.#isSettled || this.#tree !== null) return;
    const wish = handOver(firstLine);
    if (wish === false) return;
    if (wish !== true) this.#setTimeLimit(wish.timeoutMs);
    const answer = this.#resolve;
    const late = new Promise<ProgramResult>((resolve) => {
      this.#resolve = resolve;
    });
    answer({ ...this.#createResult('handed-over'), exitCode: null, signal: null, late });
  }

  #settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#pause);
    if (this.#child?.pid !== undefined) unregisterTree(this.#child.pid);
    if (this.#options.signal !== undefined) {
      removeAbortListener(this.#options.signal, this.#onAbort);
    }
    if (!this.#hasClosed) this.#releasePipes();
    invariant(this.#ending !== null, 'a program settles only after it is known why it ended');
    this.#resolve(this.#createResult(this.#ending));
  }

  // What still holds the other ends is left alone, but must not keep this process alive.
  #releasePipes(): void {
    this.#child?.stdin?.destroy();
    this.#child?.stdout?.destroy();
    this.#child?.stderr?.destroy();
    this.#child?.unref();
  }

  /** A process that still holds the pipes is left, whoever it is. */
  #isTreeEnded(): boolean {
    if (this.#tree === null || !this.#hasClosed) return false;
    return this.#tree.hasEnded() && this.#tree.isComplete();
  }

  #createResult(ending: Ending): ProgramResult {
    return {
      ending,
      exitCode: this.#exitCode,
      signal: this.#exitSignal,
      stdout: this.#stdout.result(),
      stderr: this.#stderr.result(),
      durationMs: systemClock.elapsed() - this.#startedAt,
      isTreeEnded: this.#isTreeEnded(),
      spawnError: this.#spawnError,
      late: null,
    };
  }
}

// A program need not read its input, and how it ended says more than how a pipe broke.
function ignoreError(): void {}

const MAX_FIRST_LINE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

function watchFirstLine(stream: Readable, report: (line: string) => void): void {
  const parts: Buffer[] = [];
  let bytes = 0;
  const listen = (chunk: Buffer): void => {
    const end = chunk.indexOf(NEWLINE);
    parts.push(end === -1 ? chunk : chunk.subarray(0, end));
    bytes += chunk.length;
    if (end === -1 && bytes < MAX_FIRST_LINE_BYTES) return;
    stream.off('data', listen);
    if (end !== -1) report(Buffer.concat(parts).toString('utf8').replace(/\r$/, ''));
  };
  stream.on('data', listen);
}
