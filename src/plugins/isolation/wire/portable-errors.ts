import { types } from 'node:util';
import { ERROR_CODES, type ErrorCode, HooklineError } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';

/** Marks an error that was written down; nobody writes such a key by chance. */
export const MARK = '\u0000hookline-error';

/** An error as data: the channel itself would forget its name and fields. */
export interface ErrorForm {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly isDomException: boolean;
  /** Whatever else it carries: `code`, `cause`, `retryable`. */
  readonly fields: Record<string, unknown>;
}

export function isError(value: unknown): value is Error {
  return types.isNativeError(value) || value instanceof Error;
}

export function errorForm(error: Error): ErrorForm {
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

/** Makes the errors in it again, in their places; what it is given is nobody else's. */
export function reviveErrors(value: unknown): unknown {
  const made = new Map<object, unknown>();
  const revive = (each: unknown): unknown => {
    if (typeof each !== 'object' || each === null) return each;
    if (made.has(each)) return made.get(each);
    if (isMarked(each)) return reviveError(each, made, revive);
    made.set(each, each);
    reviveWithin(each, revive);
    return each;
  };
  return revive(value);
}

type Revive = (each: unknown) => unknown;

function isMarked(value: object): value is { [MARK]: ErrorForm } {
  return Object.hasOwn(value, MARK);
}

function reviveError(
  marked: { [MARK]: ErrorForm },
  made: Map<object, unknown>,
  revive: Revive,
): Error {
  const form = marked[MARK];
  const error = emptyError(form);
  made.set(marked, error);
  for (const [key, value] of Object.entries(form.fields)) {
    // A field of a class may be there already and refuse another value.
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

function emptyError({ name, message, stack, isDomException, fields }: ErrorForm): Error {
  if (isDomException) return new DOMException(message, name);
  const { code } = fields;
  const error =
    name === 'HooklineError' && isErrorCode(code)
      ? new HooklineError(code, { message })
      : new (BUILT_IN[name] ?? Error)(message);
  const hidden = { writable: true, enumerable: false, configurable: true };
  if (error.name !== name) Object.defineProperty(error, 'name', { value: name, ...hidden });
  Object.defineProperty(error, 'stack', { value: stack, ...hidden });
  return error;
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERROR_CODES, code);
}

function reviveWithin(value: object, revive: Revive): void {
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
