import type { ChildProcess } from 'node:child_process';
import {
  createTreeEnder,
  terminateTree,
  type TreeEnder,
  unregisterTree,
  registerTree,
} from '../../process/end-tree.ts';
import type { Environment } from '../../process/environment.ts';
import { describeSpawnFailure, spawnModule } from '../../process/spawn.ts';
import { callMethod } from './wire/serialize.ts';
import { type FromChild, isFromChild, type ToChild } from './wire/protocol.ts';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { truncateText } from '../../base/json.ts';
import { StringDecoder } from 'node:string_decoder';

export interface ProcessRequest {
  readonly program: ChildProgram;
  readonly cwd: string;
  readonly environment: Readonly<Environment>;
  readonly onMessage: (message: FromChild) => void;
  readonly onLine: (stream: 'stdout' | 'stderr', line: string) => void;
  /** Called once, also when the process could not be started. */
  readonly onEnd: (ending: ProcessEnding) => void;
}

/** How long the process has to exit after its channel was closed. */
const TERM_MS = 500;
/** How long output is awaited after the exit; grandchildren may still hold the pipes. */
const DRAIN_MS = 250;
const STDERR_TAIL = 8_000;

/** The process of one plugin. */
export class PluginProcess {
  readonly #child: ChildProcess;
  readonly #request: ProcessRequest;
  #ender: TreeEnder | null = null;
  #killTimer: NodeJS.Timeout | undefined;
  #reason: string | null = null;
  #stderr = '';
  #isExpected = false;
  #hasEnded = false;

