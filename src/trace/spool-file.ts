import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { createPrivateDirectory } from '../base/files.ts';

/** The folder of the state directory in which entries wait until the event store takes them. */
export const SPOOL_FOLDER = 'trace';
export const SPOOL_FILE = 'trace.jsonl';
const PRIVATE_FILE = 0o600;
const NEWLINE = 10;
/** Some network file systems number a file anew at each look. */
const MAX_ATTEMPTS = 3;

/**
 * Appends lines to the file that the event store takes its entries from. To take it, a process renames it
 * and reads it afterwards. So a text is safe when the file still has its name after it was written; else
 * it is written once more, and the store leaves out what it has already.
 */
export function appendToSpool(
  directory: string,
  lines: string,
  { isDurable = false }: { readonly isDurable?: boolean } = {},
): void {
  createPrivateDirectory(directory);
  const file = path.join(directory, SPOOL_FILE);
  let attempts = MAX_ATTEMPTS;
  while (!appendOnce(file, lines, isDurable) && attempts > 0) attempts--;
}

/** Returns whether the file had its name after the text was written. */
function appendOnce(file: string, lines: string, isDurable: boolean): boolean {
  const descriptor = openSync(file, 'a+', PRIVATE_FILE);
  try {
    const { size, ino } = fstatSync(descriptor);
    writeAll(descriptor, Buffer.from(endsInLine(descriptor, size) ? lines : `\n${lines}`));
    if (isDurable) {
      fdatasyncSync(descriptor);
      if (size === 0) syncDirectory(path.dirname(file));
    }
    return statSync(file, { throwIfNoEntry: false })?.ino === ino;
  } finally {
    closeSync(descriptor);
  }
}

/** A full disk or a killed process may have left half a line, which must not spoil the next one. */
function endsInLine(descriptor: number, size: number): boolean {
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  return readSync(descriptor, last, 0, 1, size - 1) === 0 || last[0] === NEWLINE;
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
}

/** The name of a new file is lost in a power failure unless its directory is written, too. */
function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
