import { getTypeName } from '../../../base/json.ts';

/** A value of a configuration text that knows where it stands. */
export interface Part {
  readonly value: unknown;
  /** Counted from 1. */
  readonly line: number;
  /** Of an object; null otherwise. */
  readonly fields: ReadonlyMap<string, Part> | null;
  /** Of an array; null otherwise. */
  readonly items: readonly Part[] | null;
  /** Keys of the object that stand there more than once; the last one counts. */
  readonly repeated: readonly string[];
}

/** A text that cannot be read at all. */
export interface Unreadable {
  readonly line: number;
  readonly why: string;
}

/** Names a part as a person would: what type it has, or that it is missing. */
export function describePart(part: Part | undefined): string {
  if (part === undefined) return 'nothing';
  const { value } = part;
  if (typeof value === 'string') return `the string ${JSON.stringify(shorten(value))}`;
  if (typeof value === 'number' || typeof value === 'boolean') {
    return `${getTypeName(value)} ${value}`;
  }
  return getTypeName(value);
}

function shorten(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}

const MAX_SHOWN = 60;
