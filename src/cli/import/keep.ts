import type { FoundHook } from '../../dialects/dialect.ts';
import type { Host } from '../../host/create-host.ts';
import { trustUnit } from '../../host/hook-set.ts';
import { type Binding, bindUnit } from '../../trust/bind-unit.ts';
import { compareFileMaps, ENTRY_TEXT_KEY, type FileMap } from '../../trust/file-map.ts';
import { parseHookEntry, isSameEntry, type HookEntry } from '../config-files/hook-entry.ts';
import type { PreserveTrustOptions } from '../config-files/preserve-trust.ts';
import type { ImportReport } from './report.ts';

interface Trusted {
  readonly entry: HookEntry;
  readonly files: FileMap;
}

/** A copy of a hook that the person trusts is trusted as well, if it runs the very same files. */
export function keepingTrustOf(host: Host, { to }: ImportReport): PreserveTrustOptions {
  const trusted = host.hooks().flatMap(({ hook, trustedBy }): Trusted[] => {
    const entry = trustedBy === 'record' ? parseHookEntry(hook) : null;
    return entry === null ? [] : [{ entry, files: bindUnit(trustUnit(hook)).files }];
  });
  const alsoTrust = (hook: FoundHook, { files }: Binding): boolean => {
    const entry = hook.path === to ? parseHookEntry(hook) : null;
    return entry !== null && trusted.some((each) => isCopy(each, { entry, files }));
  };
  return { alsoTrust };
}

function isCopy(one: Trusted, other: Trusted): boolean {
  const differences = compareFileMaps(one.files, other.files);
  return (
    isSameEntry(one.entry, other.entry) && differences.every(({ path }) => path === ENTRY_TEXT_KEY)
  );
}
