import { fstatSync, writeSync } from 'node:fs';
import { getErrorCode } from '../../base/errors.ts';

/** One of stdout and stderr. */
export interface Output {
  readonly isTerminal: boolean;
  write(text: string): void;
}

/**
 * Writes synchronously unless it is a terminal, because loading Node's streams takes longer than most
 * commands. `onLost` receives write errors and must not throw.
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

/** Returns the part that a full pipe did not accept; null when done. */
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

/** Calls the prototype's method, because redirectStdout replaces the instance's. */
function writeTo(stream: NodeJS.WriteStream, text: string | Buffer): void {
  const own: unknown = Object.getPrototypeOf(stream);
  const write: unknown = typeof own === 'object' && own !== null ? Reflect.get(own, 'write') : null;
  if (typeof write === 'function') Reflect.apply(write, stream, [text]);
}

let isRedirected = false;

/**
 * Reserves stdout for `openOutput`: what plugins print there goes to stderr, even after their session.
 * Never undone, because plugins are never unloaded.
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
    // A closed descriptor fails at the first write.
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
