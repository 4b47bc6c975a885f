import { isRecord, parseJson, formatCanonicalJson } from '../../../base/json.ts';
import { type Source, SOURCE_KINDS } from '../entry.ts';
import { isDeepStrictEqual } from 'node:util';
import { type ClaudeEvent, isClaudeEvent } from '../events.ts';
import type { DiscoveredUnit } from '../../discovery.ts';

/**
 * Formats an entry with its event and matcher as the text that trust covers. It does not depend on
 * the layout of the file or on other entries.
 */
export function formatEntryText(
  entry: {
    readonly event: string;
    readonly matcher: string | undefined;
    readonly agentType: string | undefined;
    readonly handler: unknown;
  },
  source: Pick<Source, 'kind' | 'isCline'>,
): string {
  const kind = source.isCline ? `${source.kind} .cline` : source.kind;
  return formatCanonicalJson({ source: kind, ...entry });
}

/** Adds the variables that the workspace's settings set to the text that trust covers. */
export function addEnvironmentToText(
  text: string,
  environment: Readonly<Record<string, string>> | undefined,
): string {
  const parsed = environment === undefined ? null : parseJson(text);
  if (parsed === null || !parsed.ok || !isRecord(parsed.value)) return text;
  return formatCanonicalJson({ ...parsed.value, environment });
}

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
