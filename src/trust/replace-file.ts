import { renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createPrivateDirectory } from '../base/files.ts';

/** Replaces a file in one step and at once, for use while a lock is held; throws on failure. */
export function replacePrivateFile(file: string, content: string | Uint8Array): void {
  createPrivateDirectory(path.dirname(file));
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, content, { mode: 0o600 });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
