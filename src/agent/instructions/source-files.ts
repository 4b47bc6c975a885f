import path from 'node:path';
import { findRealPath, isInside } from '../../base/paths.ts';
import { readdirSync } from 'node:fs';
import { isDirectory, isLink } from '../../base/files.ts';
import { truncateText } from '../../base/json.ts';
import { readPath, type PathContent } from '../tools/files/read-path.ts';
import { decodeText } from '../tools/files/text-file.ts';

/** The directories that may hold instructions for the agent. All paths are absolute. */
export interface InstructionPaths {
  readonly startDirectory: string;
  /** The workspace roots, primary first. */
  readonly roots: readonly string[];
  readonly home: string | null;
  /** Default: `~/.claude`. */
  readonly claudeDirectory?: string | null;
  /** The directory that the machine's administrator controls, such as `/etc/claude-code`. */
  readonly managedDirectory?: string | null;
  /** The Claude plugins in use. */
  readonly plugins?: readonly { readonly name: string; readonly directory: string }[];
  /** Skill directories of Cline plugins, with one subdirectory per skill. */
  readonly skillDirectories?: readonly string[];
  /** Whether the user trusted that a text of the workspace leads out of it; never by default. */
  readonly isTrustedExit?: (exit: TextExit) => boolean;
  /** Whether a deny rule forbids the agent to read a file, an absolute path. */
  readonly isDeniedRead?: (file: string) => boolean;
}

/** A note when a rule forbids to read a file as it is named, or where it leads; else null. */
export function explainDeniedRead(
  file: string,
  includedBy: string | undefined,
  { isDeniedRead }: InstructionPaths,
): string | null {
  const real = findRealPath(file) ?? file;
  if (isDeniedRead === undefined || !(isDeniedRead(file) || isDeniedRead(real))) return null;
  const named = includedBy === undefined ? file : `${includedBy} includes ${file}, which`;
  return `${named} is ignored: a rule denies to read it`;
}

/** An include or a link in the workspace's texts that leads to a file outside of it. */
export interface TextExit {
  /** The file with the include, or the link itself; absolute. */
  readonly file: string;
  /** The include as it is written, without the `@`; null for a link. */
  readonly include: string | null;
  /** The real path that it leads to; it may not exist. */
  readonly target: string;
}

/** The origin of a text, in the words of hook payloads. */
export type InstructionSource = 'projectSettings' | 'userSettings' | 'plugin' | 'builtin' | 'mcp';

/** A directory that may hold skills, commands or sub-agents. */
export interface InstructionDirectory {
  readonly path: string;
  readonly source: InstructionSource;
  /** The plugin's name, prefixed to each name in the directory. */
  readonly prefix: string | null;
  /** The directory that all files must resolve into; when absent, the workspace roots apply. */
  readonly within?: string;
}

/** `.claude/<folder>` of the project, then of the user, then of each plugin: the first of a name wins. */
export function listDirectories(folder: string, paths: InstructionPaths): InstructionDirectory[] {
  const userDirectory = resolveClaudeDirectory(paths);
  const project = listProjectDirectories(paths).map((directory) =>
    toProjectDirectory(path.join(directory, '.claude', folder)),
  );
  const user =
    userDirectory === null
      ? []
      : [{ path: path.join(userDirectory, folder), source: 'userSettings', prefix: null } as const];
  const plugins = (paths.plugins ?? []).map(
    ({ name, directory }) =>
      ({ path: path.join(directory, folder), source: 'plugin', prefix: name }) as const,
  );
  return [...project, ...user, ...plugins];
}

export function toProjectDirectory(directory: string): InstructionDirectory {
  return { path: directory, source: 'projectSettings', prefix: null };
}

export function resolveClaudeDirectory({ claudeDirectory, home }: InstructionPaths): string | null {
  if (claudeDirectory !== undefined) return claudeDirectory;
  return home === null ? null : path.join(home, '.claude');
}

/** The start directory comes first, so that the nearest definition wins. */
export function listProjectDirectories({
  startDirectory,
  roots,
}: InstructionPaths): readonly string[] {
  return [...new Set([startDirectory, ...roots])];
}

const MAX_CHARACTERS = 100_000;
const MAX_ENTRIES = 1000;

/**
 * Reads files of skills, commands and sub-agents. Never throws. A repository must not expose files
 * outside of it, nor make the agent search the whole disk.
 */
export class SourceFiles {
  readonly #checkBoundary: BoundaryCheck;
  readonly #notes: string[] = [];
  // Counted per directory, so that a full one does not hide others.
  readonly #entriesLeft = new Map<string, number>();

  constructor(paths: InstructionPaths) {
    this.#checkBoundary = createBoundaryCheck(paths);
  }

  /** Why files were skipped. */
  get notes(): readonly string[] {
    return this.#notes;
  }

