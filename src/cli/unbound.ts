import { readFileSync } from 'node:fs';
import type { TrustUnit } from '../trust/collect.ts';
import { unboundMentions } from '../trust/unbound.ts';

/** What a hook's script names and trust does not cover, in words. */
export function describeUnbound(unit: TrustUnit): readonly string[] {
  return unboundMentions(unit, readScript(unit.entry)).map(({ name }) => name);
}

function readScript(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // A hook that cannot be read is reported as such; there is nothing to look for in it.
    return '';
  }
}
