import { statSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../../base/errors.ts';
import { readTextIfPresent } from '../../base/files.ts';
import { isRecord, parseJson, getTypeName } from '../../base/json.ts';
import { capabilityProblem } from '../manifest.ts';

/** What the package.json of a directory says about plugins. */
export type PackageReading =
  /** No package.json, or one that does not speak of plugins. */
  | { readonly kind: 'plain'; readonly version: string | null }
  | { readonly kind: 'broken'; readonly why: string }
  | PluginPackageJson;

export interface PluginPackageJson {
  readonly kind: 'package';
  readonly directory: string;
  readonly name: string;
  readonly version: string | null;
  readonly declared: readonly DeclaredEntry[];
  /** What is wrong with entries of the list; the others count all the same. */
  readonly problems: readonly string[];
}

export interface DeclaredEntry {
  /** As it is written. */
  readonly path: string;
  /** Absolute; whether anything is there nobody has looked. */
  readonly file: string;
  readonly capabilities: readonly string[] | null;
  /** Why what it declares cannot be, or null. */
  readonly problem: string | null;
}

const PLAIN: PackageReading = { kind: 'plain', version: null };

/** Never throws. */
export function readPackage(directory: string): PackageReading {
  const file = path.join(directory, 'package.json');
  const text = readText(file);
  if (text === null) return PLAIN;
  if (typeof text !== 'string') return broken(`${file} cannot be read: ${text.why}`);
  const parsed = parseJson(text);
  if (!parsed.ok) return broken(`${file} is not JSON: ${parsed.error}`);
  if (!isRecord(parsed.value)) {
    return broken(`${file} must hold an object, found ${getTypeName(parsed.value)}`);
  }
  return readFields(parsed.value, directory);
}

const MAX_BYTES = 1024 * 1024;

function readText(file: string): string | null | { readonly why: string } {
  try {
    const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    return bytes > MAX_BYTES ? { why: 'it is larger than 1 MiB' } : readTextIfPresent(file);
  } catch (error) {
    return { why: getErrorMessage(error) };
  }
}

function broken(why: string): PackageReading {
  return { kind: 'broken', why };
}

type Fields = Readonly<Record<string, unknown>>;

function readFields(fields: Fields, directory: string): PackageReading {
  const { name, version, cline } = fields;
  const ownVersion = typeof version === 'string' ? version : null;
  const plugins = isRecord(cline) ? cline['plugins'] : undefined;
  if (plugins === undefined) return { kind: 'plain', version: ownVersion };
  if (!Array.isArray(plugins)) {
    return broken(
      `"cline.plugins" in ${path.join(directory, 'package.json')} must be a list, found ${getTypeName(plugins)}`,
    );
  }
  const read = plugins.map((each: unknown, place) => readItem(each, { place, directory }));
  return {
    kind: 'package',
    directory,
    name: typeof name === 'string' && name.trim() !== '' ? name.trim() : nameOf(directory),
    version: ownVersion,
    declared: read.flatMap((each) => ('problem' in each ? [] : each.declared)),
    problems: read.flatMap((each) => ('problem' in each ? [each.problem] : [])),
  };
}

/** An installed one has the hash of its source behind its name. */
function nameOf(directory: string): string {
  return path.basename(directory).replace(/-[0-9a-f]{12}$/u, '');
}

interface ItemPlace {
  readonly place: number;
  readonly directory: string;
}

type ItemReading = { readonly declared: readonly DeclaredEntry[] } | { readonly problem: string };

function readItem(item: unknown, { place, directory }: ItemPlace): ItemReading {
  const where = `"cline.plugins[${place}]" in ${path.join(directory, 'package.json')}`;
  if (typeof item === 'string') return { declared: [entryOf(item, { directory, given: null })] };
  if (!isRecord(item)) {
    return { problem: `${where} must be a path or an object, found ${getTypeName(item)}` };
  }
  const { paths, capabilities = null } = item;
  if (!isTexts(paths) || paths.length === 0) {
    return { problem: `${where} names no file; expected "paths" as in ["./index.ts"]` };
  }
  return { declared: paths.map((each) => entryOf(each, { directory, given: capabilities })) };
}

function entryOf(
  written: string,
  { directory, given }: { readonly directory: string; readonly given: unknown },
): DeclaredEntry {
  const problem = given === null ? null : capabilityProblem(given);
  return {
    path: written,
    file: path.resolve(directory, written),
    capabilities: problem === null && isTexts(given) ? given : null,
    problem: problem === null ? null : `it declares what it cannot: ${problem}`,
  };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
