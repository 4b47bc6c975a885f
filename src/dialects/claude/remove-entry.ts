import type { RemovedEntry } from '../dialect.ts';
import type { DiscoveredUnit } from '../discovery.ts';
import { type EntryAddress, removeEntry } from './config/edit.ts';
import { formatEntryText } from './config/entry-text.ts';
import { isClaudeEvent } from './events.ts';
import { readWrittenEntry, formatEntry } from './written-entry.ts';

/** Removes an entry from its settings file; comments and other entries stay. */
export function removeClaudeEntry(unit: DiscoveredUnit, text: string): RemovedEntry | null {
  const { line } = unit;
  const address = line === null ? null : findAddress(unit, line);
  if (line === null || address === null) return null;
  const entry = readWrittenEntry(unit);
  return {
    text: removeEntry(text, address),
    entry: entry === null ? (text.split('\n')[line - 1] ?? '') : formatEntry(entry),
  };
}

/** An invalid entry is identified by its line only. */
function findAddress(unit: DiscoveredUnit, line: number): EntryAddress | null {
  const entry = readWrittenEntry(unit);
  if (entry === null) {
    return isClaudeEvent(unit.eventName) ? { event: unit.eventName, line } : null;
  }
  const { event, matcher, handler, source } = entry;
  const text = formatEntryText({ event, matcher, agentType: undefined, handler }, source);
  return { event, line, source, text };
}
