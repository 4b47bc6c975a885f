import { spawn, type ChildProcess } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { getErrorCode } from '../../base/errors.ts';
import { createPrivateDirectory, replacePrivateFileSync } from '../../base/files.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import { quoteShellWord } from '../../base/text.ts';
import { readProcessRow } from '../end-tree.ts';
import type { Placeholder } from './plan-mounts.ts';

/**
 * Creates what must exist so that something can be mounted over it, and removes it when the last sandbox
 * that needs it has ended. The kernel takes a mount away when its place is removed, so that every
 * process with a sandbox claims its placeholders in a directory that all share, and the last one removes
 * them. A small shell removes them when this process is killed, and the next sandbox what is left after
 * that.
 */
export class Placeholders {
  readonly #directory: string;
  readonly #claimFile: string;
  readonly #uses = new Map<string, { readonly placeholder: Placeholder; count: number }>();
  #cleaner: Cleaner | null = null;
  #hasRecovered = false;

  /** Claims are files in this directory, which no sandbox may reach. */
  constructor(directory: string) {
    this.#directory = directory;
    this.#claimFile = path.join(directory, `${process.pid}-${readStartTime(process.pid)}.json`);
  }

  /** Throws when one cannot be created. Returns the function that releases them, once. */
  acquire(placeholders: readonly Placeholder[]): () => void {
    if (placeholders.length === 0) return () => undefined;
    this.recover();
    const isNew = placeholders.filter((each) => this.#addUse(each)).length > 0;
    try {
      if (isNew) this.#writeClaim();
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
    for (const claim of this.#listOtherClaims()) {
      if (claim.isAlive) continue;
      rmSync(claim.file, { force: true });
      this.#removeUnclaimed(claim.placeholders);
    }
  }

  /** The paths that exist only because a sandbox, of this process or another, needs them. */
  listClaimed(): ReadonlySet<string> {
    const others = this.#listOtherClaims().flatMap((claim) => claim.placeholders);
    return new Set([...this.#uses.keys(), ...others.map((each) => each.path)]);
  }

  #addUse(placeholder: Placeholder): boolean {
    const use = this.#uses.get(placeholder.path);
    if (use !== undefined) use.count += 1;
    else this.#uses.set(placeholder.path, { placeholder, count: 1 });
    return use === undefined;
  }

  #release(placeholders: readonly Placeholder[]): void {
    const unused = placeholders.filter(({ path: file }) => {
      const use = this.#uses.get(file);
      if (use === undefined || (use.count -= 1) > 0) return false;
      return this.#uses.delete(file);
    });
    if (unused.length === 0) return;
    this.#writeClaim();
    this.#removeUnclaimed(unused);
  }

  #removeUnclaimed(placeholders: readonly Placeholder[]): void {
    const others = this.#listOtherClaims().filter(({ isAlive }) => isAlive);
    const claimed = new Set(others.flatMap((claim) => claim.placeholders.map((each) => each.path)));
    for (const each of placeholders) {
      if (!claimed.has(each.path) && !this.#uses.has(each.path)) removePlaceholder(each);
    }
  }

  #writeClaim(): void {
    const placeholders = [...this.#uses.values()].map((use) => use.placeholder);
    if (placeholders.length === 0) rmSync(this.#claimFile, { force: true });
    else {
      createPrivateDirectory(this.#directory);
      replacePrivateFileSync(this.#claimFile, JSON.stringify({ placeholders }));
    }
    this.#cleaner ??= new Cleaner(this.#directory, this.#claimFile);
    this.#cleaner.update(placeholders);
  }

  #listOtherClaims(): readonly Claim[] {
    return listNames(this.#directory).flatMap((name) => {
      const file = path.join(this.#directory, name);
      return file === this.#claimFile ? [] : (readClaim(file, name) ?? []);
    });
  }

  /** The sandboxes that a killed process leaves are ended before their placeholders are removed. */
  trackGroup(leader: number): () => void {
    this.#cleaner?.send(`start ${leader}`);
    return () => this.#cleaner?.send(`end ${leader}`);
  }
}

interface Claim {
  readonly file: string;
  readonly isAlive: boolean;
  readonly placeholders: readonly Placeholder[];
}

function readClaim(file: string, name: string): Claim | null {
  const [, pid, startedAt] = /^(\d+)-(\d*)\.json$/u.exec(name) ?? [];
  if (pid === undefined) return null;
  const parsed = parseJson(readText(file) ?? '');
  const written: unknown =
    parsed.ok && isRecord(parsed.value) ? parsed.value['placeholders'] : undefined;
  return {
    file,
    isAlive: readStartTime(Number(pid)) === startedAt,
    placeholders: (Array.isArray(written) ? written : []).flatMap(readPlaceholder),
  };
}

function readPlaceholder(written: unknown): Placeholder[] {
  if (!isRecord(written) || typeof written['path'] !== 'string') return [];
  const { path: file, text = null } = written;
  return text === null || typeof text === 'string' ? [{ path: file, text }] : [];
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
    else if (readText(file) === text) rmSync(file);
    return true;
  } catch {
    return false;
  }
}

/**
 * A shell that lives as long as this process, or a moment longer: when its input ends although nobody
 * told it to stop, it ends the sandboxes and removes what they needed.
 */
class Cleaner {
  readonly #process: ChildProcess;

  constructor(directory: string, claimFile: string) {
    this.#process = spawn('/bin/sh', ['-c', CLEANER, 'sh', directory, claimFile], {
      detached: true,
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    // Without it the claim file is what the next sandbox cleans up by.
    this.#process.on('error', ignoreError);
    this.#process.stdin?.on('error', ignoreError);
    this.#process.unref();
    unrefStream(this.#process.stdin);
  }

  update(placeholders: readonly Placeholder[]): void {
    // The shell reads lines: a path with a line end is left to the next sandbox.
    const removals = placeholders.map(formatRemoval).filter((text) => !text.includes('\n'));
    this.send(`remove ${removals.join('; ')}`);
  }

  send(line: string): void {
    this.#process.stdin?.write(`${line}\n`);
  }
}

// Another process that claims something removes it itself, because it claims all that it relies on.
const CLEANER = `
trap '' INT TERM HUP
groups=
removals=
while read -r word value; do
  case $word in
    start) groups="$groups $value" ;;
    end)
      left=
      for group in $groups; do [ "$group" = "$value" ] || left="$left $group"; done
      groups=$left
      ;;
    remove) removals=$value ;;
  esac
done
for group in $groups; do kill -9 "-$group" 2>/dev/null; done
rm -f -- "$2"
for claim in "$1"/*.json; do [ -e "$claim" ] && exit; done
eval "$removals"
`;

function formatRemoval({ path: file, text }: Placeholder): string {
  const name = quoteShellWord(file);
  if (text === null) return `rmdir -- ${name}`;
  return `read -r line < ${name} && [ "$line" = ${quoteShellWord(text.trimEnd())} ] && rm -f -- ${name}`;
}

// The claim file names the same placeholders, and the next sandbox removes them.
function ignoreError(): void {}

function unrefStream(stream: unknown): void {
  if (hasUnref(stream)) stream.unref();
}

function hasUnref(stream: unknown): stream is { unref(): void } {
  return typeof stream === 'object' && stream !== null && 'unref' in stream;
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

/** `ended` for a process that does not exist or only waits for its parent. */
function readStartTime(pid: number): string {
  const row = readProcessRow(String(pid));
  return row === null || row.isZombie ? 'ended' : row.startedAt;
}
