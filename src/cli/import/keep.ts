import type { DiscoveredUnit } from '../../dialects/discovery.ts';
import type { Host } from '../../host/create-host.ts';
import { trustUnit } from '../../host/hook-set.ts';
import { type Binding, bindUnit } from '../../trust/bytes.ts';
import { compareFileMaps, ENTRY_TEXT_KEY, type FileMap } from '../../trust/file-map.ts';
import {
  entryOf,
  isSameEntry,
  type WrittenEntry,
} from '../../dialects/claude-config/written-entry.ts';
import type { Keeping } from '../state/keep-trust.ts';
import type { ImportReport } from '../../dialects/claude-config/import/report.ts';

interface Trusted {
  readonly entry: WrittenEntry;
  readonly files: FileMap;
}

/** A copy of a hook that the person trusts is trusted as well, if it runs the very same files. */
export function keepingTrustOf(host: Host, { to }: ImportReport): Keeping {
  const trusted = host.hooks().flatMap(({ hook, trustedBy }): Trusted[] => {
    const entry = trustedBy === 'record' ? entryOf(hook) : null;
    return entry === null ? [] : [{ entry, files: bindUnit(trustUnit(hook)).files }];
  });
  const alsoTrust = (hook: DiscoveredUnit, { files }: Binding): boolean => {
    const entry = hook.path === to ? entryOf(hook) : null;
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
