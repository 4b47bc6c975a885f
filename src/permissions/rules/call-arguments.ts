import { isRecord } from '../../base/json.ts';
import { resolveFrom } from '../../base/paths.ts';
import { isHomePath } from './home-path.ts';
import type { PermissionCall } from '../permissions.ts';

/** A path in the input of a call, absolute unless it begins with `~`. */
export interface CallPath {
  readonly file: string;
  /** Whether everything below it may be read. */
  readonly isSearched: boolean;
}

/** The command line of a Bash call, or null for another call or an invalid input. */
export function getCallCommand({ names, input }: PermissionCall): string | null {
  if (!names.includes('Bash') || !isRecord(input)) return null;
  const { command } = input;
  return typeof command === 'string' ? command : null;
}

/** The same for a call that does not ask to run outside of the sandbox. */
export function getSandboxedCommand(call: PermissionCall): string | null {
  return isSandboxExit(call) ? null : getCallCommand(call);
}

/** Set by a model that wants a command to run outside of the sandbox. */
export const SANDBOX_EXIT = 'dangerouslyDisableSandbox';

export function isSandboxExit({ input }: PermissionCall): boolean {
  return isRecord(input) && [true, 'true'].some((yes) => input[SANDBOX_EXIT] === yes);
}

const PATH_KEYS = ['file_path', 'notebook_path'];
const SEARCHES = ['Grep', 'Glob'];

/** Every path in the input of a file tool; null when the input is invalid. */
export function getCallPaths(call: PermissionCall): readonly CallPath[] | null {
  const { names, input, cwd } = call;
  if (!isRecord(input)) return null;
  if (SEARCHES.some((name) => names.includes(name))) return listSearchedPaths(input, call);
  const values = PATH_KEYS.filter((key) => input[key] !== undefined).map((key) => input[key]);
  if (values.length === 0) return call.kind === 'edit' || names.includes('Read') ? null : [];
  if (!values.every(isText)) return null;
  return values.map((file) => ({ file: resolveUnlessHome(file, cwd), isSearched: false }));
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0');
}

function listSearchedPaths(
  input: Readonly<Record<string, unknown>>,
  { names, cwd }: PermissionCall,
): readonly CallPath[] | null {
  const { path: directoryInput = '.', pattern, glob } = input;
  if (!isText(directoryInput)) return null;
  const directory = resolveUnlessHome(directoryInput, cwd);
  const directoryPath = { file: directory, isSearched: true };
  const searched = names.includes('Glob') ? pattern : glob;
  if (typeof searched !== 'string') return [directoryPath];
  const start = findPatternStart(searched);
  return start === null
    ? null
    : [directoryPath, { file: resolveUnlessHome(start, directory), isSearched: true }];
}

/** The directory that a glob starts in; null when the glob may leave it. */
function findPatternStart(pattern: string): string | null {
  const wildcard = pattern.search(/[*?[{(!]/);
  if (wildcard === -1) return pattern;
  const canLeave = /(?:^|[/{,(|])(?:\.\.|\/|~)/.test(pattern.slice(wildcard));
  return canLeave ? null : pattern.slice(0, pattern.lastIndexOf('/', wildcard) + 1) || '.';
}

/** A path with `~` is expanded where the home directory is known. */
function resolveUnlessHome(file: string, cwd: string): string {
  return isHomePath(file) ? file : resolveFrom(cwd, file);
}
