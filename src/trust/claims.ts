import { randomUUID } from 'node:crypto';
import {
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../base/errors.ts';
import { createPrivateDirectory, isNotFoundError } from '../base/files.ts';
import { isRecord, parseJson } from '../base/json.ts';
import {
  type FileOwner,
  formatOwner,
  identifyOwner,
  isOwnerAlive,
  parseOwner,
  refreshFile,
} from '../process/owned-files.ts';
import {
  listAncestors,
  type ProcessIdentity,
  type ProcessInfo,
  readProcess,
} from '../process/process-table.ts';
import { resolveRealLocation } from './record-location.ts';

/** A file that says: this process runs foreign code with this state directory. */
interface Claim {
  /** Why the file could not be written; null when it was. */
  readonly problem: string | null;
  release(): void;
}

/** The claim of whoever may run foreign code; written when it is about to. */
export interface LazyClaim {
  /** Writes the claim, once; returns why that failed, the first time. */
  hold(): string | null;
  release(): void;
}

export function createLazyClaim(stateDirectory: string | null): LazyClaim {
  let claim: Claim | null = null;
  return {
    hold() {
      if (stateDirectory === null || claim !== null) return null;
      claim = holdClaim(stateDirectory);
      return claim.problem;
    },
    release() {
      claim?.release();
      claim = null;
    },
  };
}

const processClaims = new Map<string, Claim>();

/** Claims the state directory until the process ends, for what is never closed. */
export function acquireProcessClaim(stateDirectory: string | null): void {
  if (stateDirectory === null || processClaims.has(stateDirectory)) return;
  processClaims.set(stateDirectory, holdClaim(stateDirectory));
}

/**
 * Claims the state directory for this process, until it is released or the process ends. The descriptor stays open, so
 * that a claim is found where its file was deleted.
 */
function holdClaim(stateDirectory: string): Claim {
  const directory = getClaimsDirectory(stateDirectory);
  try {
    createPrivateDirectory(directory);
    removeStaleClaims(directory);
    const file = path.join(directory, formatClaimName());
    const descriptor = openSync(file, 'wx', 0o600);
    writeSync(descriptor, JSON.stringify(identifyDirectory(stateDirectory)));
    return { problem: null, release: createRelease(file, descriptor) };
  } catch (error) {
    const problem = `${directory} cannot be written, so trust commands inside hooks are recognized by their environment only: ${getErrorMessage(error)}`;
    return { problem, release: () => undefined };
  }
}

function getClaimsDirectory(stateDirectory: string): string {
  return path.join(stateDirectory, 'claims');
}

function createRelease(file: string, descriptor: number): () => void {
  let isHeld = true;
  const stopRenewing = refreshFile(file);
  return () => {
    if (!isHeld) return;
    isHeld = false;
    stopRenewing();
    rmSync(file, { force: true });
    closeSync(descriptor);
  };
}

const CLAIM_NAME = /^claim-(\d+-\d*(?:-n\d+)?)-[0-9a-f-]+$/u;

/** Two copies of this module in one process have a file each. */
function formatClaimName(): string {
  return `claim-${formatOwner(identifyOwner())}-${randomUUID()}`;
}

function parseClaimName(name: string): FileOwner | null {
  const [, owner = ''] = CLAIM_NAME.exec(name) ?? [];
  return parseOwner(owner);
}

function listClaims(directory: string): readonly (FileOwner & { readonly file: string })[] {
  try {
    return readdirSync(directory).flatMap((name) => {
      const owner = parseClaimName(name);
      return owner === null ? [] : [{ ...owner, file: path.join(directory, name) }];
    });
  } catch (error) {
    if (isNotFoundError(error)) return [];
    throw error;
  }
}

function removeStaleClaims(directory: string): void {
  for (const claim of listClaims(directory)) {
    if (!isOwnerAlive(claim, claim.file)) rmSync(claim.file, { force: true });
  }
}

/** A directory, recognized also when it was renamed, or deleted and created again. */
interface DirectoryIdentity {
  readonly path: string;
  /** Device and inode; null when it does not exist. */
  readonly inode: string | null;
}

function identifyDirectory(directory: string): DirectoryIdentity {
  return { path: resolveRealLocation(directory), inode: readInode(directory) };
}

function readInode(directory: string): string | null {
  try {
    const { dev, ino } = statSync(directory);
    return `${dev}:${ino}`;
  } catch {
    // Missing, or not accessible: then its path identifies it.
    return null;
  }
}

function isSameDirectory(one: DirectoryIdentity, other: DirectoryIdentity): boolean {
  return one.path === other.path || (one.inode !== null && one.inode === other.inode);
}

/**
 * Why this process belongs to one that runs foreign code with the same state directory; null when it does not. Looks at
 * the ancestors, and at those of the leader of its terminal session, which a process keeps when its parent has ended.
 */
export function findClaimAbove(stateDirectory: string): string | null {
  const self = readProcess('self');
  // Without a process table (Windows) only the environment tells.
  if (self === null) return null;
  const claims = tryListClaims(stateDirectory);
  if (typeof claims === 'string') return claims;
  const state = identifyDirectory(stateDirectory);
  const { above, isComplete } = listProcessesAbove(self);
  for (const each of above) {
    const isClaimed = claims.some((claim) => isSameProcess(claim, each));
    if (isClaimed || holdsClaim(each, state)) return `process ${each.pid} runs it`;
  }
  if (isComplete) return null;
  const other = claims.find((claim) => claim.pid !== self.pid && isOwnerAlive(claim, claim.file));
  return other === undefined
    ? null
    : `process ${other.pid} runs hooks, and whether it started this command cannot be told`;
}

/** The claims, or why whether there are some cannot be told. */
function tryListClaims(stateDirectory: string): ReturnType<typeof listClaims> | string {
  try {
    return listClaims(getClaimsDirectory(stateDirectory));
  } catch (error) {
    return `whether it is inside one cannot be told: ${getErrorMessage(error)}`;
  }
}

function isSameProcess(one: ProcessIdentity, other: ProcessIdentity): boolean {
  return one.pid === other.pid && (one.startedAt === '' || one.startedAt === other.startedAt);
}

function listProcessesAbove(self: ProcessInfo): {
  readonly above: readonly ProcessInfo[];
  readonly isComplete: boolean;
} {
  const own = listAncestors(self);
  const isKnown = [self, ...own.ancestors].some(({ pid }) => pid === self.session);
  if (isKnown) return { above: own.ancestors, isComplete: own.isComplete };
  const leader = self.session > 0 ? readProcess(self.session) : null;
  if (leader === null) return { above: own.ancestors, isComplete: false };
  const further = listAncestors(leader);
  return {
    above: [...own.ancestors, leader, ...further.ancestors],
    isComplete: own.isComplete && further.isComplete,
  };
}

/** Whether a process has the file of such a claim open, deleted or moved as it may be; Linux only. */
function holdsClaim(owner: ProcessIdentity, state: DirectoryIdentity): boolean {
  const directory = `/proc/${owner.pid}/fd`;
  return listDescriptors(directory).some((name) => {
    const descriptor = path.join(directory, name);
    const claimed = readOpenClaim(descriptor, owner);
    return claimed !== null && isSameDirectory(claimed, state);
  });
}

function listDescriptors(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    // Of another user, ended, or not Linux.
    return [];
  }
}

const DELETED = / \(deleted\)$/u;

function readOpenClaim(descriptor: string, owner: ProcessIdentity): DirectoryIdentity | null {
  try {
    if (!lstatSync(descriptor).isSymbolicLink()) return null;
    const target = path.basename(readlinkSync(descriptor).replace(DELETED, ''));
    const named = parseClaimName(target);
    if (named === null || !isSameProcess(named, owner)) return null;
    const parsed = parseJson(readFileSync(descriptor, 'utf8'));
    return parsed.ok && isDirectoryIdentity(parsed.value) ? parsed.value : null;
  } catch {
    // A descriptor that was closed meanwhile.
    return null;
  }
}

function isDirectoryIdentity(value: unknown): value is DirectoryIdentity {
  if (!isRecord(value) || typeof value['path'] !== 'string') return false;
  return value['inode'] === null || typeof value['inode'] === 'string';
}
