import path from 'node:path';
import { parseDocument } from '../base/edit-json.ts';
import { tryOrNull } from '../base/errors.ts';
import { readSettingsTextIfPresent } from '../base/files.ts';
import { isRecord, stripByteOrderMark } from '../base/json.ts';
import { getNodeValue } from '../base/jsonc.ts';
import { findRealPath, isInside } from '../base/paths.ts';
import type { Cause } from './install.ts';

/** Seconds that an agent waits for our command. It needs a few milliseconds; a busy machine needs more. */
export const TIME_LIMIT_SECONDS = 30;

/** Creates the same entry for each event. */
export function createEntries(
  events: readonly string[],
  entry: unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(events.map((event) => [event, entry]));
}

/** Creates a group of Claude's format, which several agents have taken over. */
export function createGroup(
  command: string,
  timeout: number,
  { matcher }: { readonly matcher?: string } = {},
): unknown {
  const hooks = [{ type: 'command', command, timeout }];
  return matcher === undefined ? { hooks } : { matcher, hooks };
}

/** Reads a settings file of an agent, comments allowed; null when there is none or it is no JSON object. */
export function readSettingsObject(file: string): Readonly<Record<string, unknown>> | null {
  const text = tryOrNull(() => readSettingsTextIfPresent(file));
  if (text === null) return null;
  const root = parseDocument(stripByteOrderMark(text));
  const value: unknown = typeof root === 'string' ? null : getNodeValue(root);
  return isRecord(value) ? value : null;
}

/** Reads a value of nested objects; undefined when one of the keys is missing. */
export function readNested(value: unknown, ...keys: readonly string[]): unknown {
  let found = value;
  for (const key of keys) {
    found = isRecord(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}

/** A switch of an agent's settings that turns hooks off. */
export interface HookSwitch {
  readonly keys: readonly string[];
  /** The value with which no hook runs. */
  readonly off: boolean;
}

/** Finds the files that turn hooks off; of several that set the switch, the last decides. */
export function findSwitchedOff(
  files: readonly string[],
  { keys, off }: HookSwitch,
): readonly Cause[] {
  const setting = files
    .map((file) => ({ file, value: readNested(readSettingsObject(file), ...keys) }))
    .findLast(({ value }) => typeof value === 'boolean');
  if (setting?.value !== off) return [];
  return [
    {
      code: 'hooks-off',
      message: `${setting.file}: "${keys.join('.')}" is ${off}, so that no hook runs. Set it to ${!off}.`,
    },
  ];
}

/** Finds the nearest directory at or above a folder that is a key of this table. */
export function findFolderEntry(
  table: unknown,
  folder: string,
): { readonly folder: string; readonly value: unknown } | null {
  if (!isRecord(table)) return null;
  const real = findRealPath(folder) ?? folder;
  const nearest = Object.keys(table)
    .filter((each) => isInside(findRealPath(each) ?? each, real))
    .toSorted((one, other) => other.length - one.length)
    .at(0);
  return nearest === undefined ? null : { folder: nearest, value: table[nearest] };
}

/** Joins a directory that may be unknown with names below it. */
export function joinIfKnown(
  directory: string | null,
  ...names: readonly string[]
): readonly string[] {
  return directory === null ? [] : [path.join(directory, ...names)];
}
