import { EventEmitter } from 'node:events';
import { types } from 'node:util';
import {
  getErrorMessage,
  ERROR_CODES,
  type ErrorCode,
  HooklineError,
} from '../../../base/errors.ts';
import { getOwnValue, MAX_NESTING, isRecord } from '../../../base/json.ts';

/** A value for another process: data that can be cloned. */
export interface Packed {
  readonly value: unknown;
  /** Whether it contains serialized errors, which must be rebuilt. */
  readonly hasErrors: boolean;
}

/**
 * Serializes a value. Values that cannot be cloned (functions, streams, getters that throw) become a
 * note; all others, including dates, maps, big integers and cycles, arrive unchanged. Never throws.
 */
export function serializeValue(value: unknown): Packed {
  if (isLeaf(value)) return { value, hasErrors: false };
  if (isCopyable(value)) return { value, hasErrors: false };
  const copying: Copying = { copies: new Map(), hasErrors: false };
  return { value: copy(value, copying, 0), hasErrors: copying.hasErrors };
}

export function deserializeValue({ value, hasErrors }: Packed): unknown {
  return hasErrors ? rebuildErrors(value) : value;
}

function isLeaf(value: unknown): boolean {
  if (value === null) return true;
  return typeof value !== 'object' && typeof value !== 'function' && typeof value !== 'symbol';
}

/** Whether the channel can clone it as it is; most data can, and need not be copied first. */
function isCopyable(value: unknown): boolean {
  try {
    return isCopyableBelow(value, new Set(), 0);
  } catch {
    // A getter threw.
    return false;
  }
}

function isCopyableBelow(value: unknown, visited: Set<unknown>, depth: number): boolean {
  if (isLeaf(value)) return true;
  if (typeof value !== 'object' || value === null || depth > MAX_NESTING) return false;
  if (visited.has(value)) return true;
  visited.add(value);
  const isNestedCopyable = (each: unknown): boolean => isCopyableBelow(each, visited, depth + 1);
  if (types.isProxy(value)) return false;
  if (Array.isArray(value)) return value.every(isNestedCopyable);
  if (isPlain(value)) {
    for (const key in value) {
      if (Object.hasOwn(value, key) && !isNestedCopyable(Reflect.get(value, key))) return false;
    }
    return true;
  }
  return isPlainData(value);
}

/** Whether it is a plain object, of any realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || isForeignPlain(prototype);
}

function isForeignPlain(prototype: unknown): boolean {
  if (typeof prototype !== 'object' || prototype === null) return false;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');
}

/** Whether it is an object of a built-in class without nested values. */
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
  readonly copies: Map<unknown, unknown>;
  hasErrors: boolean;
}

function copy(value: unknown, copying: Copying, depth: number): unknown {
  if (isLeaf(value)) return value;
  if (typeof value === 'symbol') return `[${String(value)}]`;
  if (typeof value === 'function') return describeUnsendable('function', value.name);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_NESTING) return '[nested too deeply]';
  if (copying.copies.has(value)) return copying.copies.get(value);
  try {
    return copyThing(value, copying, depth);
  } catch (error) {
    return `[cannot be looked at: ${getErrorMessage(error)}]`;
  }
}

function describeUnsendable(kind: string, name: unknown): string {
  return typeof name === 'string' && name !== '' ? `[${kind} ${name}]` : `[${kind}]`;
}

function copyThing(value: object, copying: Copying, depth: number): unknown {
  const copyNested = (each: unknown): unknown => copy(each, copying, depth + 1);
  if (isError(value)) return copyError(value, copying, copyNested);
  if (isPlainData(value)) return value;
  if (Array.isArray(value)) {
    const list: unknown[] = recordCopy([], value, copying);
    for (const each of value) list.push(copyNested(each));
    return list;
  }
  if (types.isMap(value)) {
    const map = recordCopy(new Map<unknown, unknown>(), value, copying);
    for (const [key, each] of value) map.set(copyNested(key), copyNested(each));
    return map;
  }
  if (types.isSet(value)) {
    const set = recordCopy(new Set<unknown>(), value, copying);
    for (const each of value) set.add(copyNested(each));
    return set;
  }
  if (isAlive(value)) return describeUnsendable('object', getErrorKind(value));
  const toJson: unknown = isPlain(value) ? undefined : Reflect.get(value, 'toJSON');
  if (typeof toJson === 'function') return copyNested(Reflect.apply(toJson, value, []));
  return copyFields(value, copying, copyNested);
}

/** Records the copy before its content is copied, because it may contain itself. */
function recordCopy<Made>(copy: Made, value: object, copying: Copying): Made {
  copying.copies.set(value, copy);
  return copy;
}

function getErrorKind(value: object): string {
  const { name }: { readonly name?: unknown } = value.constructor;
  const isNamed = typeof name === 'string' && name !== '';
  return isNamed ? name : Object.prototype.toString.call(value).slice('[object '.length, -1);
}

