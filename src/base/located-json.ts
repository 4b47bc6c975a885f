import { type ParseErrorCode, printParseErrorCode, visit } from './jsonc.ts';
import { findJsonMistake, locateOffset } from './json-mistakes.ts';
import { MAX_NESTING, stripByteOrderMark, getTypeName, isRecord } from './json.ts';

/** A value of a configuration text, with its line. */
export interface Part {
  readonly value: unknown;
  /** Counted from 1. */
  readonly line: number;
  /** Of an object; null otherwise. */
  readonly fields: ReadonlyMap<string, Part> | null;
  /** Of an array; null otherwise. */
  readonly items: readonly Part[] | null;
  /** Keys that the object has more than once; the last one counts. */
  readonly repeated: readonly string[];
}

/** A problem of a part or of the whole text, with its line. */
export interface Fault {
  readonly line: number;
  readonly why: string;
}

/** Names the type and value of a part for a message, or says that it is missing. */
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

/** Parses JSON in which comments, trailing commas and a byte-order mark are tolerated. */
export function parseLocatedJson(text: string): Part | Fault {
  const clean = stripByteOrderMark(text);
  const builder = createBuilder();
  let fault: Fault | null = null;
  try {
    visit(
      clean,
      {
        onObjectBegin: (_offset, _length, line) => builder.open(createObjectPart(line + 1)),
        onArrayBegin: (_offset, _length, line) => builder.open(createArrayPart(line + 1)),
        onObjectProperty: (name) => builder.name(name),
        onLiteralValue: (value, ...[, , line]) => builder.add(createScalarPart(value, line + 1)),
        onObjectEnd: () => builder.close(),
        onArrayEnd: () => builder.close(),
        onError(error, offset) {
          fault ??= describeError(error, offset, clean);
        },
      },
      { allowTrailingComma: true },
    );
  } catch (error) {
    // The parser descends as deep as the text does.
    if (error instanceof RangeError) return TOO_DEEP;
    throw error;
  }
  return fault ?? (builder.isTooDeep() ? TOO_DEEP : builder.root()) ?? EMPTY;
}

const TOO_DEEP: Fault = {
  line: 1,
  why: `expected at most ${MAX_NESTING} levels of nesting, found more`,
};

const EMPTY: Fault = { line: 1, why: 'expected JSON, found an empty file' };

/** What people write and the parser tolerates. */
const TOLERANCE = { comments: true, trailingCommas: true };

function describeError(error: ParseErrorCode, offset: number, text: string): Fault {
  if (text.trim() === '') return EMPTY;
  const mistake = findJsonMistake(text, TOLERANCE) ?? {
    offset,
    ...locateOffset(text, offset),
    guess: formatErrorCode(printParseErrorCode(error)),
  };
  const isAtEnd = mistake.offset >= text.length;
  const found = isAtEnd ? 'the end of the file' : JSON.stringify(text[mistake.offset]);
  const why = `expected JSON, found ${found} at column ${mistake.column} (${mistake.guess})`;
  return { line: mistake.line, why };
}

/** `CommaExpected` → `comma expected` */
function formatErrorCode(code: string): string {
  return code.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
}

interface OpenObject extends Part {
  readonly value: Record<string, unknown>;
  readonly fields: Map<string, Part>;
  readonly items: null;
  readonly repeated: string[];
}

interface OpenArray extends Part {
  readonly value: unknown[];
  readonly fields: null;
  readonly items: Part[];
}

type OpenPart = OpenObject | OpenArray;

function createObjectPart(line: number): OpenObject {
  return { value: {}, line, fields: new Map(), items: null, repeated: [] };
}

function createArrayPart(line: number): OpenArray {
  return { value: [], line, fields: null, items: [], repeated: NONE };
}

function createScalarPart(value: unknown, line: number): Part {
  return { value, line, fields: null, items: null, repeated: NONE };
}

const NONE: readonly string[] = [];

/** Builds the tree of parts from the callbacks of the parser. */
function createBuilder() {
  const open: { readonly part: OpenPart; name: string }[] = [];
  let root: Part | null = null;
  let isTooDeep = false;
  const add = (part: Part): void => {
    const holder = open.at(-1);
    if (holder === undefined) root ??= part;
    else if (holder.part.items === null) setField(holder.part, holder.name, part);
    else addItem(holder.part, part);
  };
  return {
    add,
    open(part: OpenPart): void {
      add(part);
      open.push({ part, name: '' });
      isTooDeep ||= open.length > MAX_NESTING;
    },
    name(name: string): void {
      const holder = open.at(-1);
      if (holder !== undefined) holder.name = name;
    },
    close(): void {
      open.pop();
    },
    root: () => root,
    isTooDeep: () => isTooDeep,
  };
}

function addItem({ items, value }: OpenArray, part: Part): void {
  items.push(part);
  value.push(part.value);
}

function setField({ fields, value, repeated }: OpenObject, name: string, part: Part): void {
  if (fields.has(name)) repeated.push(name);
  fields.set(name, part);
  if (name === '__proto__') {
    Object.defineProperty(value, name, { value: part.value, enumerable: true, configurable: true });
  } else {
    value[name] = part.value;
  }
}

/** The accepted values of a field. */
interface Kind<Value> {
  readonly expected: string;
  readonly fits: (value: unknown) => value is Value;
}

/** Reads the fields of an object and collects their problems. */
export class FieldReader {
  readonly #object: Part;
  readonly #faults: Fault[] = [];

  constructor(object: Part) {
    this.#object = object;
  }

  get faults(): readonly Fault[] {
    return this.#faults;
  }

  has(name: string): boolean {
    return this.#object.fields?.has(name) === true;
  }

  find<Value>(name: string, kind: Kind<Value>): Value | undefined {
    const part = this.#object.fields?.get(name);
    if (part === undefined) return undefined;
    const { value } = part;
    if (kind.fits(value)) return value;
    this.#addFault(name, kind, part);
    return undefined;
  }

  require<Value>(name: string, kind: Kind<Value>, otherwise: Value): Value {
    if (this.has(name)) return this.find(name, kind) ?? otherwise;
    this.#addFault(name, kind, undefined);
    return otherwise;
  }

  #addFault(name: string, kind: Kind<unknown>, part: Part | undefined): void {
    const why = `"${name}": expected ${kind.expected}, found ${describePart(part)}`;
    this.#faults.push({ line: (part ?? this.#object).line, why });
  }
}

export const TEXT: Kind<string> = {
  expected: 'a string',
  fits: (value) => typeof value === 'string',
};

export const TEXTS: Kind<readonly string[]> = {
  expected: 'an array of strings',
  fits: (value): value is readonly string[] =>
    Array.isArray(value) && value.every((each) => typeof each === 'string'),
};

export const TEXT_RECORD: Kind<Readonly<Record<string, string>>> = {
  expected: 'an object of strings',
  fits: (value): value is Readonly<Record<string, string>> =>
    isRecord(value) && Object.values(value).every((each) => typeof each === 'string'),
};
