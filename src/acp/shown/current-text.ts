import { readFileSync, statSync } from 'node:fs';

const LARGEST_SHOWN_BYTES = 2_000_000;

/** A file's text as it is now; null when it is not there, or is nothing that a person would compare. */
export function currentText(file: string): string | null {
  try {
    const { size } = statSync(file);
    return size > LARGEST_SHOWN_BYTES ? null : readFileSync(file, 'utf8');
  } catch {
    // Whoever runs the call says what is wrong with the file.
    return null;
  }
}
