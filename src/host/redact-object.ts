import { findSecrets } from './secrets/find-secrets.ts';
import { isNamedSecret } from './secrets/named-secrets.ts';

/** A copy of plain data with secrets redacted, unless `raw` is set; the data itself when it has none. */
export async function redactObject<Value extends object>(
  value: Value,
  { raw }: { readonly raw?: boolean | undefined },
): Promise<Value> {
  if (raw === true || !hasSecrets(value, '', new Set())) return value;
  const copy = structuredClone(value);
  redactFields(copy, '');
  return copy;
}

const REDACTED = '[redacted]';

/** Redacts the secrets of a text; the name of its field tells what the text alone does not. */
export function redactText(text: string, name = ''): string {
  if (name !== '' && isNamedSecret(name, text)) return REDACTED;
  let redacted = '';
  let at = 0;
  for (const [start, end] of findSecrets(text)) {
    redacted += text.slice(at, start) + REDACTED;
    at = end;
  }
  return at === 0 ? text : redacted + text.slice(at);
}

/** `cleanTexts` are those that were searched before: lists repeat their keys, and most of their paths. */
function hasSecrets(value: unknown, name: string, cleanTexts: Set<string>): boolean {
  if (typeof value === 'string') {
    if (name !== '' && isNamedSecret(name, value)) return true;
    if (cleanTexts.has(value)) return false;
    cleanTexts.add(value);
    return findSecrets(value).length > 0;
  }
  if (typeof value !== 'object' || value === null) return false;
  return listFields(value, name).some(
    ([key, field, fieldName]) =>
      hasSecrets(field, fieldName, cleanTexts) || hasSecrets(key, '', cleanTexts),
  );
}

function redactFields(value: object, name: string): void {
  for (const [key, field, fieldName] of listFields(value, name)) {
    if (typeof field === 'object' && field !== null) redactFields(field, fieldName);
    const redactedKey = redactText(key);
    const redacted = typeof field === 'string' ? redactText(field, fieldName) : field;
    if (redactedKey !== key) Reflect.deleteProperty(value, key);
    if (redacted !== field || redactedKey !== key) {
      Object.defineProperty(value, redactedKey, {
        value: redacted,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
  }
}

type Field = readonly [key: string, value: unknown, name: string];

/** With the name of what a field holds: the items of a list, and `value` beside `name`, have another's. */
function listFields(value: object, name: string): readonly Field[] {
  const fields: readonly [string, unknown][] = Object.entries(value);
  if (Array.isArray(value)) return fields.map(([key, field]) => [key, field, name]);
  const named: unknown = 'value' in value && 'name' in value ? value.name : null;
  return fields.map(([key, field]) => [
    key,
    field,
    key === 'value' && typeof named === 'string' ? named : key,
  ]);
}
