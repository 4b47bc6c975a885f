import { isRecord } from './json.ts';
import { describePart, type Part } from './located-json.ts';

/** A problem of a part, with its line. */
export interface Fault {
  readonly line: number;
  readonly why: string;
}

/** The accepted values of a field. */
export interface Kind<Value> {
  readonly expected: string;
  readonly fits: (value: unknown) => value is Value;
}

/** Reads the fields of an object and collects their problems. */
export interface FieldReader {
  readonly faults: readonly Fault[];
  has(name: string): boolean;
  find<Value>(name: string, kind: Kind<Value>): Value | undefined;
  require<Value>(name: string, kind: Kind<Value>, otherwise: Value): Value;
}

export function createFieldReader(object: Part): FieldReader {
  const faults: Fault[] = [];
  const complain = (name: string, kind: Kind<unknown>, part: Part | undefined) => {
    const why = `"${name}": expected ${kind.expected}, found ${describePart(part)}`;
    faults.push({ line: (part ?? object).line, why });
  };
  const find = <Value>(name: string, kind: Kind<Value>): Value | undefined => {
    const part = object.fields?.get(name);
    if (part === undefined) return undefined;
    const { value } = part;
    if (kind.fits(value)) return value;
    complain(name, kind, part);
    return undefined;
  };
  return {
    faults,
    has: (name) => object.fields?.has(name) === true,
    find,
    require(name, kind, otherwise) {
      if (object.fields?.has(name) === true) return find(name, kind) ?? otherwise;
      complain(name, kind, undefined);
      return otherwise;
    },
  };
}

export const TEXT: Kind<string> = {
  expected: 'a string',
  fits: (value) => typeof value === 'string',
};

export const FLAG: Kind<boolean> = {
  expected: 'true or false',
  fits: (value) => typeof value === 'boolean',
};

export const SECONDS: Kind<number> = {
  expected: 'a number of seconds above 0',
  fits: (value): value is number => typeof value === 'number' && value > 0,
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

export const RECORD: Kind<Readonly<Record<string, unknown>>> = {
  expected: 'an object',
  fits: isRecord,
};

export function createChoiceKind<Name extends string>(names: readonly Name[]): Kind<Name> {
  return {
    expected: names.map((name) => `"${name}"`).join(' or '),
    fits: (value): value is Name => names.some((name) => name === value),
  };
}
