import type { EventName, HookEvent } from '../hooks/facts.ts';
import type { DialectEvents, ForeignEvent } from './dialect.ts';

/** The canonical event that a foreign name means, with the facts that distinguish it. */
export interface EventRow {
  readonly event: EventName;
  readonly facts?: Readonly<Record<string, string>>;
}

/** The events of an agent, found by their exact names. */
export interface EventTable<Name extends string> extends DialectEvents {
  readonly names: readonly Name[];
  /** Finds the canonical event with exactly this name. */
  readonly findExact: (name: string) => EventName | null;
}

/** Creates the events of an agent from a table of its names, in the order in which it documents them. */
export function createEventTable<Name extends string>(
  rows: Readonly<Record<Name, EventName | EventRow>>,
): EventTable<Name> {
  const isName = (name: string): name is Name => Object.hasOwn(rows, name);
  const names = Object.keys(rows).filter(isName);
  const getRow = (name: Name): EventRow => {
    const row: EventName | EventRow = rows[name];
    return typeof row === 'string' ? { event: row } : row;
  };
  return {
    names,
    find: (text) => {
      const name = names.find((each) => each.toLowerCase() === text.toLowerCase());
      return name === undefined ? null : toForeignEvent(getRow(name));
    },
    findExact: (name) => (isName(name) ? getRow(name).event : null),
    listNames: (event) => names.filter((name) => isRowOf(getRow(name), event)),
  };
}

function toForeignEvent({ event, facts = {} }: EventRow): ForeignEvent {
  return { event, facts };
}

function isRowOf({ event: name, facts = {} }: EventRow, event: HookEvent): boolean {
  if (event.name !== name) return false;
  const values = new Map<string, unknown>(Object.entries(event));
  return Object.entries(facts).every(([fact, value]) => values.get(fact) === value);
}
