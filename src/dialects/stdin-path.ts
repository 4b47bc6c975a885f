import { readFileSync, statSync } from 'node:fs';

const LARGEST_SCRIPT = 1024 * 1024;

/**
 * Whether a script opens `/dev/stdin` by its path, which fails for Node's pipes, because they are
 * sockets.
 */
export function hasStdinPath(script: string): boolean {
  return process.platform === 'linux' && script.includes('/dev/stdin');
}

/** The same for a file, which may be missing or binary. */
export function hasStdinPathInFile(file: string): boolean {
  try {
    const stats = statSync(file);
    if (!stats.isFile() || stats.size > LARGEST_SCRIPT) return false;
    return hasStdinPath(readFileSync(file, 'latin1'));
  } catch {
    return false;
  }
}
