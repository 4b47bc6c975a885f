import { statSync } from 'node:fs';
import { getErrorMessage } from '../base/errors.ts';
import { isLink, readSettingsTextIfPresent } from '../base/files.ts';
import { getTypeName, isRecord, parseJson } from '../base/json.ts';
import type { Ignored } from './discovery.ts';

const MAX_BYTES = 16 * 1024 * 1024;
const TOO_LARGE = 'is not read: expected at most 16 MiB of settings, found more';

/** Reads a text; null when the file does not exist, a reason when it cannot be read. */
export type ReadConfigText = (file: string) => string | Ignored | null;

export function readConfigText(file: string): string | Ignored | null {
  try {
    const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes > MAX_BYTES) return { path: file, why: TOO_LARGE, mayHideHook: true };
    const text = readSettingsTextIfPresent(file);
    if (text !== null || !isLink(file)) return text;
    return { path: file, why: 'is a broken link', mayHideHook: true };
  } catch (error) {
    return { path: file, why: `cannot be read: ${getErrorMessage(error)}`, mayHideHook: true };
  }
}

/** What a file with one JSON object holds; `problem` when it is there and cannot be used. */
interface ConfigObject {
  readonly value: Readonly<Record<string, unknown>> | null;
  readonly problem: Ignored | null;
}

export function readConfigObject(file: string): ConfigObject {
  const text = readConfigText(file);
  if (text === null) return { value: null, problem: null };
  if (typeof text !== 'string') return { value: null, problem: text };
  const parsed = parseJson(text);
  if (parsed.ok && isRecord(parsed.value)) return { value: parsed.value, problem: null };
  const why = parsed.ok
    ? `should be a JSON object, found ${getTypeName(parsed.value)}`
    : `is not valid JSON: ${parsed.error}`;
  return { value: null, problem: { path: file, why, mayHideHook: true } };
}
