import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createPrivateDirectory } from '../../../base/files.ts';
import {
  checksum,
  holds,
  homeOf,
  RECORD,
  type Translation,
  translationIn,
  type TranslationRecord,
} from '../cache.ts';
import type { LoadRequest } from '../loading.ts';

export interface Keeping {
  readonly request: LoadRequest;
  /** Source maps by the name of their file. */
  readonly maps: ReadonlyMap<string, string>;
}

/** Writes a translation where it is found the next time, or where nothing can be written, for this process only. */
export async function keepTranslation(
  made: Omit<TranslationRecord, 'digest'>,
  { request, maps }: Keeping,
): Promise<Translation> {
  const digest = digestOf(made);
  const record = { ...made, digest };
  const home = homeOf(request);
  const kept = home === null ? null : keepIn(home, record, maps);
  if (kept !== null) return kept;
  const { temporaryDirectory } = await import('../temporary-files.ts');
  return placeIn(path.join(temporaryDirectory(), path.basename(request.entry.file)), record, maps);
}

function digestOf(made: Omit<TranslationRecord, 'digest'>): string {
  const text = JSON.stringify(made);
  return `${checksum(text)}-${text.length}`;
}

/** Null when it cannot be written: a full disk, a directory of somebody else. */
function keepIn(
  home: string,
  record: TranslationRecord,
  maps: ReadonlyMap<string, string>,
): Translation | null {
  try {
    const translation = placeIn(home, record, maps);
    replaceFile(path.join(home, RECORD), JSON.stringify(record));
    dropOld(home, record.digest);
    return translation;
  } catch {
    return null;
  }
}

/** Whoever looks finds all of the modules or none. */
function placeIn(
  home: string,
  { digest, modules }: TranslationRecord,
  maps: ReadonlyMap<string, string>,
): Translation {
  const directory = path.join(home, digest);
  if (!holds(directory, modules)) {
    const unfinished = temporaryName(directory);
    createPrivateDirectory(unfinished);
    const texts = new Map([
      ...maps,
      ...modules.map(({ name, code }): [string, string] => [name, code]),
    ]);
    for (const [name, text] of texts) writeFileSync(path.join(unfinished, name), text, PRIVATE);
    moveInto(directory, unfinished, () => holds(directory, modules));
  }
  return translationIn(directory, modules);
}

const PRIVATE = { mode: 0o600 };

let count = 0;

function temporaryName(file: string): string {
  count += 1;
  return `${file}.${process.pid}-${count}.tmp`;
}

/** What stands there is broken, unless another process has just written the same. */
function moveInto(directory: string, unfinished: string, isThere: () => boolean): void {
  try {
    renameSync(unfinished, directory);
  } catch {
    if (isThere()) return remove(unfinished);
    const broken = temporaryName(directory);
    renameSync(directory, broken);
    renameSync(unfinished, directory);
    remove(broken);
  }
}

function remove(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

function replaceFile(file: string, text: string): void {
  const unfinished = temporaryName(file);
  writeFileSync(unfinished, text, PRIVATE);
  renameSync(unfinished, file);
}

// Sessions that are open with an older one may still import a part of it.
const KEPT = 4;

function dropOld(home: string, digest: string): void {
  const directories = readdirSync(home, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== digest)
    .map(({ name }) => path.join(home, name));
  const oldest = directories
    .map((directory) => ({
      directory,
      time: statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? 0,
    }))
    .toSorted((one, other) => other.time - one.time);
  for (const { directory } of oldest.slice(KEPT - 1)) remove(directory);
}
