import path from 'node:path';
import { isDirectory } from '../../base/files.ts';
import { findRealPath, isInside } from '../../base/paths.ts';
import { splitFrontMatter } from '../../base/text.ts';
import { getListField, parseFrontMatter } from './front-matter.ts';
import {
  resolveClaudeDirectory,
  type InstructionPaths,
  resolveWorkspaceRoots,
  formatExitNote,
  formatOutsideNote,
  listNestedDirectories,
  listFileNames,
  readTextFile,
  type TextReading,
} from './source-files.ts';

/** One file of instructions for the agent. */
export interface Instruction {
  readonly file: string;
  readonly memoryType: 'User' | 'Project' | 'Local' | 'Managed';
  readonly text: string;
  readonly loadReason: LoadReason;
  readonly parentFile?: string;
  /** The file patterns that the rule is limited to. */
  readonly globs?: readonly string[];
  /** The file that caused a nested instruction to load. */
  readonly triggerFile?: string;
}

type LoadReason = 'session_start' | 'nested_traversal' | 'include' | 'compact';

export interface Instructions {
  readonly instructions: readonly Instruction[];
  /** What was truncated, skipped or unreadable, for the user. */
  readonly notes: readonly string[];
}

/**
 * Finds and reads all instructions for a directory, the most general first. Never throws. `loadNested`
 * loads those of the directory of a file that was just read, and of its parents; each only once.
 */
export async function loadInstructions(
  options: InstructionPaths & { readonly reason: 'session_start' | 'compact' },
): Promise<Instructions & { loadNested(file: string): Promise<Instructions> }> {
  const read = createReader(options);
  const visited = new Set(listInstructionDirectories(options));
  const loaded = await toInstructions(read(listCandidates(options, options.reason)));
  return {
    ...loaded,
    async loadNested(file) {
      const fresh = listDirectoriesAbove(file, options).filter(
        (directory) => !visited.has(directory),
      );
      for (const directory of fresh) visited.add(directory);
      return toInstructions(read(listNestedCandidates(fresh, file)));
    },
  };
}

const MAX_CHARACTERS = 40_000;
const MAX_CHARACTERS_IN_ALL = 200_000;
const MAX_DEPTH = 5;
const TEXT_NAME = /\.(?:md|mdc|markdown|txt)$/i;

type Candidate = Omit<Instruction, 'text'> & {
  /** Whether its front matter may limit it to certain files. */
  readonly isRule: boolean;
  readonly depth: number;
  /** As it is written in the file that includes it. */
  readonly include?: string;
};

function listCandidates(paths: InstructionPaths, loadReason: LoadReason): readonly Candidate[] {
  const managed = paths.managedDirectory ?? null;
  const candidate = createCandidate(loadReason);
  return [
    ...(managed === null ? [] : [candidate(path.join(managed, 'CLAUDE.md'), 'Managed')]),
    ...listUserFiles(paths).map(({ file, isRule }) => ({ ...candidate(file, 'User'), isRule })),
    ...listInstructionDirectories(paths).flatMap((directory) => [
      ...listSharedFiles(directory).map((file) => candidate(file, 'Project')),
      ...listRuleFiles(directory).map((file) => ({ ...candidate(file, 'Project'), isRule: true })),
      candidate(path.join(directory, 'CLAUDE.local.md'), 'Local'),
    ]),
  ];
}

function listInstructionDirectories({
  startDirectory,
  roots,
}: InstructionPaths): readonly string[] {
  return [...new Set([...listDirectoriesDownTo(startDirectory, roots), ...roots])];
}

/**
 * The directories from the root that contains a directory down to it; only the directory itself when no
 * root does.
 */
function listDirectoriesDownTo(directory: string, roots: readonly string[]): readonly string[] {
  const root = roots.map((each) => path.resolve(each)).find((each) => isInside(each, directory));
  if (root === undefined) return [directory];
  const descendants: string[] = [];
  for (let at = path.resolve(directory); at !== root; at = path.dirname(at)) {
    descendants.unshift(at);
  }
  return [root, ...descendants];
}

function createCandidate(loadReason: LoadReason) {
  return (file: string, memoryType: Instruction['memoryType']): Candidate => ({
    file,
    memoryType,
    loadReason,
    isRule: false,
    depth: 0,
  });
}

function listUserFiles(
  paths: InstructionPaths,
): { readonly file: string; readonly isRule: boolean }[] {
  const claude = resolveClaudeDirectory(paths);
  const cline = paths.home === null ? null : path.join(paths.home, 'Documents/Cline/Rules');
  const rules = [
    ...(claude === null ? [] : listTextFiles(path.join(claude, 'rules'))),
    ...(cline === null ? [] : listTextFiles(cline)),
  ].map((file) => ({ file, isRule: true }));
  return claude === null
    ? rules
    : [{ file: path.join(claude, 'CLAUDE.md'), isRule: false }, ...rules];
}

