import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { getErrorCode } from '../../base/errors.ts';
import { Cleaner } from './cleaner.ts';
import { PlaceholderClaims, removeClaimFile } from './placeholder-claims.ts';
import type { Placeholder } from './plan-mounts.ts';

/**
 * Creates what must exist so that something can be mounted over it, and removes it when the last sandbox
 * that needs it has ended. The kernel takes a mount away when its place is removed, so that every
 * session claims its placeholders in a directory that all share, and the last one removes them. A small
 * shell removes them when this process is killed, and the next sandbox what is left after that.
 */
export class Placeholders {
  readonly #directory: string;
  readonly #claims: PlaceholderClaims;
  readonly #uses = new Map<string, { readonly placeholder: Placeholder; count: number }>();
  /** How many sandboxes run. */
  #sandboxes = 0;
  #cleaner: Cleaner | null = null;
  #hasRecovered = false;

  /** Claims are files in this directory, which no sandbox may reach. */
  constructor(directory: string) {
    this.#directory = directory;
    this.#claims = new PlaceholderClaims(directory);
  }

  /**
   * For a sandbox that is about to be made. Throws when one cannot be created. Returns the function that
   * releases them, once.
   */
  acquire(placeholders: readonly Placeholder[]): () => void {
    this.#sandboxes += 1;
    this.#cleaner ??= new Cleaner(this.#directory, this.#claims.file);
    for (const each of placeholders) this.#addUse(each);
    try {
      this.#writeClaim();
      if (!this.#claims.waitForRemovals()) this.#hasRecovered = false;
      placeholders.forEach(createPlaceholder);
    } catch (error) {
      this.#release(placeholders);
      throw error;
    }
    let isReleased = false;
    return () => {
      if (!isReleased) this.#release(placeholders);
      isReleased = true;
    };
  }

  /** Removes what processes left that were killed together with their cleaner. */
  recover(): void {
    if (this.#hasRecovered) return;
    this.#hasRecovered = true;
    const dead = this.#claims.listOthers().filter(({ isAlive }) => !isAlive);
    if (dead.length === 0) return;
    this.#removeUnclaimed(dead.flatMap(({ leftovers }) => leftovers));
    dead.forEach(removeClaimFile);
  }

  /**
   * The paths that exist only because a sandbox, of this session or another, needs them, and whether
   * another session has sandboxes.
   */
  readClaims(): { readonly paths: readonly string[]; readonly isOtherRunning: boolean } {
    const others = this.#claims.listOthers();
    const claimed = others.flatMap((claim) => claim.claimed.map((each) => each.path));
    return {
      paths: [...this.#uses.keys(), ...claimed],
      isOtherRunning: others.some(({ isRunning, isAlive }) => isRunning && isAlive),
    };
  }

  #addUse(placeholder: Placeholder): void {
    const use = this.#uses.get(placeholder.path);
    if (use !== undefined) use.count += 1;
    else this.#uses.set(placeholder.path, { placeholder, count: 1 });
  }

  #release(placeholders: readonly Placeholder[]): void {
    this.#sandboxes -= 1;
    const unused = placeholders.filter(({ path: file }) => {
      const use = this.#uses.get(file);
      if (use === undefined || (use.count -= 1) > 0) return false;
      return this.#uses.delete(file);
    });
    if (unused.length > 0) this.#removeUnclaimed(unused);
    else if (this.#sandboxes === 0) this.#writeClaim();
  }

  #removeUnclaimed(placeholders: readonly Placeholder[]): void {
    this.#writeClaim(true);
    const others = this.#claims.listOthers().filter(({ isAlive }) => isAlive);
    const claimed = new Set(others.flatMap((claim) => claim.claimed.map((each) => each.path)));
    for (const each of placeholders) {
      if (!claimed.has(each.path) && !this.#uses.has(each.path)) removePlaceholder(each);
    }
    this.#writeClaim();
  }

  #writeClaim(isRemoving = false): void {
    const placeholders = [...this.#uses.values()].map((use) => use.placeholder);
    this.#claims.claim(placeholders, { isRemoving, isRunning: this.#sandboxes > 0 });
  }

  /** The sandboxes that a killed process leaves are ended before their placeholders are removed. */
  trackGroup(leader: number): () => void {
    return this.#cleaner?.trackGroup(leader) ?? (() => undefined);
  }

  /** Gives up the claim file; without effect while a sandbox still needs something. */
  close(): void {
    if (this.#sandboxes > 0) return;
    this.#claims.close();
    this.#cleaner?.close();
    this.#cleaner = null;
  }
}

function createPlaceholder({ path: file, text }: Placeholder): void {
  try {
    if (text === null) mkdirSync(file, 0o755);
    else writeNewFile(file, text);
  } catch (error) {
    if (getErrorCode(error) !== 'EEXIST') throw error;
  }
}

function writeNewFile(file: string, text: string): void {
  const descriptor = openSync(file, 'wx', 0o644);
  try {
    writeSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

/** Removes it if it is still as it was created; else somebody changed it, and it is theirs now. */
function removePlaceholder({ path: file, text }: Placeholder): boolean {
  try {
    if (text === null) rmdirSync(file);
    else if (readFileSync(file, 'utf8') === text) unlinkSync(file);
    return true;
  } catch {
    return false;
  }
}
