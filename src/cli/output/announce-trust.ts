import { getErrorMessage } from '../../base/errors.ts';
import type { Trust } from '../../host/open-trust.ts';
import { redactText } from '../../host/redact-object.ts';
import { markAnnounced, type TrustedEntry } from '../../trust/trust-record.ts';
import { formatCount, toOneLine, toPrintable } from './print.ts';

/** Tells the user once what was trusted without a terminal. */
export async function announceTrust(
  { files, guardedRoots }: Trust,
  entries: readonly TrustedEntry[],
  printNote: (text: string) => void,
): Promise<void> {
  if (files === null) return;
  for (const group of groupByConfirmation(entries)) printNote(formatAnnouncement(group));
  try {
    await markAnnounced(files, entries, guardedRoots);
  } catch (error) {
    printNote(`note: this will be repeated: ${toPrintable(getErrorMessage(error))}`);
  }
}

/** What one command trusted in one workspace. */
function groupByConfirmation(
  entries: readonly TrustedEntry[],
): readonly (readonly [TrustedEntry, ...TrustedEntry[]])[] {
  const groups = new Map<string, [TrustedEntry, ...TrustedEntry[]]>();
  for (const entry of entries) {
    const key = JSON.stringify([entry.root, entry.trustedAt, entry.confirmed?.parent]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [entry]);
    else group.push(entry);
  }
  return [...groups.values()];
}

const MAX_NAMES = 5;

function formatAnnouncement(entries: readonly [TrustedEntry, ...TrustedEntry[]]): string {
  const [{ root, trustedAt, confirmed }] = entries;
  const names = entries.slice(0, MAX_NAMES).map(({ id }) => toOneLine(id));
  const rest = entries.length - names.length;
  const ids = rest === 0 ? names.join(', ') : `${names.join(', ')} and ${rest} more`;
  const parent = redactText(confirmed?.parent ?? '');
  const by = parent === '' ? '' : ` by ${toOneLine(parent)}`;
  return `note: ${formatCount(entries.length, 'hook')} in ${toOneLine(root)} trusted without a terminal at ${trustedAt}${by}: ${ids}. If that was not you: \`hookline untrust\``;
}
