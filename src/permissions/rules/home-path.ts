/** Whether the path begins with `~`, which stands for the home directory. */
export function isHomePath(file: string): boolean {
  return /^~(?:$|[\\/])/.test(file);
}

/** Keeps `..` as it is written, because a link may precede it. */
export function expandHome(file: string, home: string | null): string {
  return home !== null && isHomePath(file) ? home + file.slice(1) : file;
}