  /** The sorted names in a directory; empty when it lies outside of the project. */
  listNames(place: InstructionDirectory, directory: string): readonly string[] {
    const outside = this.#checkBoundary(place, directory, findRealPath(directory) ?? directory);
    if (outside === null) return this.#limitNames(place.path, listFileNames(directory));
    if (!this.#notes.includes(outside)) this.#notes.push(outside);
    return [];
  }

  read(place: InstructionDirectory, file: string): TextReading {
    const real = findRealPath(file) ?? file;
    const outside = this.#checkBoundary(place, file, real);
    if (outside !== null) return { text: null, note: outside };
    return readTextFile(real, MAX_CHARACTERS, file);
  }

  /** Why a file, whose real path is known, must not be read; null when it may. */
  explainOutside(place: InstructionDirectory, file: string, real: string): string | null {
    return this.#checkBoundary(place, file, real);
  }

  #limitNames(top: string, names: readonly string[]): readonly string[] {
    const before = this.#entriesLeft.get(top) ?? MAX_ENTRIES;
    const after = before - names.length;
    this.#entriesLeft.set(top, after);
    if (after < 0 && before >= 0) this.#notes.push(formatTooManyNote(top));
    return names.slice(0, Math.max(before, 0));
  }
}

function formatTooManyNote(top: string): string {
  const limit = MAX_ENTRIES.toLocaleString('en');
  return `${top} contains more than ${limit} files and directories; the rest is ignored`;
}

type BoundaryCheck = (place: InstructionDirectory, file: string, real: string) => string | null;

/**
 * Returns a note when a project path leads out of the project and the user did not trust that. What lies in
 * a directory that was trusted is trusted with it. The user's own files may link anywhere.
 */
function createBoundaryCheck(paths: InstructionPaths): BoundaryCheck {
  const roots = resolveWorkspaceRoots(paths);
  const claude = resolveClaudeDirectory(paths);
  const trustedDirectories: string[] = [];
  return (place, file, real) => {
    const denied = explainDeniedRead(file, undefined, paths);
    if (denied !== null) return denied;
    if (place.within !== undefined) return checkInside(place.within, file, real);
    if (isOwnDirectory(place, roots, claude)) return null;
    if ([...roots, ...trustedDirectories].some((root) => isInside(root, real))) return null;
    const exit = { file, include: null, target: real };
    if (paths.isTrustedExit?.(exit) !== true) return formatExitNote(exit);
    if (isDirectory(real)) trustedDirectories.push(real);
    return null;
  };
}

/** For a user who works in their home directory, the user's directory is also the project's. */
function isOwnDirectory(
  { source, path: directory }: InstructionDirectory,
  roots: readonly string[],
  claude: string | null,
): boolean {
  if (claude !== null && isInside(path.resolve(claude), path.resolve(directory))) return true;
  if (source === 'projectSettings') return false;
  const real = findRealPath(directory) ?? directory;
  return !roots.some((root) => isInside(root, real));
}

function checkInside(root: string, file: string, real: string): string | null {
  if (isInside(findRealPath(root) ?? root, real)) return null;
  return `${file} is ignored: it resolves to ${real}, outside of ${root}`;
}

/** The real paths of the workspace roots. */
export function resolveWorkspaceRoots({
  roots,
  startDirectory,
}: InstructionPaths): readonly string[] {
  return [...roots, startDirectory].map((directory) => findRealPath(directory) ?? directory);
}

export function formatOutsideNote(file: string, real: string): string {
  return `${file} is ignored: it resolves to ${real}, outside of the workspace`;
}

export function formatExitNote({ file, include, target }: TextExit): string {
  const leads = include === null ? 'links to' : `includes @${include}, which is`;
  return `${file} ${leads} ${target}, outside of the workspace: ignored until you trust it with \`hookline trust\``;
}

/** Both fields are null when the file does not exist. */
export interface TextReading {
  readonly text: string | null;
  /** Why there is no text, or that it was truncated; for the user. */
  readonly note: string | null;
}

const MAX_BYTES = 4 * 1024 * 1024;

/** Reads at most `maxCharacters` of a text file for the model; notes call it `name`. Never throws. */
export function readTextFile(file: string, maxCharacters: number, name = file): TextReading {
  const found = readPath(file, MAX_BYTES);
  if (found.is === 'absent' || !isDirectory(path.dirname(file))) return describeAbsentFile(name);
  const text = found.is === 'file' ? (decodeText(found.bytes)?.text ?? null) : null;
  if (text === null) return { text, note: `${name} is ignored: ${explainUnreadable(found)}` };
  if (text.length <= maxCharacters) return { text, note: null };
  const limit = maxCharacters.toLocaleString('en');
  return {
    text: truncateText(text, maxCharacters),
    note: `${name} is longer than ${limit} characters; the rest is ignored`,
  };
}

/** At most so many directories below a root, without hidden ones and installed packages; not the root. */
export function listNestedDirectories(root: string, most: number): readonly string[] {
  const found: string[] = [];
  const waiting = [root];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    for (const name of listDirectoryNames(next)) {
      if (found.length >= most) return found;
      const directory = path.join(next, name);
      found.push(directory);
      waiting.push(directory);
    }
  }
  return found;
}

function listDirectoryNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((each) => each.isDirectory() && !/^(?:\..*|node_modules)$/.test(each.name))
      .map(({ name }) => name)
      .toSorted();
  } catch {
    return [];
  }
}

/** The sorted names in a directory; empty when it cannot be read. */
function listFileNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory).toSorted();
  } catch {
    return [];
  }
}

function describeAbsentFile(file: string): TextReading {
  return { text: null, note: isLink(file) ? `${file} is a broken link` : null };
}

function explainUnreadable(found: PathContent): string {
  if (found.is === 'large') return 'it is larger than 4 MiB';
  if (found.is === 'directory') return 'it is a directory';
  return found.is === 'unreadable' ? found.why : 'it is not text';
}
