import path from 'node:path';
import { isRecord } from '../../base/json.ts';
import type { PermissionCall } from '../permissions.ts';

/** A path that a call names, absolute unless it begins with `~`. */
export interface CallPath {
  readonly file: string;
  /** Whether everything below it may be looked at. */
  readonly isSearched: boolean;
}

/** The command line that a call would run, or null when it runs none that can be read. */
export function getCallCommand({ names, input }: PermissionCall): string | null {
  if (!names.includes('Bash') || !isRecord(input)) return null;
  const { command } = input;
  return typeof command === 'string' ? command : null;
}

const PATH_KEYS = ['file_path', 'notebook_path'];
const SEARCHES = ['Grep', 'Glob'];

/** Every path that a call of a file tool names; null when it does not say it in a way that is known. */
export function getCallPaths(call: PermissionCall): readonly CallPath[] | null {
  const { names, input, cwd } = call;
  if (!isRecord(input)) return null;
  if (SEARCHES.some((name) => names.includes(name))) return searchedPaths(input, call);
  const given = PATH_KEYS.filter((key) => input[key] !== undefined).map((key) => input[key]);
  if (given.length === 0) return call.kind === 'edit' || names.includes('Read') ? null : [];
  if (!given.every(isText)) return null;
  return given.map((file) => ({ file: absolute(file, cwd), isSearched: false }));
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0');
}

function searchedPaths(
  input: Readonly<Record<string, unknown>>,
  { names, cwd }: PermissionCall,
): readonly CallPath[] | null {
  const { path: place = '.', pattern, glob } = input;
  if (!isText(place)) return null;
  const directory = absolute(place, cwd);
  const own = { file: directory, isSearched: true };
  const searched = names.includes('Glob') ? pattern : glob;
  if (typeof searched !== 'string') return [own];
  const start = startOf(searched);
  return start === null ? null : [own, { file: absolute(start, directory), isSearched: true }];
}

/** The directory that a pattern of file names starts in; null when it may lead anywhere. */
function startOf(pattern: string): string | null {
  const wildcard = pattern.search(/[*?[{(!]/);
  if (wildcard === -1) return pattern;
  const isWayward = /(?:^|[/{,(|])(?:\.\.|\/|~)/.test(pattern.slice(wildcard));
  return isWayward ? null : pattern.slice(0, pattern.lastIndexOf('/', wildcard) + 1) || '.';
}

/** What begins with `~` is for those who know the home. */
function absolute(file: string, cwd: string): string {
  return /^~(?:$|[\\/])/.test(file) ? file : path.resolve(cwd, file);
}
