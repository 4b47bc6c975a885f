import type { ChildProcess } from 'node:child_process';
import { createTreeEnder, type TreeEnder } from '../../../process/end-tree.ts';
import type { Environment } from '../../../process/environment.ts';
import { forgetTree, rememberTree } from '../../../process/live-trees.ts';
import { describeSpawnFailure, spawnModule } from '../../../process/spawn.ts';
import type { ChildProgram } from './child-program.ts';
import { createOutputLines } from './output-lines.ts';
import type { Ending } from './describe-ending.ts';
import { callMethod } from '../wire/call-method.ts';
import { type FromChild, isFromChild, type ToChild } from '../wire/protocol.ts';

export interface ProcessRequest {
  readonly program: ChildProgram;
  readonly cwd: string;
  readonly environment: Readonly<Environment>;
  readonly onMessage: (message: FromChild) => void;
  readonly onLine: (stream: 'stdout' | 'stderr', line: string) => void;
  /** Once, also when it could not be started. */
  readonly onEnd: (ending: Ending) => void;
}

/** The process that one plugin runs in. */
export interface PluginProcess {
  /** Throws when the message cannot be copied; a process that has ended hears nothing. */
  send(message: ToChild): void;
  /** Whether this process waits for it: otherwise nobody is kept from exiting by it. */
  hold(isHeld: boolean): void;
  /** Ends it with everything that it started; the first reason is the one that is told. */
  kill(reason: string): void;
  /** Closes the channel, upon which it ends by itself; when it does not do so in time, it is ended. */
  expectEnd(withinMs: number): void;
}

/** How long it has to end by itself after it was asked to. */
const TERM_MS = 500;
/** How long its output is waited for once it has ended; what it started may still hold the pipes. */
const DRAIN_MS = 250;
const STDERR_TAIL = 8_000;

export function startProcess(request: ProcessRequest): PluginProcess {
  const { program, cwd, environment: env } = request;
  const child = spawnModule({ file: program.file, args: program.nodeFlags, cwd, env });
  return new RunningProcess(child, request);
}

class RunningProcess implements PluginProcess {
  readonly #child: ChildProcess;
  readonly #request: ProcessRequest;
  #ender: TreeEnder | null = null;
  #reason: string | null = null;
  #stderr = '';
  #isExpected = false;
  #hasEnded = false;

  constructor(child: ChildProcess, request: ProcessRequest) {
    this.#child = child;
    this.#request = request;
    const { pid } = child;
    if (pid !== undefined) rememberTree(pid);
    child.on('message', (message) => {
      if (!this.#hasEnded && isFromChild(message)) request.onMessage(message);
    });
    child.once('error', (error) => this.#fail(error));
    child.once('exit', (code, signal) => this.#drain(code, signal));
    // Nobody can speak to it any more; if it does not notice, it is ended.
    child.once('disconnect', () => this.#endAfter(TERM_MS));
    this.#readOutput();
    this.hold(false);
  }

  send(message: ToChild): void {
    if (!this.#child.connected) return;
    // With a listener for what goes wrong later: that it has ended is told otherwise.
    this.#child.send(message, undefined, {}, () => undefined);
  }

  hold(isHeld: boolean): void {
    const { channel } = this.#child;
    // The process too: when it ends in the middle of a call, the channel is the first to go.
    if (isHeld) {
      channel?.ref();
      this.#child.ref();
    } else {
      channel?.unref();
      this.#child.unref();
    }
  }

  kill(reason: string): void {
    this.#reason ??= reason;
    this.#end();
  }

  expectEnd(withinMs: number): void {
    this.#reason ??= 'was ended with the session';
    this.#isExpected = true;
    if (this.#child.connected) this.#child.disconnect();
    this.#endAfter(withinMs);
  }

  #endAfter(ms: number): void {
    setTimeout(() => this.#end(), ms).unref();
  }

  #end(): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#hasEnded || this.#ender !== null) return;
    const ender = createTreeEnder(pid);
    this.#ender = ender;
    ender.end('SIGTERM');
    setTimeout(() => {
      if (!this.#hasEnded) ender.end('SIGKILL');
    }, TERM_MS).unref();
  }

  #readOutput(): void {
    const { onLine } = this.#request;
    for (const name of ['stdout', 'stderr'] as const) {
      const stream = this.#child[name];
      const lines = createOutputLines((line) => onLine(name, line));
      stream?.on('data', (chunk: Buffer) => {
        if (name === 'stderr') this.#stderr = (this.#stderr + chunk.toString()).slice(-STDERR_TAIL);
        lines.read(chunk);
      });
      stream?.once('end', () => lines.end());
      stream?.on('error', () => undefined);
      // Whoever prints keeps nobody waiting.
      if (stream !== null) callMethod(stream, 'unref', []);
    }
  }

  /** What it printed last may come after it has ended. */
  #drain(code: number | null, signal: NodeJS.Signals | null): void {
    const { stdout, stderr } = this.#child;
    const open = new Set([stdout, stderr].filter((stream) => stream?.closed === false));
    const finish = (): void => this.#finish({ code, signal });
    if (open.size === 0) return finish();
    const limit = setTimeout(finish, DRAIN_MS);
    // Not the process's own `close`: it does not come when the channel was closed from here.
    for (const stream of open) {
      stream?.once('close', () => {
        open.delete(stream);
        if (open.size > 0) return;
        clearTimeout(limit);
        finish();
      });
    }
  }

  #fail(error: Error): void {
    if (this.#child.pid !== undefined) return;
    const { program, cwd, environment: env } = this.#request;
    const request = { file: process.execPath, args: [program.file], cwd, env };
    this.#reason ??= `could not be started: ${describeSpawnFailure(error, request).message}`;
    this.#finish({ code: null, signal: null });
  }

  #finish({ code, signal }: Pick<Ending, 'code' | 'signal'>): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { pid } = this.#child;
    if (pid !== undefined) this.#clearAway(pid);
    this.#request.onEnd({ code, signal, reason: this.#reason, stderr: this.#stderr });
  }

  /** Ends what it started and left behind; one that ends as expected does so itself. */
  #clearAway(pid: number): void {
    forgetTree(pid);
    if (this.#isExpected && this.#ender === null) return;
    (this.#ender ?? createTreeEnder(pid)).end('SIGKILL');
  }
}
