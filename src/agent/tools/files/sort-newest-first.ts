import { stat } from 'node:fs/promises';
import path from 'node:path';

const BATCH_SIZE = 64;

/** Sorts files by modification time; unreadable ones come last. */
export async function sortNewestFirst(
  files: readonly string[],
  cwd: string,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const dated: { readonly file: string; readonly changedAt: number }[] = [];
  for (let at = 0; at < files.length && signal?.aborted !== true; at += BATCH_SIZE) {
    const some = files.slice(at, at + BATCH_SIZE);
    dated.push(...(await Promise.all(some.map((file) => readDate(file, cwd)))));
  }
  return dated
    .toSorted((one, other) => other.changedAt - one.changedAt || compare(one.file, other.file))
    .map(({ file }) => file);
}

async function readDate(file: string, cwd: string) {
  try {
    return { file, changedAt: (await stat(path.resolve(cwd, file))).mtimeMs };
  } catch {
    return { file, changedAt: 0 };
  }
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