  constructor(request: ProcessRequest) {
    const { program, cwd, environment: env } = request;
    const child = spawnModule({ file: program.file, args: program.nodeFlags, cwd, env });
    this.#child = child;
    this.#request = request;
    const { pid } = child;
    if (pid !== undefined) registerTree(pid);
    child.on('message', (message) => {
      if (!this.#hasEnded && isFromChild(message)) request.onMessage(message);
    });
    child.once('error', (error) => this.#fail(error));
    child.once('exit', (code, signal) => this.#drain(code, signal));
    // The process cannot be reached any more; if it does not exit in time, it is killed.
    child.once('disconnect', () => this.#endAfter(TERM_MS));
    this.#readOutput();
    this.hold(false);
  }

  /** Throws when the message cannot be cloned; does nothing after the process has exited. */
  send(message: ToChild): void {
    if (!this.#child.connected) return;
    // The callback ignores late errors, because the exit of the process is reported by `onEnd`.
    this.#child.send(message, undefined, {}, () => undefined);
  }

  /** Sets whether the plugin's process keeps this process from exiting. */
  hold(isHeld: boolean): void {
    const { channel } = this.#child;
    // The process is referenced too: when it exits during a call, the channel closes first.
    if (isHeld) {
      channel?.ref();
      this.#child.ref();
    } else {
      channel?.unref();
      this.#child.unref();
    }
  }

  /** Kills the process with its descendants; the first reason is the one that is reported. */
  kill(reason: string): void {
    this.#reason ??= reason;
    this.#end();
  }

  /** Closes the channel, so that the process exits; kills it when it does not do so in time. */
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
    this.#killTimer = terminateTree(ender, TERM_MS).unref();
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
      // The pipes must not keep this process from exiting.
      if (stream !== null) callMethod(stream, 'unref', []);
    }
  }

  /** Waits for the output, because the last of it may arrive after the exit. */
  #drain(code: number | null, signal: NodeJS.Signals | null): void {
    const { stdout, stderr } = this.#child;
    const open = new Set([stdout, stderr].filter((stream) => stream?.closed === false));
    const finish = (): void => this.#finish({ code, signal });
    if (open.size === 0) return finish();
    const limit = setTimeout(finish, DRAIN_MS);
    // Not the `close` event of the process: Node.js does not emit it when the channel was closed from here.
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

  #finish({ code, signal }: Pick<ProcessEnding, 'code' | 'signal'>): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#killTimer);
    const { pid } = this.#child;
    if (pid !== undefined) this.#clearAway(pid);
    this.#request.onEnd({ code, signal, reason: this.#reason, stderr: this.#stderr });
  }

  /** Kills the descendants that the process left behind, unless it exited as expected. */
  #clearAway(pid: number): void {
    unregisterTree(pid);
    if (this.#isExpected && this.#ender === null) return;
    (this.#ender ?? createTreeEnder(pid)).end('SIGKILL');
  }
}

/** The program that a plugin's process runs. */
export interface ChildProgram {
  readonly file: string;
  readonly nodeFlags: readonly string[];
}

/** The program beside this file: of the library, of the command, or of the sources. */
export function findChildProgram(): ChildProgram {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const isUnbundled = here.endsWith(path.join('plugins', 'isolation'));
  const home = path.resolve(here, isUnbundled ? '../..' : '..');
  if (!import.meta.url.endsWith('.ts')) {
    return { file: path.join(home, 'plugin-child.js'), nodeFlags: [] };
  }
  // Node.js 20 cannot run TypeScript.
  const jiti = path.dirname(createRequire(import.meta.url).resolve('jiti/package.json'));
  const loader = pathToFileURL(path.join(jiti, 'lib', 'jiti-register.mjs')).href;
  return { file: path.join(home, 'plugin-child.ts'), nodeFlags: ['--import', loader] };
}

/** How a plugin's process ended. */
export interface ProcessEnding {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why we killed the process; null when we did not. */
  readonly reason: string | null;
  /** The end of its stderr. */
  readonly stderr: string;
}

const MAX_QUOTE = 300;

/** Describes the exit in one sentence for the caller, the user or a model. */
export function describeEnding(plugin: string, ending: ProcessEnding): string {
  const how = `the process of the plugin "${plugin}" ${describeExit(ending)}`;
  const last = selectErrorLine(ending.stderr);
  const quote = last === null ? '' : `; it last wrote: ${truncateText(last, MAX_QUOTE)}`;
  return `${how}, so nothing of it works any more in this session${quote}`;
}

function describeExit({ code, signal, reason }: ProcessEnding): string {
  if (reason !== null) return reason;
  if (signal !== null) return `was ended by ${signal}`;
  return `ended by itself with exit code ${code ?? 'unknown'}`;
}

const FATAL = /^(?:FATAL ERROR|[\w$.]*(?:Error|Exception)\b)/;
/** What Node.js prints around an uncaught error. */
const AROUND = /^(?:\s+at |Node\.js v|\s*\^|-{3,}|\s*$)/;

/** The line with the error, rather than the stack below it. */
function selectErrorLine(stderr: string): string | null {
  const lines = stderr.split('\n').filter((line) => !AROUND.test(line));
  const message = lines.findLast((line) => FATAL.test(line)) ?? lines.at(-1);
  return message?.trim() ?? null;
}

/** How many characters of one line are passed on. */
const MAX_LINE = 10_000;
/** How many lines are passed on per interval; a plugin that prints without end must not occupy its host. */
const MAX_LINES = 500;
const STRETCH_MS = 1000;

/** Splits output into lines; `end` passes on the text after the last line break. */
function createOutputLines(onLine: (line: string) => void) {
  const decoder = new StringDecoder('utf8');
  const pass = truncateLine(onLine);
  let rest = '';
  return {
    read(chunk: Buffer): void {
      const [first = '', ...others] = decoder.write(chunk).split('\n');
      // The rest of a long line is dropped.
      rest = truncateText(rest + first, MAX_LINE);
      for (const next of others) {
        pass(rest);
        rest = truncateText(next, MAX_LINE);
      }
    },
    end(): void {
      pass(rest + decoder.end());
      rest = '';
    },
  };
}

function truncateLine(onLine: (line: string) => void): (line: string) => void {
  let passed = 0;
  let leftOut = 0;
  const begin = (): void => {
    passed = 0;
    if (leftOut > 0) onLine(`(${leftOut} more lines are left out)`);
    leftOut = 0;
  };
  let stretch: NodeJS.Timeout | null = null;
  return (line) => {
    const text = line.trimEnd();
    if (text === '') return;
    stretch ??= setTimeout(() => {
      stretch = null;
      begin();
    }, STRETCH_MS).unref();
    passed += 1;
    if (passed <= MAX_LINES) onLine(text);
    else leftOut += 1;
  };
}
