import path from 'node:path';
import { isDirectory } from '../../base/files.ts';
import { findRealPath, isInside } from '../../base/paths.ts';
import { getListField, parseFrontMatter } from './front-matter.ts';
import {
  resolveClaudeDirectory,
  type InstructionPaths,
  listDirectoriesDownTo,
} from './instruction-paths.ts';
import {
  resolveWorkspaceRoots,
  formatOutsideNote,
  listFileNames,
  readTextFile,
  type TextReading,
} from './source-files.ts';

/** One file that tells the agent how to work here. */
export interface Instruction {
  readonly file: string;
  readonly memoryType: 'User' | 'Project' | 'Local' | 'Managed';
  readonly text: string;
  readonly loadReason: LoadReason;
  /** The file that includes it. */
  readonly parentFile?: string;
  /** The patterns of files for which alone it counts. */
  readonly globs?: readonly string[];
  /** The file whose use brought it in. */
  readonly triggerFile?: string;
}

type LoadReason = 'session_start' | 'nested_traversal' | 'include' | 'compact';

export interface Instructions {
  readonly instructions: readonly Instruction[];
  /** What a person should know: what was cut, left out or could not be read. */
  readonly notes: readonly string[];
}

export interface LoadedInstructions extends Instructions {
  /** Those of the directory of a file that was just read, and of the ones above it; each only once. */
  loadNested(file: string): Promise<Instructions>;
}

/** Finds and reads all instructions for work in a directory, the most general first. Never throws. */
export async function loadInstructions(
  order: InstructionPaths & { readonly reason: 'session_start' | 'compact' },
): Promise<LoadedInstructions> {
  const reader = createReader(order);
  const passed = new Set(listInstructionDirectories(order));
  const loaded = await reader(listCandidates(order, order.reason));
  return {
    ...loaded,
    loadNested(file) {
      const fresh = listDirectoriesAbove(file, order).filter((directory) => !passed.has(directory));
      for (const directory of fresh) passed.add(directory);
      return reader(listNestedCandidates(fresh, file));
    },
  };
}

const MAX_CHARACTERS = 40_000;
const MAX_CHARACTERS_IN_ALL = 200_000;
const MAX_DEPTH = 5;
const TEXT_NAME = /\.(?:md|mdc|markdown|txt)$/i;

type Candidate = Omit<Instruction, 'text'> & {
  /** Whether its front matter may say for which files it counts. */
  readonly isRule: boolean;
  readonly depth: number;
};

