import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { replacePrivateFileSync } from '../../base/files.ts';
import {
  formatOwner,
  identifyOwner,
  isFileRecent,
  isOwnerAlive,
  parseOwner,
  refreshFile,
} from '../owned-files.ts';
import type { Placeholder } from './plan-mounts.ts';

/**
 * The claims of all processes on placeholders, one file each in a directory that they share. A file has
 * a line for each placeholder; before them stand two characters, which change with every command and
 * are written in place: whether its owner has sandboxes, for which the lines count, and whether its owner removes placeholders right now.
 *
 * Nobody relies on a placeholder that another process is about to remove: who needs one claims it first
 * and then waits for those who remove, and who removes one says so first and then looks for claims.
 */
export class PlaceholderClaims {
  readonly #directory: string;
  readonly file: string;
  #descriptor: number | null = null;
  #lines = '';
  #stopRenewing: (() => void) | null = null;

  constructor(directory: string) {
    this.#directory = directory;
    instances += 1;
    this.file = path.join(directory, `${formatOwner(identifyOwner())}-${instances}.claim`);
  }

  /** Claims these and no others; without a sandbox that runs, the claim is idle. */
  claim(
    placeholders: readonly Placeholder[],
    { isRemoving, isRunning }: { readonly isRemoving: boolean; readonly isRunning: boolean },
  ): void {
    const state = `${isRunning ? CLAIMED : IDLE}${isRemoving ? REMOVING : RESTING}`;
    const lines = placeholders.map(formatLine).join('');
    // Lines that do not count may stay, because the next command mostly needs the same ones.
    if (this.#descriptor !== null && (!isRunning || lines === this.#lines)) {
      writeSync(this.#descriptor, state, 0);
    } else {
      this.#replace(`${state}\n${lines}`);
      this.#lines = lines;
    }
  }

  /** Another file in its place, because somebody may be reading it. */
  #replace(text: string): void {
    replacePrivateFileSync(this.file, text);
    this.#closeFile();
    this.#descriptor = openSync(this.file, 'r+');
    this.#stopRenewing ??= refreshFile(this.file);
  }

  #closeFile(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  /** The claims of other processes, and of other sessions in this one. */
  listOthers(): readonly Claim[] {
    return listNames(this.#directory).flatMap((name) => {
      const file = path.join(this.#directory, name);
      return file === this.file ? [] : (readClaim(file, name) ?? []);
    });
  }

  /** Waits until nobody removes placeholders; false when somebody was killed while it did. */
  waitForRemovals(): boolean {
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      if (!this.listOthers().some(({ isRemoving }) => isRemoving)) return true;
      Atomics.wait(CLOCK, 0, 0, 1);
    }
    return false;
  }

  close(): void {
    this.#stopRenewing?.();
    this.#stopRenewing = null;
    this.#closeFile();
    this.#lines = '';
    rmSync(this.file, { force: true });
  }
}

let instances = 0;

const CLAIMED = 'c';
const IDLE = 'i';
const REMOVING = 'r';
const RESTING = '-';
const MAX_TURNS = 500;
/** Whoever removes placeholders longer than this was killed while it did. */
const MAX_REMOVAL_MS = 10_000;
const CLOCK = new Int32Array(new SharedArrayBuffer(4));

export interface Claim {
  readonly file: string;
  readonly isAlive: boolean;
  readonly isRemoving: boolean;
  /** Whether it has sandboxes. */
  readonly isRunning: boolean;
  /** None while the owner needs none. */
  readonly claimed: readonly Placeholder[];
  /** What its owner may leave when it is killed. */
  readonly leftovers: readonly Placeholder[];
}

function readClaim(file: string, name: string): Claim | null {
  const [, ownerName = ''] = /^(.+)-\d+\.claim$/u.exec(name) ?? [];
  const owner = parseOwner(ownerName);
  const text = readText(file);
  if (owner === null || text === null) return null;
  const [state = '', ...lines] = text.split('\n');
  const placeholders = lines.flatMap(parseLine);
  const isMarked = state[1] === REMOVING;
  const isRunning = state[0] === CLAIMED;
  const claimed = isRunning ? placeholders : [];
  return {
    file,
    isAlive: isOwnerAlive(owner, file),
    isRemoving: isMarked && isFileRecent(file, MAX_REMOVAL_MS),
    isRunning,
    claimed,
    leftovers: isMarked ? placeholders : claimed,
  };
}

/** Words without white space, because the cleaner is a shell that reads words. */
function formatLine({ path: file, text }: Placeholder): string {
  return text === null ? `d ${escape(file)}\n` : `f ${escape(file)} ${escape(text)}\n`;
}

function parseLine(line: string): readonly Placeholder[] {
  const [kind, file, text] = line.split(' ');
  if (file === undefined) return [];
  return [{ path: unescape(file), text: kind === 'f' ? unescape(text ?? '') : null }];
}

/** As `printf %b` reads it. */
function escape(text: string): string {
  return text.replaceAll(
    /[\\ \t\n\v\f\r]/g,
    (character) => `\\0${character.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
}

function unescape(text: string): string {
  return text.replaceAll(/\\0([0-7]{3})/g, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 8)),
  );
}

/** Removes the file of a process that was killed together with its cleaner. */
export function removeClaimFile({ file }: Claim): void {
  rmSync(file, { force: true });
}

function listNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
