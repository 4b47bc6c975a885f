import { getErrorMessage } from '../../base/errors.ts';

/** What Cline's packages lend to plugins that say results in JSON. Never throws. */
export function safeJsonStringify(input: unknown): string {
  const above: unknown[] = [];
  function sayable(this: unknown, _key: string, value: unknown): unknown {
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    // Only what contains itself: the same thing may well stand in two places.
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    if (above.includes(value)) return '[Circular]';
    above.push(value);
    return value;
  }
  try {
    return JSON.stringify(input, sayable) ?? 'null';
  } catch (error) {
    return JSON.stringify(`(it cannot be said in JSON: ${getErrorMessage(error)})`);
  }
}

/** Undefined for what is no JSON. */
export function safeJsonParse(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return undefined;
  }
}