function listCandidates(places: InstructionPaths, loadReason: LoadReason): readonly Candidate[] {
  const managed = places.managedDirectory ?? null;
  const candidate = createCandidate(loadReason);
  return [
    ...(managed === null ? [] : [candidate(path.join(managed, 'CLAUDE.md'), 'Managed')]),
    ...listUserFiles(places).map(({ file, isRule }) => ({ ...candidate(file, 'User'), isRule })),
    ...listInstructionDirectories(places).flatMap((directory) => [
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
  places: InstructionPaths,
): { readonly file: string; readonly isRule: boolean }[] {
  const claude = resolveClaudeDirectory(places);
  const cline = places.home === null ? null : path.join(places.home, 'Documents/Cline/Rules');
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

/** `.clinerules` is one file or a directory of them. */
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

/** The directories of the workspace above a file. */
function listDirectoriesAbove(
  file: string,
  { roots, startDirectory }: InstructionPaths,
): readonly string[] {
  const directory = path.dirname(file);
  const grounds = [...roots, startDirectory];
  // What packages that lie in the workspace tell other agents is not for this work.
  const isForeign = directory.split(path.sep).includes('node_modules');
  const isInGrounds = grounds.some((ground) => isInside(ground, directory));
  return isInGrounds && !isForeign ? listDirectoriesDownTo(directory, grounds) : [];
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

type Read = (candidates: readonly Candidate[]) => Promise<Instructions>;

/** What one session has read it does not read again: a CLAUDE.md is often a link to AGENTS.md. */
function createReader(places: InstructionPaths): Read {
  const seen = new Set<string>();
  const isAllowed = createBoundaryCheck(places);
  let left = MAX_CHARACTERS_IN_ALL;

  async function readOne(candidate: Candidate, notes: string[]): Promise<Instruction[]> {
    const { file, isRule, depth, ...facts } = candidate;
    const real = findRealPath(file) ?? file;
    if (seen.has(real)) return [];
    seen.add(real);
    if (!isAllowed(candidate, real)) {
      notes.push(formatOutsideNote(file, real));
      return [];
    }
    const { text, note } = readBounded(candidate, left);
    if (note !== null) notes.push(note);
    if (text === null || text.trim() === '') return [];
    left -= text.length;
    const ruled = isRule ? await readRule(text) : { text };
    return [{ file, ...facts, ...ruled }, ...(await readImports(candidate, ruled.text, notes))];
  }

  async function readImports(parent: Candidate, text: string, notes: string[]) {
    const imported = listImports(parent, text, places.home);
    if (imported.length === 0 || parent.depth < MAX_DEPTH) return readEach(imported, notes);
    notes.push(`${parent.file}: what it includes is left out, being more than ${MAX_DEPTH} deep`);
    return [];
  }

  async function readEach(candidates: readonly Candidate[], notes: string[]) {
    const read: Instruction[] = [];
    // One after the other: the first to be named are the ones that still fit.
    for (const candidate of candidates) read.push(...(await readOne(candidate, notes)));
    return read;
  }

  return async (candidates) => {
    const notes: string[] = [];
    return { instructions: await readEach(candidates, notes), notes };
  };
}

function readBounded({ file, parentFile }: Candidate, left: number): TextReading {
  const reading = readTextFile(file, Math.min(MAX_CHARACTERS, Math.max(left, 1)));
  if (reading.text === null && reading.note === null && parentFile !== undefined) {
    return { text: null, note: `${parentFile} includes ${file}, which is not there` };
  }
  if (left > 0 || reading.text === null) return reading;
  const most = MAX_CHARACTERS_IN_ALL.toLocaleString('en');
  const note = `${file} is left out: all instructions together are longer than ${most} characters`;
  return { text: null, note };
}

/**
 * A repository must not be able to show the model what lies beside it, by a link or an include; texts in
 * the person's home are what they are meant for. What the person has in their own place leads anywhere.
 */
function createBoundaryCheck(places: InstructionPaths) {
  const real = (directory: string): string => findRealPath(directory) ?? directory;
  const grounds = resolveWorkspaceRoots(places);
  const claude = resolveClaudeDirectory(places);
  const own = [places.home, claude].flatMap((each) => (each === null ? [] : [real(each)]));
  return ({ memoryType, depth }: Candidate, file: string): boolean => {
    const isTheirs = memoryType === 'User' || memoryType === 'Managed';
    if (isTheirs && depth === 0) return true;
    if (grounds.some((ground) => isInside(ground, file))) return true;
    return own.some((place) => isInside(place, file)) && (isTheirs || TEXT_NAME.test(file));
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
    // `@alice` and `@types/node` are no files; only what is there, or is surely meant as one, counts.
    const isMeant = file !== null && (TEXT_NAME.test(file) || findRealPath(file) !== null);
    if (!isMeant || isDirectory(file)) return [];
    const { memoryType, depth } = parent;
    const included = createCandidate('include')(file, memoryType);
    return [{ ...included, parentFile: parent.file, depth: depth + 1 }];
  });
}

function resolveImport(written: string, directory: string, home: string | null): string | null {
  if (!written.startsWith('~/')) return path.resolve(directory, written);
  return home === null ? null : path.join(home, written.slice(2));
}

/** The paths that a text of instructions brings in as `@path`, as they are written; not those in code. */
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

/** An unfinished block goes on to the end, as in any reader of markdown. */
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
