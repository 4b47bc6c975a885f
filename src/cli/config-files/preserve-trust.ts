import { systemClock } from '../../base/clock.ts';
import { isHooklineError, getErrorMessage } from '../../base/errors.ts';
import { findRealPath } from '../../base/paths.ts';
import type { DiscoveredUnit } from '../../dialects/discovery.ts';
import type { Host } from '../../host/create-host.ts';
import { type ListedUnit, toTrustUnit } from '../../host/hook-set.ts';
import { type Binding, bindUnit } from '../../trust/bind-unit.ts';
import { toFileKey } from '../../trust/collect-unit.ts';
import { compareFileMaps } from '../../trust/file-map.ts';
import { type TrustedEntry, grantTrust } from '../../trust/trust-record.ts';
import type { CommandContext } from '../context.ts';
import { createConfirmation, explainMissingTerminal } from '../trust-confirmation.ts';

/** What happened to trust when Hookline changed a hook directory. */
export interface PreservedTrust {
  /** Hooks whose new content was trusted. */
  readonly trusted: readonly DiscoveredUnit[];
  /** Hooks that lost their trust. */
  readonly lost: readonly DiscoveredUnit[];
  /** Why the trust record was not written, or null. */
  readonly problem: string | null;
}

/**
 * Changes hook files and preserves trust. A hook's trust covers its directory, so a change would revoke
 * that of its neighbours: those that differ by nothing else are trusted again, and so are hooks that
 * `alsoTrust` selects. `written` are files that the change writes besides hooks. Rethrows only errors of
 * `change`.
 */
export async function preserveTrust(
  context: Pick<CommandContext, 'print' | 'confirm'>,
  host: Host,
  change: () => void | Promise<void>,
  written: readonly string[] = [],
  alsoTrust: (hook: DiscoveredUnit, binding: Binding) => boolean = () => false,
): Promise<PreservedTrust> {
  const before = listWorkspaceHooks(host).map((status) => snapshotHook(status, host));
  await change();
  host.rescan();
  const after = listWorkspaceHooks(host).map(({ hook }) => hook);
  const newlyTrusted = after
    .flatMap(bindHook)
    .filter(({ hook, binding }) => alsoTrust(hook, binding));
  const gone = before.filter(({ hook }) => !after.some((each) => isSameHook(each, hook)));
  const touched = [
    ...written.flatMap((file) => [file, findRealPath(file) ?? file]),
    ...newlyTrusted.flatMap(({ hook, binding }) => [hook.path, binding.entry]),
    ...gone.flatMap(({ hook, realPath }) => [hook.path, realPath]),
  ];
  const neighbours = after
    .filter((hook) => !newlyTrusted.some((each) => each.hook === hook))
    .flatMap((hook) => {
      const snapshot = before.find((each) => isSameHook(each.hook, hook));
      const { entry = null, hook: old } = snapshot ?? {};
      return entry === null || old === undefined ? [] : findLostTrust(hook, old, entry, touched);
    });
  return recordTrust(context, host, [...newlyTrusted, ...neighbours]);
}

/** Notes for the user; empty when nothing was lost. */
export function formatTrustNotes({ lost, problem }: PreservedTrust): readonly string[] {
  if (lost.length === 0) return [];
  const ids = lost.map(({ id }) => id).join(', ');
  return [`not trusted: ${ids}: ${problem ?? 'other files changed as well'}`];
}

interface TrustCandidate {
  readonly hook: DiscoveredUnit;
  /** What to trust, or null when it must not be trusted. */
  readonly binding: Binding | null;
}

function listWorkspaceHooks(host: Host): readonly ListedUnit[] {
  return host.hooks().filter(({ hook }) => hook.place === 'workspace');
}

/** `entry` is the trusted one, or null when the hook was not trusted. */
function snapshotHook({ hook, trustedBy }: ListedUnit, { trust }: Host) {
  const entries = isHooklineError(trust.record) ? [] : trust.record.entries;
  const entry = entries.find(({ root, id }) => root === hook.root && id === hook.ownId) ?? null;
  return {
    hook,
    realPath: findRealPath(hook.path) ?? hook.path,
    entry: trustedBy === 'record' ? entry : null,
  };
}

/** A file holds many entries, so an entry is identified by its text, wherever it moved. */
function isSameHook(one: DiscoveredUnit, other: DiscoveredUnit): boolean {
  if (one.path !== other.path) return false;
  return one.line === null || one.binds.text === other.binds.text;
}

function bindHook(hook: DiscoveredUnit): { hook: DiscoveredUnit; binding: Binding }[] {
  try {
    return [{ hook, binding: bindUnit(toTrustUnit(hook)) }];
  } catch (error) {
    // A hook that cannot be bound is not trusted; `hooks list` says why.
    if (isHooklineError(error)) return [];
    throw error;
  }
}

/** The candidate for a hook that was trusted and no longer is; empty for all others. */
function findLostTrust(
  hook: DiscoveredUnit,
  before: DiscoveredUnit,
  entry: TrustedEntry,
  touched: readonly string[],
): TrustCandidate[] {
  const [bound] = bindHook(hook);
  if (bound === undefined) return [{ hook, binding: null }];
  const { binding } = bound;
  const allowed = touched.map((file) => toFileKey(binding.root, file));
  // Compared with the trusted content, so that unrelated changes are not trusted as well.
  const differences = compareFileMaps(entry.files, binding.files);
  const isOurs = differences.every(({ path }) => allowed.includes(path));
  if (binding.entry !== entry.entry || !isOurs) return [{ hook, binding: null }];
  // Removing an entry renumbers later ones of the same name, and trust is recorded by name.
  const isRenamed = before.ownId !== hook.ownId;
  return differences.length === 0 && !isRenamed ? [] : [{ hook, binding }];
}

async function recordTrust(
  context: Pick<CommandContext, 'print' | 'confirm'>,
  host: Host,
  candidates: readonly TrustCandidate[],
): Promise<PreservedTrust> {
  const boundCandidates = candidates.filter(({ binding }) => binding !== null);
  const refused = candidates.filter(({ binding }) => binding === null);
  const problem = await grantCandidates(context, host, boundCandidates);
  const trusted = problem === null ? boundCandidates : [];
  const untrusted = problem === null ? refused : candidates;
  return { trusted: trusted.map(getHook), lost: untrusted.map(getHook), problem };
}

function getHook({ hook }: TrustCandidate): DiscoveredUnit {
  return hook;
}

async function grantCandidates(
  context: Pick<CommandContext, 'print' | 'confirm'>,
  host: Host,
  boundCandidates: readonly TrustCandidate[],
): Promise<string | null> {
  const bindings = boundCandidates.flatMap(({ binding }) => binding ?? []);
  const { files, record: trustRecord, guardedRoots } = host.trust;
  if (bindings.length === 0) return null;
  if (isHooklineError(trustRecord)) return trustRecord.message;
  if (files === null) return 'no home directory for the trust record';
  const missing = explainMissingTerminal(host, context);
  if (missing !== null) return missing;
  const confirmed = createConfirmation(context, 'command');
  try {
    await grantTrust(files, bindings, { now: systemClock.now(), guardedRoots, confirmed });
    return null;
  } catch (error) {
    return getErrorMessage(error);
  }
}
