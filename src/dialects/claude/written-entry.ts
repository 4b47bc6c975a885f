import { isDeepStrictEqual } from 'node:util';
import { isRecord, parseJson } from '../../base/json.ts';
import { type Source, SOURCE_KINDS } from './entry.ts';
import { type ClaudeEvent, isClaudeEvent } from './events.ts';
import type { DiscoveredUnit } from '../discovery.ts';

/** An entry of a configuration file. */
export interface WrittenEntry {
  readonly event: ClaudeEvent;
  readonly matcher: string | undefined;
  readonly handler: Readonly<Record<string, unknown>>;
  readonly source: Pick<Source, 'kind' | 'isCline'>;
}

/** Reads the entry of a hook; null when the hook is a file or its entry is invalid. */
export function readWrittenEntry({ line, binds }: DiscoveredUnit): WrittenEntry | null {
  return line === null ? null : parseEntryText(binds.text ?? '');
}

/** Parses the entry text that trust covers. */
export function parseEntryText(text: string): WrittenEntry | null {
  const parsed = parseJson(text);
  if (!parsed.ok || !isRecord(parsed.value)) return null;
  const { event, matcher, handler } = parsed.value;
  const source = parseSource(parsed.value['source']);
  if (typeof event !== 'string' || !isClaudeEvent(event)) return null;
  if (!isRecord(handler) || source === null) return null;
  return { event, matcher: typeof matcher === 'string' ? matcher : undefined, handler, source };
}

/** `project`, or `project .cline`. */
function parseSource(written: unknown): WrittenEntry['source'] | null {
  if (typeof written !== 'string') return null;
  const kind = SOURCE_KINDS.find((each) => each === written.split(' ')[0]);
  return kind === undefined ? null : { kind, isCline: written.endsWith(' .cline') };
}

export function isSameEntry(one: WrittenEntry, other: WrittenEntry): boolean {
  return (
    one.event === other.event &&
    one.matcher === other.matcher &&
    isDeepStrictEqual(one.handler, other.handler)
  );
}

/** Formats the entry as the only one of a file. */
export function formatEntry({ event, matcher, handler }: Omit<WrittenEntry, 'source'>): string {
  const { type, ...rest } = handler;
  const hooks = [{ type, ...rest }];
  const group = matcher === undefined ? { hooks } : { matcher, hooks };
  return JSON.stringify({ [event]: [group] }, null, 2);
}
