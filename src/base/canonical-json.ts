import { isRecord } from './json.ts';

/** Formats JSON with sorted keys, so that equal values have equal text. */
export function formatCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatCanonicalJson).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const fields = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${formatCanonicalJson(value[name])}`);
  return `{${fields.join(',')}}`;
}
