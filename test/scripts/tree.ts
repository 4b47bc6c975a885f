import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Writes files below a directory, by default a new temporary one, and returns it. */
export function createTree(files: Readonly<Record<string, string>>, root = temporary()): string {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return root;
}

export function removeTree(root: string): void {
  rmSync(root, { recursive: true, force: true });
}

function temporary(): string {
  return mkdtempSync(path.join(os.tmpdir(), 'hookline-scripts-'));
}
