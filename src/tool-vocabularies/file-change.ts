import { isRecord } from '../base/json.ts';
import { findText, toPlainText, type Fields } from './fields.ts';
import { type CallPart, TOOLS } from './tools.ts';

const PATH_KEYS = ['path', 'file_path', 'filePath', 'notebook_path'];

/** The fields of an edit. */
export function createEditFields(path: string, before: string, after: string): Fields {
  return { file_path: path, old_string: before, new_string: after, replace_all: false };
}

/** A change that cannot be read still shows the path, if there is one, and all of its text. */
export function createUnreadableChange(input: unknown): CallPart {
  const path = findPath(input) ?? '';
  return {
    tool: TOOLS.Edit,
    fields: createEditFields(path, '', toPlainText(input)),
    put: () => input,
  };
}

export function findPath(input: unknown): string | null {
  return isRecord(input) ? findText(input, PATH_KEYS) : null;
}

export function findPathKey(input: Fields): string {
  return PATH_KEYS.find((key) => typeof input[key] === 'string') ?? 'path';
}

/** The text of a field; empty when it has none. */
export function getText(fields: Fields, key: string): string {
  const value = fields[key];
  return typeof value === 'string' ? value : '';
}
