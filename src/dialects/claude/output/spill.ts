import { truncateText } from '../../../base/json.ts';
import path from 'node:path';
import { appendPrivateFile } from '../../../base/files.ts';
import type { HookEvent } from '../../../hooks/facts.ts';
import { toSafeFileName } from '../../../process/env-files.ts';
import type { ClaudeSession } from '../session.ts';

/** Writes the whole text to a file named after `name`; returns its path, or null on failure. */
export type Spill = (text: string, name: string) => string | null;

const MAX_TEXT_CHARACTERS = 10_000;
const PREVIEW_CHARACTERS = 2000;

/**
 * Returns the text or, when it is too long, a preview with the path of the whole text. `name` is the
 * field that it comes from: `additionalContext`, `systemMessage` or `stdout`.
 */
export function limitText(
  text: string,
  name: string,
  spill: Spill,
): { readonly text: string; readonly notes: readonly string[] } {
  if (text.length <= MAX_TEXT_CHARACTERS) return { text, notes: [] };
  const path = spill(text, name);
  const size = `${name} has ${text.length} characters, more than ${MAX_TEXT_CHARACTERS}`;
  if (path === null) {
    const note = `${size}, and was cut because it could not be saved to a file`;
    return { text: `${truncateText(text, MAX_TEXT_CHARACTERS)}\n[... ${note} ...]`, notes: [note] };
  }
  return { text: formatPersisted(text, path), notes: [`${size}; the full text is in ${path}`] };
}

function formatPersisted(text: string, path: string): string {
  const kilobytes = (Buffer.byteLength(text) / 1024).toFixed(1);
  return [
    '<persisted-output>',
    `Output too large (${kilobytes}KB). Full output saved to: ${path}`,
    '',
    'Preview (first 2KB):',
    truncateText(text, PREVIEW_CHARACTERS),
    '...',
    '</persisted-output>',
  ].join('\n');
}

let spilled = 0;

/** Saves output that is too long for the model to a file that the model can read. */
export function createSpill({ stateDirectory }: ClaudeSession, event: HookEvent): Spill {
  return (text, name) => {
    if (stateDirectory === null) return null;
    spilled += 1;
    const file = `hook-${event.at}-${process.pid}-${spilled}-${toSafeFileName(name)}.txt`;
    const spillFile = path.join(
      stateDirectory,
      'tool-results',
      toSafeFileName(event.sessionId),
      file,
    );
    try {
      appendPrivateFile(spillFile, text);
      return spillFile;
    } catch {
      // The caller truncates the text instead and adds a note.
      return null;
    }
  };
}
