import path from 'node:path';

export interface Place {
  /** Where the search was meant to start; absolute, as the next. */
  readonly root: string;
  /** Where it starts. */
  readonly directory: string;
  /** Relative to it, and never leading out of it. */
  readonly pattern: string;
}

/** Takes the directories that a pattern names plainly, `..` among them, for the place to search in. */
export function splitPattern(pattern: string, root: string): Place | string {
  const parts = pattern.split('/');
  const plain = parts.findIndex((part, index) => index === parts.length - 1 || isMagic(part));
  const inside = parts.slice(plain).filter((part) => part !== '' && part !== '.');
  if (inside.includes('..') || inside.length === 0) {
    return `expected "pattern" to match files below the directory that it starts with, found ${JSON.stringify(pattern)}`;
  }
  // An absolute pattern starts with an empty part.
  const start = parts[0] === '' && plain > 0 ? '/' : root;
  const directory = path.resolve(start, ...parts.slice(0, plain));
  return { root, directory, pattern: inside.join('/') };
}

function isMagic(part: string): boolean {
  return /[*?[\]{}()!+@\\]/.test(part);
}