function listSharedFiles(directory: string): string[] {
  return ['CLAUDE.md', '.claude/CLAUDE.md', 'AGENTS.md'].map((name) => path.join(directory, name));
}

/** `.clinerules` is a file or a directory of files. */
function listRuleFiles(directory: string): string[] {
  const cline = path.join(directory, '.clinerules');
  return [
    ...listTextFiles(path.join(directory, '.claude', 'rules')),
    ...(isDirectory(cline) ? listTextFiles(cline) : [cline]),
  ];
}

function listTextFiles(directory: string): string[] {
  return listFileNames(directory)
    .filter((name) => TEXT_NAME.test(name))
    .map((name) => path.join(directory, name));
}

/** The workspace directories above a file. */
function listDirectoriesAbove(
  file: string,
  { roots, startDirectory }: InstructionPaths,
): readonly string[] {
  const directory = path.dirname(file);
  const allowedRoots = [...roots, startDirectory];
  // Instructions inside installed packages are written for work on those packages.
  const isForeign = directory.split(path.sep).includes('node_modules');
  const isInWorkspace = allowedRoots.some((root) => isInside(root, directory));
  return isInWorkspace && !isForeign ? listDirectoriesDownTo(directory, allowedRoots) : [];
}

function listNestedCandidates(directories: readonly string[], triggerFile: string): Candidate[] {
  const candidate = createCandidate('nested_traversal');
  return directories
    .flatMap((directory) => [
      ...listSharedFiles(directory).map((file) => candidate(file, 'Project')),
      candidate(path.join(directory, 'CLAUDE.local.md'), 'Local'),
    ])
    .map((each) => ({ ...each, triggerFile }));
}

/** A file that was read, before its front matter is parsed. */
interface ReadFile {
  readonly candidate: Candidate;
  readonly text: string;
}

interface ReadFiles {
  readonly files: readonly ReadFile[];
  readonly notes: readonly string[];
}

type ReadCandidates = (candidates: readonly Candidate[]) => ReadFiles;

/** Each real path is read once per session: a CLAUDE.md is often a link to AGENTS.md. */
function createReader(paths: InstructionPaths): ReadCandidates {
  const readPaths = new Set<string>();
  const checkBoundary = createBoundaryCheck(paths);
  let remaining = MAX_CHARACTERS_IN_ALL;

  function readOne(candidate: Candidate, notes: string[]): ReadFile[] {
    const real = findRealPath(candidate.file) ?? candidate.file;
    if (readPaths.has(real)) return [];
    const outside = checkBoundary(candidate, real);
    if (outside !== null) {
      if (!notes.includes(outside)) notes.push(outside);
      return [];
    }
    readPaths.add(real);
    const { text, note } = readBounded(candidate, real, remaining);
    if (note !== null) notes.push(note);
    if (text === null || text.trim() === '') return [];
    remaining -= text.length;
    const body = candidate.isRule ? splitFrontMatter(text).body : text;
    return [{ candidate, text }, ...readImports(candidate, body, notes)];
  }

  function readImports(parent: Candidate, text: string, notes: string[]): ReadFile[] {
    const imported = listImports(parent, text, paths.home);
    if (imported.length === 0 || parent.depth < MAX_DEPTH) return readEach(imported, notes);
    notes.push(`${parent.file}: includes deeper than ${MAX_DEPTH} levels are ignored`);
    return [];
  }

  // Sequential, because the first ones named get the remaining character budget.
  function readEach(candidates: readonly Candidate[], notes: string[]): ReadFile[] {
    return candidates.flatMap((candidate) => readOne(candidate, notes));
  }

  return (candidates) => {
    const notes: string[] = [];
    return { files: readEach(candidates, notes), notes };
  };
}

async function toInstructions({ files, notes }: ReadFiles): Promise<Instructions> {
  return { instructions: await Promise.all(files.map(toInstruction)), notes };
}

async function toInstruction({ candidate, text }: ReadFile): Promise<Instruction> {
  const { isRule, depth: _depth, include: _include, ...facts } = candidate;
  return { ...facts, ...(isRule ? await readRule(text) : { text }) };
}

const MAX_NESTED = 500;

/** Reads what a session here would read, also in directories below, for what it asks `isTrustedExit` about. */
export function visitInstructionFiles(paths: InstructionPaths): void {
  const read = createReader(paths);
  read(listCandidates(paths, 'session_start'));
  const nested = paths.roots.flatMap((root) => listNestedDirectories(root, MAX_NESTED));
  read(listNestedCandidates(nested, paths.startDirectory));
}

