import { fstatSync, writeSync } from 'node:fs';
import { errnoOf } from '../../base/errors.ts';

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
  const isTerminal = isCharacterDevice(descriptor) && streamOf(descriptor).isTTY;
  let stream: NodeJS.WriteStream | null = isTerminal ? listenTo(descriptor, onLost) : null;
  return {
    isTerminal,
    write(text) {
      if (stream !== null) {
        stream.write(text);
        return;
      }
      const left = writeAtOnce(descriptor, Buffer.from(text), onLost);
      if (left === null) return;
      stream = listenTo(descriptor, onLost);
      stream.write(left);
    },
  };
}

/** What a pipe that is full for the moment did not take; null when nothing is left to do. */
function writeAtOnce(
  descriptor: number,
  text: Buffer,
  onLost: (error: unknown) => void,
): Buffer | null {
  let left = text;
  try {
    while (left.length > 0) left = left.subarray(writeSync(descriptor, left));
    return null;
  } catch (error) {
    if (errnoOf(error) === 'EAGAIN') return left;
    onLost(error);
    return null;
  }
}

function isCharacterDevice(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice();
  } catch {
    // Closed by whoever started us; the first word will say so.
    return false;
  }
}

function streamOf(descriptor: 1 | 2): NodeJS.WriteStream {
  return descriptor === 1 ? process.stdout : process.stderr;
}

function listenTo(descriptor: 1 | 2, onLost: (error: unknown) => void): NodeJS.WriteStream {
  const stream = streamOf(descriptor);
  stream.on('error', onLost);
  return stream;
}
