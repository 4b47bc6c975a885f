import { systemClock } from '../../base/clock.ts';
import { isHooklineError, getErrorMessage } from '../../base/errors.ts';
import { findRealPath } from '../../base/paths.ts';
import type { FoundHook } from '../../dialects/dialect.ts';
import type { Host } from '../../host/create-host.ts';
import { type HookStatus, SESSION_MARKER, trustUnit } from '../../host/hook-set.ts';
import { type Binding, bindUnit } from '../../trust/bind-unit.ts';
import { toFileKey } from '../../trust/collect-unit.ts';
import { compareFileMaps } from '../../trust/file-map.ts';
import { type TrustedEntry, grantTrust } from '../../trust/trust-record.ts';

/** What became of trust when Hookline itself changed a hook directory. */
export interface PreservedTrust {
  /** Hooks whose new bytes are in the trust record. */
  readonly trusted: readonly FoundHook[];
  /** Hooks that were trusted, or were to be, and are not. */
  readonly lost: readonly FoundHook[];
  /** Why the trust record was not written, or null. */
  readonly problem: string | null;
}

/** What a change of hook files is known to do. */
export interface PreserveTrustOptions {
  /** Hooks that are to be trusted from then on. */
  readonly alsoTrust?: (hook: FoundHook, binding: Binding) => boolean;
  /** Files that are written, beyond those that are hooks themselves. */
  readonly written?: readonly string[];
}

/**
 * Changes hook files. A hook's trust covers its whole directory, so the change takes it from the
 * neighbours: those that had it and differ by nothing else get it again, and so do hooks that
 * `alsoTrust` names. Never throws for what becomes of trust, only what `change` throws.
 */
export async function preserveTrust(
  host: Host,
  change: () => void | Promise<void>,
  { alsoTrust = () => false, written = [] }: PreserveTrustOptions = {},
): Promise<PreservedTrust> {
  const before = listWorkspaceHooks(host).map((status) => snapshotHook(status, host));
  await change();
  host.rescan();
  const after = listWorkspaceHooks(host).map(({ hook }) => hook);
  const named = after.flatMap(bindHook).filter(({ hook, binding }) => alsoTrust(hook, binding));
  const gone = before.filter(({ hook }) => !after.some((each) => isSameHook(each, hook)));
  const touched = [
    ...written.flatMap((file) => [file, findRealPath(file) ?? file]),
    ...named.flatMap(({ hook, binding }) => [hook.path, binding.entry]),
    ...gone.flatMap(({ hook, realPath }) => [hook.path, realPath]),
  ];
  const neighbours = after
    .filter((hook) => !named.some((each) => each.hook === hook))
    .flatMap((hook) => findLostTrust(hook, { before: findSnapshot(hook, before), touched }));
  return recordTrust(host, [...named, ...neighbours]);
}

/** What a person should know about it, as sentences; none when all went well. */
export function formatTrustNotes({ lost, problem }: PreservedTrust): readonly string[] {
  if (lost.length === 0) return [];
  const ids = lost.map(({ id }) => id).join(', ');
  return [`not trusted: ${ids}: ${problem ?? 'more than this change is new there'}`];
}

interface HookSnapshot {
  readonly hook: FoundHook;
  readonly realPath: string;
  /** What the record vouched for, or null when it did not. */
  readonly entry: TrustedEntry | null;
}

interface TrustCandidate {
  readonly hook: FoundHook;
  /** What is to be trusted, or null when it must not be. */
  readonly binding: Binding | null;
}

function listWorkspaceHooks(host: Host): readonly HookStatus[] {
  return host.hooks().filter(({ hook }) => hook.place === 'workspace');
}

function snapshotHook({ hook, trustedBy }: HookStatus, { trust }: Host): HookSnapshot {
  const entries = isHooklineError(trust.record) ? [] : trust.record.entries;
  const entry = entries.find(({ root, id }) => root === hook.root && id === hook.ownId) ?? null;
  return {
    hook,
    realPath: findRealPath(hook.path) ?? hook.path,
    entry: trustedBy === 'record' ? entry : null,
  };
}

function findSnapshot(hook: FoundHook, before: readonly HookSnapshot[]): HookSnapshot | null {
  return before.find((each) => isSameHook(each.hook, hook)) ?? null;
}

/** Many entries stand in one file; one of them is known by what it says, wherever it has moved to. */
function isSameHook(one: FoundHook, other: FoundHook): boolean {
  if (one.path !== other.path) return false;
  return one.line === null || one.binds.text === other.binds.text;
}

function bindHook(hook: FoundHook): { hook: FoundHook; binding: Binding }[] {
  try {
    return [{ hook, binding: bindUnit(trustUnit(hook)) }];
  } catch (error) {
    // What cannot be bound is not trusted, and `hooks list` says why.
    if (isHooklineError(error)) return [];
    throw error;
  }
}

/** A hook that was trusted and no longer is; empty for all others. */
function findLostTrust(
  hook: FoundHook,
  { before, touched }: { before: HookSnapshot | null; touched: readonly string[] },
): TrustCandidate[] {
  const entry = before?.entry ?? null;
  if (before === null || entry === null) return [];
  const [bound] = bindHook(hook);
  if (bound === undefined) return [{ hook, binding: null }];
  const { binding } = bound;
  const allowed = touched.map((file) => toFileKey(binding.root, file));
  // Compared with what the person trusted, so that a change made in between is not trusted as well.
  const differences = compareFileMaps(entry.files, binding.files);
  const isOurs = differences.every(({ path }) => allowed.includes(path));
  if (binding.entry !== entry.entry || !isOurs) return [{ hook, binding: null }];
  // Without the entry above it, the second of one name is the first, and trust remembers names.
  const isRenamed = before.hook.ownId !== hook.ownId;
  return differences.length === 0 && !isRenamed ? [] : [{ hook, binding }];
}

async function recordTrust(
  host: Host,
  standings: readonly TrustCandidate[],
): Promise<PreservedTrust> {
  const wanted = standings.filter(({ binding }) => binding !== null);
  const refused = standings.filter(({ binding }) => binding === null);
  const problem = await grantCandidates(host, wanted);
  const trusted = problem === null ? wanted : [];
  const lost = problem === null ? refused : standings;
  return { trusted: trusted.map(getHook), lost: lost.map(getHook), problem };
}

function getHook({ hook }: TrustCandidate): FoundHook {
  return hook;
}

async function grantCandidates(
  host: Host,
  wanted: readonly TrustCandidate[],
): Promise<string | null> {
  const bindings = wanted.flatMap(({ binding }) => binding ?? []);
  const { recordFile, record: trustRecord } = host.trust;
  if (bindings.length === 0) return null;
  if (host.surroundings.env[SESSION_MARKER] !== undefined) {
    return 'this ran inside an agent session, where nothing is trusted';
  }
  if (isHooklineError(trustRecord)) return trustRecord.message;
  if (recordFile === null) return 'there is no place for a trust record';
  try {
    await grantTrust(recordFile, bindings, {
      now: systemClock.now(),
      guardedRoots: host.trust.guardedRoots,
    });
    return null;
  } catch (error) {
    return getErrorMessage(error);
  }
}
