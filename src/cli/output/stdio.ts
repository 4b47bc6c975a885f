import { fstatSync, writeSync } from 'node:fs';
import { getErrorCode } from '../../base/errors.ts';

/** One of the two places where a program's words go. */
export interface Output {
  /** Whether a person sees it. */
  readonly isTerminal: boolean;
  write(text: string): void;
}

/**
 * Writes at once where no terminal is, because loading Node's streams takes longer than most commands
 * do. What cannot be written is told to `onLost`, which must not throw.
 */
export function openOutput(descriptor: 1 | 2, onLost: (error: unknown) => void): Output {
  const isTerminal = isCharacterDevice(descriptor) && getStream(descriptor).isTTY;
  let stream: NodeJS.WriteStream | null = isTerminal ? openStream(descriptor, onLost) : null;
  return {
    isTerminal,
    write(text) {
      if (stream !== null) {
        writeTo(stream, text);
        return;
      }
      const left = writeSynchronously(descriptor, Buffer.from(text), onLost);
      if (left === null) return;
      stream = openStream(descriptor, onLost);
      writeTo(stream, left);
    },
  };
}

/** What a pipe that is full for the moment did not take; null when nothing is left to do. */
function writeSynchronously(
  descriptor: number,
  text: Buffer,
  onLost: (error: unknown) => void,
): Buffer | null {
  let left = text;
  try {
    while (left.length > 0) left = left.subarray(writeSync(descriptor, left));
    return null;
  } catch (error) {
    if (getErrorCode(error) === 'EAGAIN') return left;
    onLost(error);
    return null;
  }
}

/** With the method of its class: its own may have been put there to turn others away. */
function writeTo(stream: NodeJS.WriteStream, text: string | Buffer): void {
  const own: unknown = Object.getPrototypeOf(stream);
  const write: unknown = typeof own === 'object' && own !== null ? Reflect.get(own, 'write') : null;
  if (typeof write === 'function') Reflect.apply(write, stream, [text]);
}

let isRedirected = false;

/**
 * Leaves stdout to what is written with `openOutput`: what plugins write there, also with `console` and
 * after their session has ended, goes to stderr. For good, because nothing unloads a plugin.
 */
export function redirectStdout(): void {
  if (isRedirected) return;
  isRedirected = true;
  const { stdout, stderr } = process;
  stdout.write = stderr.write.bind(stderr);
}

function isCharacterDevice(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice();
  } catch {
    // Closed by whoever started us; the first word will say so.
    return false;
  }
}

function getStream(descriptor: 1 | 2): NodeJS.WriteStream {
  return descriptor === 1 ? process.stdout : process.stderr;
}

function openStream(descriptor: 1 | 2, onLost: (error: unknown) => void): NodeJS.WriteStream {
  const stream = getStream(descriptor);
  stream.on('error', onLost);
  return stream;
}