/** Reads the path that was checked, so that a link that changes in between leads nowhere else. */
function readBounded(
  { file, parentFile }: Candidate,
  real: string,
  remaining: number,
): TextReading {
  const reading = readTextFile(real, Math.min(MAX_CHARACTERS, Math.max(remaining, 1)), file);
  if (reading.text === null && reading.note === null && parentFile !== undefined) {
    return { text: null, note: `${parentFile} includes ${file}, which does not exist` };
  }
  if (remaining > 0 || reading.text === null) return reading;
  const most = MAX_CHARACTERS_IN_ALL.toLocaleString('en');
  const note = `${file} is ignored: all instructions together exceed ${most} characters`;
  return { text: null, note };
}

/**
 * Returns a note when a file must not be read. A text of the workspace leads out of it only where the user
 * trusted that. The user's own files may be links, and include what lies in the home directory.
 */
function createBoundaryCheck(paths: InstructionPaths) {
  const resolveReal = (directory: string): string => findRealPath(directory) ?? directory;
  const roots = resolveWorkspaceRoots(paths);
  const isInWorkspace = (file: string): boolean => roots.some((root) => isInside(root, file));
  const claude = resolveClaudeDirectory(paths);
  const own = [paths.home, claude].flatMap((each) => (each === null ? [] : [resolveReal(each)]));
  const usual = paths.home === null ? null : resolveReal(path.join(paths.home, '.claude'));
  // A variable may move the user's directory into the workspace, and the user may include its files.
  const isOwn = (file: string): boolean => {
    const place = path.join(resolveReal(path.dirname(file)), path.basename(file));
    return !isInWorkspace(place) || (usual !== null && isInside(usual, place));
  };
  return (candidate: Candidate, real: string): string | null => {
    if (isInWorkspace(real)) return null;
    const { memoryType, file, parentFile, include = null } = candidate;
    const from = parentFile ?? file;
    if ((memoryType === 'User' || memoryType === 'Managed') && isOwn(from)) {
      const isNear = parentFile === undefined || own.some((place) => isInside(place, real));
      return isNear ? null : formatOutsideNote(file, real);
    }
    const exit = { file: from, include, target: real };
    return paths.isTrustedExit?.(exit) === true ? null : formatExitNote(exit);
  };
}

async function readRule(markdown: string): Promise<Pick<Instruction, 'text' | 'globs'>> {
  const front = await parseFrontMatter(markdown);
  const globs = getListField(front, 'paths') ?? getListField(front, 'globs') ?? [];
  return globs.length === 0 ? { text: front.body } : { text: front.body, globs };
}

function listImports(parent: Candidate, text: string, home: string | null): Candidate[] {
  return findImports(text).flatMap((written) => {
    const file = resolveImport(written, path.dirname(parent.file), home);
    // `@alice` and `@types/node` are not files: only an existing path or a name with a text extension
    // counts.
    const isFile = file !== null && (TEXT_NAME.test(file) || findRealPath(file) !== null);
    if (!isFile || isDirectory(file)) return [];
    const { memoryType, depth } = parent;
    const included = createCandidate('include')(file, memoryType);
    return [{ ...included, parentFile: parent.file, include: written, depth: depth + 1 }];
  });
}

function resolveImport(written: string, directory: string, home: string | null): string | null {
  if (!written.startsWith('~/')) return resolveAsKernel(directory, written);
  return home === null ? null : resolveAsKernel(home, written.slice(2));
}

/** `link/../x` lies beside the target of the link, not beside the link. */
function resolveAsKernel(directory: string, written: string): string {
  const file = path.resolve(directory, written);
  if (!written.includes('..')) return file;
  const real = findRealPath(path.isAbsolute(written) ? written : `${directory}/${written}`);
  return real === null || real === findRealPath(file) ? file : real;
}

/** The `@path` includes of an instructions file, as written, without those in code. */
export function findImports(text: string): readonly string[] {
  const found = [...removeCode(text).matchAll(IMPORT)].map(([, written = '']) =>
    written.replace(/[.,;:!?)\]}'"]+$/, ''),
  );
  return [...new Set(found.filter((written) => written !== ''))];
}

const IMPORT = /(?<![^\s(["'])@((?:~\/|\.{1,2}\/|\/)?[\w.-][^\s`]*)/g;

function removeCode(text: string): string {
  return removeFences(text).replaceAll(/`[^`\n]*`/g, '');
}

/** An unclosed code block extends to the end, as in Markdown. */
function removeFences(text: string): string {
  let fence: string | null = null;
  const outside = text.split('\n').filter((line) => {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? null;
    if (fence === null) {
      fence = mark;
      return mark === null;
    }
    if (mark !== null && mark.startsWith(fence)) fence = null;
    return false;
  });
  return outside.join('\n');
}
