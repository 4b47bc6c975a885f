import type { BrokenEntry, Source } from '../entry.ts';
import { type ClaudeEvent, CLAUDE_EVENT_NAMES } from '../events.ts';
import { describePart, type Part, parseLocatedJson } from '../../../base/located-json.ts';
import { findMisspeltHooks, findMisspeltSettings } from './misspelt-keys.ts';
import {
  type IgnoredPart,
  NO_EVENTS,
  type ParsedEvents,
  parseEvents,
  listRepeatedKeys,
} from './parse-events.ts';

/**
 * The layout of a text: `settings` may have `hooks` among other keys, a `plugin` file must have it,
 * `inline` is the map of events itself.
 */
export type HooksShape = 'settings' | 'plugin' | 'inline';

/**
 * Reads one configuration text. Never throws. `settings` are the top-level fields, none when the text
 * cannot be parsed.
 */
export function readHooksText(
  text: string,
  source: Source,
  shape: HooksShape,
): ParsedEvents & { readonly settings: ReadonlyMap<string, Part> } {
  if (text.trim() === '') return NOTHING_WRITTEN;
  const root = parseLocatedJson(text);
  if ('why' in root) return createBrokenReading(source, root.line, root.why);
  if (root.fields === null) {
    const why = `expected an object with "hooks", found ${describePart(root)}`;
    return createBrokenReading(source, root.line, why);
  }
  const settings = root.fields;
  if (shape === 'inline') return { ...parseEvents(root, source), settings };
  return { ...parseWrapped(root, source, shape), settings };
}

const NO_SETTINGS: ReadonlyMap<string, Part> = new Map();

/** An empty file is not an error: it cannot have contained a guard. */
const NOTHING_WRITTEN = {
  ...NO_EVENTS,
  ignored: [{ line: 1, why: 'expected JSON, found an empty file', isHarmless: true as const }],
  settings: NO_SETTINGS,
};

function createBrokenReading(source: Source, line: number, why: string) {
  return { ...NO_EVENTS, broken: [{ source, line, event: null, why }], settings: NO_SETTINGS };
}

function parseWrapped(root: Part, source: Source, shape: HooksShape): ParsedEvents {
  const outside = findEventsOutside(root, source);
  const hooks = root.fields?.get('hooks');
  const isMissing = shape === 'plugin' && hooks === undefined && outside.length === 0;
  const missing: BrokenEntry[] = isMissing
    ? [{ source, line: root.line, event: null, why: '"hooks": expected an object, found nothing' }]
    : [];
  const parsed = hooks === undefined ? NO_EVENTS : parseEvents(hooks, source);
  return {
    ...parsed,
    broken: [...missing, ...outside, ...parsed.broken],
    ignored: [...listRepeatedKeys(root), ...findMisspeltKeys(root, shape), ...parsed.ignored],
  };
}

function findMisspeltKeys({ fields }: Part, shape: HooksShape): readonly IgnoredPart[] {
  if (fields === null) return [];
  return shape === 'settings' ? findMisspeltSettings(fields) : findMisspeltHooks(fields);
}

/** Reports events beside `hooks` as broken entries, because a guard there would never run. */
function findEventsOutside({ fields }: Part, source: Source): BrokenEntry[] {
  return CLAUDE_EVENT_NAMES.flatMap((event) => {
    const part = fields?.get(event);
    if (part === undefined) return [];
    return [{ source, line: part.line, event, why: explainOutsideEvent(event) }];
  });
}

function explainOutsideEvent(event: ClaudeEvent): string {
  return `"${event}" is outside the "hooks" object and not read; write {"hooks": {"${event}": [ … ]}}`;
}
