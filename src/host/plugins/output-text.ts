import { messageOf } from '../../base/errors.ts';
import { cutText, isRecord } from '../../base/json.ts';

const MAX_CHARS = 100_000;

/** Whatever a tool of a plugin returned, as a model can read it; bounded, and never throws. */
export function outputText(value: unknown): string {
  const text = plainText(value);
  if (text.length <= MAX_CHARS) return text;
  return `${cutText(text, MAX_CHARS)}\n[cut: ${text.length} characters in all]`;
}

/** The same as data: what can be stored stays as it is, all else is what the model reads of it. */
export function keptValue(value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  return isStorable(value) ? value : outputText(value);
}

function isStorable(value: unknown): boolean {
  try {
    const stored = JSON.stringify(value);
    return stored !== undefined && stored.length <= MAX_CHARS;
  } catch {
    // It contains itself, or what JSON cannot say.
    return false;
  }
}

function plainText(value: unknown): string {
  if (value === undefined) return '(no output)';
  if (typeof value === 'string') return value;
  if (isBlocks(value)) {
    return value.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
  }
  try {
    return JSON.stringify(value, withoutTraps()) ?? `(${typeof value})`;
  } catch (error) {
    return `(the output cannot be shown: ${messageOf(error)})`;
  }
}

/** Content blocks, as tools return them beside plain data. */
function isBlocks(value: unknown): value is readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every(
    (block: unknown) => isRecord(block) && (block['type'] === 'text' || block['type'] === 'image'),
  );
}

/** What JSON cannot say is said in words instead of failing the call. */
function withoutTraps() {
  const above: unknown[] = [];
  return function replace(this: unknown, _key: string, value: unknown): unknown {
    if (typeof value === 'bigint') return value.toString();
    if (typeof value !== 'object' || value === null) return value;
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    if (above.includes(value)) return '[circular]';
    above.push(value);
    return value;
  };
}
