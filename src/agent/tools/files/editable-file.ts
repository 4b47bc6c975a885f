import type { ToolContext } from '../tool-context.ts';
import { readPath, formatIsDirectory } from './read-path.ts';
import { replaceFile } from './replace-file.ts';
import { decodeText, encodeText, type TextFile } from './text-file.ts';

/** The largest file that is read at once and can be edited. */
export const MAX_WHOLE_BYTES = 10 * 1024 * 1024;

/** The content of a file, and whether the agent has read that content. */
export interface EditableFile {
  readonly content: TextFile;
  /** Why the agent must read the file first; null when it has. */
  readonly problem: string | null;
}

/** Null when the file does not exist; a string says why it cannot be edited at all. */
export function openForEdit(file: string, context: ToolContext): EditableFile | null | string {
  const found = readPath(file, MAX_WHOLE_BYTES);
  if (found.is === 'absent') return null;
  if (found.is === 'directory') return formatIsDirectory(file);
  if (found.is === 'unreadable') return `Cannot read ${file}: ${found.why}.`;
  if (found.is === 'large') return formatTooLarge(file, found.size);
  const content = decodeText(found.bytes);
  if (content === null) return `${file} is a binary file. Only text can be changed by this tool.`;
  return { content, problem: READ_PROBLEMS[context.readFiles.compare(file, found.bytes)] };
}

const READ_PROBLEMS = {
  unread: 'File has not been read yet. Read it first before writing to it.',
  changed:
    'File has been modified since it was read, by the user, a command or a hook. Read it again before attempting to write it.',
  same: null,
};

function formatTooLarge(file: string, size: number): string {
  const limit = formatBytes(MAX_WHOLE_BYTES);
  return `${file} is too large to change by this tool (${formatBytes(size)}, at most ${limit}). Use a command in Bash.`;
}

/** Writes a text and marks it as read; a string says why it failed. */
export function saveText(file: string, content: TextFile, context: ToolContext): string | null {
  const bytes = encodeText(content);
  if (typeof bytes === 'string') return `Cannot write ${file}: ${bytes}.`;
  const failure = replaceFile(file, bytes);
  if (failure === null) context.readFiles.markRead(file, bytes);
  return failure;
}

export function formatBytes(size: number): string {
  const kilobytes = size / 1024;
  return kilobytes < 1024 ? `${roundToTenth(kilobytes)}KB` : `${roundToTenth(kilobytes / 1024)}MB`;
}

function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10;
}
