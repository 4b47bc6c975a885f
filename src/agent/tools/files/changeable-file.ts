import type { Workbench } from '../workbench.ts';
import { lookInto, sayDirectory } from './look-into.ts';
import { replaceFile } from './replace-file.ts';
import { decodeText, encodeText, type TextFile } from './text-file.ts';

/** What is read at once, and what Edit, Write and NotebookEdit change. */
export const MAX_WHOLE_BYTES = 10 * 1024 * 1024;

/** A file as it stands, and whether the agent has seen it so; null when there is none. */
export interface FileToChange {
  readonly content: TextFile;
  /** Why the agent must read it first; null when it has. */
  readonly unseen: string | null;
}

/** A string says why it cannot be changed, whatever the agent has read. */
export function openForChange(file: string, bench: Workbench): FileToChange | null | string {
  const found = lookInto(file, MAX_WHOLE_BYTES);
  if (found.is === 'absent') return null;
  if (found.is === 'directory') return sayDirectory(file);
  if (found.is === 'unreadable') return `Cannot read ${file}: ${found.why}.`;
  if (found.is === 'large') return sayTooLarge(file, found.size);
  const content = decodeText(found.bytes);
  if (content === null) return `${file} is a binary file. Only text can be changed by this tool.`;
  return { content, unseen: UNSEEN[bench.files.compare(file, found.bytes)] };
}

const UNSEEN = {
  unread: 'File has not been read yet. Read it first before writing to it.',
  changed:
    'File has been modified since it was read, by the user, a command or a hook. Read it again before attempting to write it.',
  same: null,
};

function sayTooLarge(file: string, size: number): string {
  const limit = sayBytes(MAX_WHOLE_BYTES);
  return `${file} is too large to change by this tool (${sayBytes(size)}, at most ${limit}). Use a command in Bash.`;
}

/** Writes a text and remembers it as seen; a string says why it failed. */
export function saveText(file: string, content: TextFile, bench: Workbench): string | null {
  const bytes = encodeText(content);
  if (typeof bytes === 'string') return `Cannot write ${file}: ${bytes}.`;
  const failure = replaceFile(file, bytes);
  if (failure === null) bench.files.remember(file, bytes);
  return failure;
}

export function sayBytes(size: number): string {
  const kilobytes = size / 1024;
  return kilobytes < 1024 ? `${round(kilobytes)}KB` : `${round(kilobytes / 1024)}MB`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