/** Classes of objects with behaviour, whose fields are useless in another process. */
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
  const fields = recordCopy<Record<string, unknown>>({}, value, copying);
  for (const key of Object.keys(value)) fields[key] = below(read(value, key));
  return fields;
}

/** A getter that throws becomes a note. */
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
  const form = recordCopy({ [MARK]: serializeError(error) }, error, copying);
  const own = Object.getOwnPropertyNames(error).filter((key) => !SAID_ANYWAY.includes(key));
  for (const key of own) form[MARK].fields[key] = below(read(error, key));
  return form;
}

const SAID_ANYWAY = ['name', 'message', 'stack'];

/** The key that marks a serialized error; unlikely in other data. */
const MARK = '\u0000hookline-error';

/** An error as data, because the channel would lose its name and fields. */
interface ErrorForm {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly isDomException: boolean;
  /** Its other fields, such as `code`, `cause` and `retryable`. */
  readonly fields: Record<string, unknown>;
}

function isError(value: unknown): value is Error {
  return types.isNativeError(value) || value instanceof Error;
}

function serializeError(error: Error): ErrorForm {
  const { name, message, stack }: Readonly<Record<keyof Error, unknown>> = {
    name: error.name,
    message: error.message,
    stack: error.stack,
    cause: undefined,
  };
  return {
    name: String(name),
    message: String(message),
    stack: typeof stack === 'string' ? stack : undefined,
    isDomException: error instanceof DOMException,
    fields: {},
  };
}

/** Rebuilds the errors in a value in place; the caller must own the value. */
function rebuildErrors(value: unknown): unknown {
  const copies = new Map<object, unknown>();
  const revive = (each: unknown): unknown => {
    if (typeof each !== 'object' || each === null) return each;
    if (copies.has(each)) return copies.get(each);
    if (isMarked(each)) return rebuildError(each, copies, revive);
    copies.set(each, each);
    rebuildWithin(each, revive);
    return each;
  };
  return revive(value);
}

type Revive = (each: unknown) => unknown;

function isMarked(value: object): value is { [MARK]: ErrorForm } {
  return Object.hasOwn(value, MARK);
}

function rebuildError(
  marked: { [MARK]: ErrorForm },
  copies: Map<object, unknown>,
  revive: Revive,
): Error {
  const form = marked[MARK];
  const error = createEmptyError(form);
  copies.set(marked, error);
  for (const [key, value] of Object.entries(form.fields)) {
    // A field of a class may already exist and be read-only.
    Reflect.defineProperty(error, key, {
      value: revive(value),
      writable: true,
      enumerable: key !== 'cause' && key !== 'errors',
      configurable: true,
    });
  }
  return error;
}

const BUILT_IN: Readonly<Record<string, ErrorConstructor>> = {
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};

function createEmptyError({ name, message, stack, isDomException, fields }: ErrorForm): Error {
  if (isDomException) return new DOMException(message, name);
  const { code } = fields;
  const error =
    name === 'HooklineError' && isErrorCode(code)
      ? new HooklineError(code, { message })
      : new (getOwnValue(BUILT_IN, name) ?? Error)(message);
  const hidden = { writable: true, enumerable: false, configurable: true };
  if (error.name !== name) Object.defineProperty(error, 'name', { value: name, ...hidden });
  Object.defineProperty(error, 'stack', { value: stack, ...hidden });
  return error;
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERROR_CODES, code);
}

function rebuildWithin(value: object, revive: Revive): void {
  if (Array.isArray(value)) {
    const list: unknown[] = value;
    for (const [place, each] of list.entries()) list[place] = revive(each);
  } else if (value instanceof Map) {
    const entries = [...value];
    value.clear();
    for (const [key, each] of entries) value.set(revive(key), revive(each));
  } else if (value instanceof Set) {
    const items = [...value];
    value.clear();
    for (const each of items) value.add(revive(each));
  } else if (isRecord(value) && !ArrayBuffer.isView(value)) {
    const fields: Record<string, unknown> = value;
    for (const key of Object.keys(fields)) fields[key] = revive(fields[key]);
  }
}

/** Calls a method with the object as `this`; returns undefined when there is none. */
export function callMethod(owner: object, name: string, args: readonly unknown[]): unknown {
  const method: unknown = Reflect.get(owner, name);
  const result: unknown =
    typeof method === 'function' ? Reflect.apply(method, owner, args) : undefined;
  return result;
}

/** Copies an object without some fields. */
export function omitFields<Thing extends object, Key extends keyof Thing & string>(
  thing: Thing,
  keys: readonly Key[],
): Omit<Thing, Key> {
  const rest: Partial<Thing> = { ...thing };
  for (const key of keys) delete rest[key];
  return rest as Omit<Thing, Key>;
}
