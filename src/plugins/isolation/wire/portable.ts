import { EventEmitter } from 'node:events';
import { types } from 'node:util';
import { getErrorMessage } from '../../../base/errors.ts';
import { MAX_NESTING } from '../../../base/json.ts';
import { type ErrorForm, errorForm, isError, MARK, reviveErrors } from './portable-errors.ts';

/** A value as it goes to another process: data that can be copied, however it was made. */
export interface Packed {
  readonly value: unknown;
  /** Whether errors in it were written down, and must be made again. */
  readonly hasErrors: boolean;
}

/**
 * What cannot be copied (functions, streams, what throws when it is looked at) becomes a note in its
 * place; all else, also dates, maps, big integers and circles, arrives as it is. Never throws.
 */
export function pack(value: unknown): Packed {
  if (isLeaf(value)) return { value, hasErrors: false };
  if (isCopyable(value)) return { value, hasErrors: false };
  const copying: Copying = { made: new Map(), hasErrors: false };
  return { value: copy(value, copying, 0), hasErrors: copying.hasErrors };
}

export function unpack({ value, hasErrors }: Packed): unknown {
  return hasErrors ? reviveErrors(value) : value;
}

function isLeaf(value: unknown): boolean {
  if (value === null) return true;
  return typeof value !== 'object' && typeof value !== 'function' && typeof value !== 'symbol';
}

/** Whether the channel copies it by itself; most data is such, and need not be copied twice. */
function isCopyable(value: unknown): boolean {
  try {
    return isCopyableBelow(value, new Set(), 0);
  } catch {
    // A getter threw.
    return false;
  }
}

function isCopyableBelow(value: unknown, seen: Set<unknown>, depth: number): boolean {
  if (isLeaf(value)) return true;
  if (typeof value !== 'object' || value === null || depth > MAX_NESTING) return false;
  if (seen.has(value)) return true;
  seen.add(value);
  const goesOn = (each: unknown): boolean => isCopyableBelow(each, seen, depth + 1);
  if (types.isProxy(value)) return false;
  if (Array.isArray(value)) return value.every(goesOn);
  if (isPlain(value)) {
    for (const key in value) {
      if (Object.hasOwn(value, key) && !goesOn(Reflect.get(value, key))) return false;
    }
    return true;
  }
  return isPlainData(value);
}

/** Made with braces, in whichever realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || isForeignPlain(prototype);
}

function isForeignPlain(prototype: unknown): boolean {
  if (typeof prototype !== 'object' || prototype === null) return false;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');
}

/** Without anything in it that would have to be looked at. */
function isPlainData(value: object): boolean {
  return (
    types.isDate(value) ||
    types.isRegExp(value) ||
    types.isArrayBuffer(value) ||
    (ArrayBuffer.isView(value) && !types.isSharedArrayBuffer(value.buffer)) ||
    types.isNumberObject(value) ||
    types.isStringObject(value) ||
    types.isBooleanObject(value)
  );
}

interface Copying {
  readonly made: Map<unknown, unknown>;
  hasErrors: boolean;
}

function copy(value: unknown, copying: Copying, depth: number): unknown {
  if (isLeaf(value)) return value;
  if (typeof value === 'symbol') return `[${String(value)}]`;
  if (typeof value === 'function') return noteOf('function', value.name);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_NESTING) return '[nested too deeply]';
  if (copying.made.has(value)) return copying.made.get(value);
  try {
    return copyThing(value, copying, depth);
  } catch (error) {
    return `[cannot be looked at: ${getErrorMessage(error)}]`;
  }
}

function noteOf(kind: string, name: unknown): string {
  return typeof name === 'string' && name !== '' ? `[${kind} ${name}]` : `[${kind}]`;
}

function copyThing(value: object, copying: Copying, depth: number): unknown {
  const below = (each: unknown): unknown => copy(each, copying, depth + 1);
  if (isError(value)) return copyError(value, copying, below);
  if (isPlainData(value)) return value;
  if (Array.isArray(value)) {
    const list: unknown[] = keep([], value, copying);
    for (const each of value) list.push(below(each));
    return list;
  }
  if (types.isMap(value)) {
    const map = keep(new Map<unknown, unknown>(), value, copying);
    for (const [key, each] of value) map.set(below(key), below(each));
    return map;
  }
  if (types.isSet(value)) {
    const set = keep(new Set<unknown>(), value, copying);
    for (const each of value) set.add(below(each));
    return set;
  }
  if (isAlive(value)) return noteOf('object', kindOf(value));
  const toJson: unknown = isPlain(value) ? undefined : Reflect.get(value, 'toJSON');
  if (typeof toJson === 'function') return below(Reflect.apply(toJson, value, []));
  return copyFields(value, copying, below);
}

/** Before what is in it is copied: it may contain itself. */
function keep<Made>(made: Made, value: object, copying: Copying): Made {
  copying.made.set(value, made);
  return made;
}

function kindOf(value: object): string {
  const { name }: { readonly name?: unknown } = value.constructor;
  const isNamed = typeof name === 'string' && name !== '';
  return isNamed ? name : Object.prototype.toString.call(value).slice('[object '.length, -1);
}

/** Things that do something rather than say something: their fields mean nothing elsewhere. */
function isAlive(value: object): boolean {
  return (
    types.isPromise(value) ||
    types.isWeakMap(value) ||
    types.isWeakSet(value) ||
    types.isGeneratorObject(value) ||
    types.isSharedArrayBuffer(value) ||
    types.isExternal(value) ||
    ArrayBuffer.isView(value) ||
    value instanceof EventEmitter ||
    value instanceof EventTarget ||
    value instanceof ReadableStream ||
    value instanceof WritableStream ||
    value instanceof WeakRef
  );
}

function copyFields(
  value: object,
  copying: Copying,
  below: (each: unknown) => unknown,
): Record<string, unknown> {
  const fields = keep<Record<string, unknown>>({}, value, copying);
  for (const key of Object.keys(value)) fields[key] = below(read(value, key));
  return fields;
}

/** One field that throws is one note. */
function read(value: object, key: string): unknown {
  try {
    return Reflect.get(value, key);
  } catch (error) {
    return `[cannot be looked at: ${getErrorMessage(error)}]`;
  }
}

function copyError(
  error: Error,
  copying: Copying,
  below: (each: unknown) => unknown,
): { [MARK]: ErrorForm } {
  copying.hasErrors = true;
  const form = keep({ [MARK]: errorForm(error) }, error, copying);
  const own = Object.getOwnPropertyNames(error).filter((key) => !SAID_ANYWAY.includes(key));
  for (const key of own) form[MARK].fields[key] = below(read(error, key));
  return form;
}

const SAID_ANYWAY = ['name', 'message', 'stack'];
