import type { FoundHook } from '../../dialects/dialect.ts';
import { trustUnit } from '../../host/hook-set.ts';
import { readBytes } from '../../trust/bytes.ts';
import { MAX_BYTES, type TrustUnit } from '../../trust/collect.ts';
import { type UnboundMention, unboundMentions } from '../../trust/unbound.ts';

/** What a hook, or a script that it runs, names and trust does not cover, in words. */
export function describeUnbound(hook: FoundHook): readonly string[] {
  // What settings allow names commands and files of which none is run for it.
  if (hook.permissions !== undefined) return [];
  const unit = trustUnit(hook);
  const { text, ...rest } = unit;
  const own =
    text === undefined
      ? unboundMentions(unit, readScript(unit.entry))
      : [...unboundMentions(unit, text), ...mentionsInScripts(rest)];
  return [...new Set(own.map(({ name }) => name))];
}

/** The scripts that an entry of a configuration file runs. */
function mentionsInScripts(unit: TrustUnit): readonly UnboundMention[] {
  return unit.files.flatMap((file) => unboundMentions({ ...unit, entry: file }, readScript(file)));
}

function readScript(file: string): string {
  try {
    return readBytes(file, MAX_BYTES)?.toString('utf8') ?? '';
  } catch {
    // A hook that cannot be read is reported as such; there is nothing to look for in it.
    return '';
  }
}
