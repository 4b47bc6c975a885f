import path from 'node:path';
import { isDirectory } from '../../base/files.ts';
import { findRealPath, isInside } from '../../base/paths.ts';
import { splitFrontMatter } from '../../base/text.ts';
import { compileRulePaths, readRule } from './rule-paths.ts';
import {
  explainDeniedRead,
  resolveClaudeDirectory,
  type InstructionPaths,
  resolveWorkspaceRoots,
  formatExitNote,
  formatOutsideNote,
  type InstructionDirectory,
  listNestedDirectories,
  readTextFile,
  SourceFiles,
  type TextReading,
  toProjectDirectory,
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

type LoadReason = 'session_start' | 'nested_traversal' | 'path_glob_match' | 'include' | 'compact';

export interface Instructions {
  readonly instructions: readonly Instruction[];
  /** What was truncated, skipped or unreadable, for the user. */
  readonly notes: readonly string[];
}

/** All instructions for a directory, and those that count once a file is read. */
export interface LoadedInstructions extends Instructions {
  /**
   * Loads the instructions for a file that an agent has just read: of its directory and the parents, and
   * rules whose paths match it. Each agent gets each once.
   */
  loadForFile(file: string, agentId: string): Promise<Instructions>;
  /** An agent has lost what it got for files, with its conversation. */
  forgetFiles(agentId: string): void;
}

/** Finds and reads all instructions for a directory, the most general first. Never throws. */
export async function loadInstructions(
  options: InstructionPaths & { readonly reason: 'session_start' | 'compact' },
): Promise<LoadedInstructions> {
  const read = createReader(options);
  const loaded = await toInstructions(
    read((files) => listCandidates(options, files, options.reason)),
  );
  const ofFiles = new FileInstructions(options, read, loaded.pathRules);
  const { instructions, notes } = loaded;
  return {
    instructions,
    notes,
    loadForFile: (file, agentId) => ofFiles.load(file, agentId),
    forgetFiles: (agentId) => ofFiles.forget(agentId),
  };
}

/** A rule that counts for some files only, with the files that it includes. */
interface PathRule {
  readonly instructions: readonly Instruction[];
  readonly matches: (file: string) => boolean;
}

interface ReadInstructions extends Instructions {
  readonly pathRules: readonly PathRule[];
}

/** The instructions that count once an agent reads certain files. Every text is read once. */
class FileInstructions {
  readonly #paths: InstructionPaths;
  readonly #read: ReadCandidates;
  readonly #pathRules: PathRule[];
  /** By directory; those of the session's start have none. */
  readonly #nested: Map<string, Promise<ReadInstructions>>;
  /** The files that each agent has got. */
  readonly #sent = new Map<string, Set<string>>();

  constructor(paths: InstructionPaths, read: ReadCandidates, pathRules: readonly PathRule[]) {
    this.#paths = paths;
    this.#read = read;
    this.#pathRules = [...pathRules];
    const known = listInstructionDirectories(paths);
    this.#nested = new Map(known.map((directory) => [directory, Promise.resolve(NOTHING)]));
  }

  async load(file: string, agentId: string): Promise<Instructions> {
    const nested: Instruction[] = [];
    const notes: string[] = [];
    for (const directory of listDirectoriesAbove(file, this.#paths)) {
      const isFirst = !this.#nested.has(directory);
      const found = await this.#readDirectory(directory);
      nested.push(...found.instructions);
      if (isFirst) notes.push(...found.notes);
    }
    const matching = this.#pathRules.filter(({ matches }) => matches(file));
    const found = [...nested, ...matching.flatMap(({ instructions }) => instructions)];
    return { instructions: this.#takeUnsent(found, file, agentId), notes };
  }

  forget(agentId: string): void {
    this.#sent.delete(agentId);
  }

  #readDirectory(directory: string): Promise<ReadInstructions> {
    const reading =
      this.#nested.get(directory) ??
      toInstructions(this.#read((files) => listNestedCandidates(directory, files))).then(
        (found) => {
          this.#pathRules.push(...found.pathRules);
          return found;
        },
      );
    this.#nested.set(directory, reading);
    return reading;
  }

  #takeUnsent(
    found: readonly Instruction[],
    triggerFile: string,
    agentId: string,
  ): readonly Instruction[] {
    const sent = this.#sent.get(agentId) ?? new Set();
    this.#sent.set(agentId, sent);
    return found.flatMap((each) => {
      if (sent.has(each.file)) return [];
      sent.add(each.file);
      return [each.loadReason === 'include' ? each : { ...each, triggerFile }];
    });
  }
}

const NOTHING: ReadInstructions = { instructions: [], notes: [], pathRules: [] };

const MAX_CHARACTERS = 40_000;
const MAX_CHARACTERS_IN_ALL = 200_000;
const MAX_DEPTH = 5;
const TEXT_NAME = /\.(?:md|mdc|markdown|txt)$/i;

type Candidate = Omit<Instruction, 'text'> & {
  /** Whether its front matter may limit it to certain files. */
  readonly isRule: boolean;
  /**
   * The directory that these files are relative to, for a rule that counts only once one of them is read;
   * absent for a rule that the model applies by itself.
   */
  readonly base?: string;
  /** The directory of the workspace that it was found in, unless its path is fixed. */
  readonly place?: InstructionDirectory;
  readonly depth: number;
  /** As it is written in the file that includes it. */
  readonly include?: string;
};

function listCandidates(
  paths: InstructionPaths,
  files: SourceFiles,
  loadReason: LoadReason,
): readonly Candidate[] {
  const managed = paths.managedDirectory ?? null;
  const candidate = createCandidate(loadReason);
  return [
    ...(managed === null ? [] : [candidate(path.join(managed, 'CLAUDE.md'), 'Managed')]),
    ...listUserCandidates(paths, files, candidate),
    ...listInstructionDirectories(paths).flatMap((directory) => [
      ...listSharedFiles(directory).map((file) => candidate(file, 'Project')),
      ...listClaudeRules(directory, files, candidate),
      ...listClineRules(directory, files, candidate),
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

type CreateCandidate = (file: string, memoryType: Instruction['memoryType']) => Candidate;

function createCandidate(loadReason: LoadReason): CreateCandidate {
  return (file, memoryType) => ({ file, memoryType, loadReason, isRule: false, depth: 0 });
}

function listUserCandidates(
  paths: InstructionPaths,
  files: SourceFiles,
  candidate: CreateCandidate,
): readonly Candidate[] {
  const claude = resolveClaudeDirectory(paths);
  const cline = paths.home === null ? null : path.join(paths.home, 'Documents/Cline/Rules');
  const toRule = (file: string) => ({ ...candidate(file, 'User'), isRule: true });
  const base = paths.startDirectory;
  return [
    ...(claude === null
      ? []
      : [
          candidate(path.join(claude, 'CLAUDE.md'), 'User'),
          ...listRuleTexts(files, toUserDirectory(path.join(claude, 'rules'))).map((file) => ({
            ...toRule(file),
            base,
          })),
        ]),
    ...(cline === null ? [] : listTextFiles(files, toUserDirectory(cline)).map(toRule)),
  ];
}

function toUserDirectory(directory: string): InstructionDirectory {
  return { path: directory, source: 'userSettings', prefix: null };
}

function listSharedFiles(directory: string): string[] {
  return ['CLAUDE.md', '.claude/CLAUDE.md', 'AGENTS.md'].map((name) => path.join(directory, name));
}

function listClaudeRules(
  base: string,
  files: SourceFiles,
  candidate: CreateCandidate,
): readonly Candidate[] {
  const place = toProjectDirectory(path.join(base, '.claude', 'rules'));
  return listRuleTexts(files, place).map((file) => ({
    ...candidate(file, 'Project'),
    isRule: true,
    base,
    place,
  }));
}

/** `.clinerules` is a file or a directory of files. */
function listClineRules(
  directory: string,
  files: SourceFiles,
  candidate: CreateCandidate,
): readonly Candidate[] {
  const place = toProjectDirectory(path.join(directory, '.clinerules'));
  const texts = isDirectory(place.path) ? listTextFiles(files, place) : [place.path];
  return texts.map((file) => ({ ...candidate(file, 'Project'), isRule: true, place }));
}

const MAX_RULE_DEPTH = 5;

/** Claude's rules may lie in directories of their own. */
function listRuleTexts(
  files: SourceFiles,
  place: InstructionDirectory,
  directory = place.path,
  depth = 0,
): string[] {
  const entries = files.listNames(place, directory).map((name) => path.join(directory, name));
  const directories = entries.filter(isDirectory);
  const texts = entries.filter((file) => TEXT_NAME.test(file) && !directories.includes(file));
  if (depth === MAX_RULE_DEPTH) return texts;
  return [...texts, ...directories.flatMap((each) => listRuleTexts(files, place, each, depth + 1))];
}

function listTextFiles(files: SourceFiles, place: InstructionDirectory): string[] {
  return files
    .listNames(place, place.path)
    .filter((name) => TEXT_NAME.test(name))
    .map((name) => path.join(place.path, name));
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

function listNestedCandidates(directory: string, files: SourceFiles): readonly Candidate[] {
  const candidate = createCandidate('nested_traversal');
  return [
    ...listSharedFiles(directory).map((file) => candidate(file, 'Project')),
    ...listClaudeRules(directory, files, candidate),
    candidate(path.join(directory, 'CLAUDE.local.md'), 'Local'),
  ];
}

/** A file that was read, before its front matter is parsed, with those that it includes. */
interface ReadFile {
  readonly candidate: Candidate;
  readonly text: string;
  readonly included: readonly ReadFile[];
}

interface ReadFiles {
  readonly files: readonly ReadFile[];
  readonly notes: readonly string[];
}

type ReadCandidates = (list: (files: SourceFiles) => readonly Candidate[]) => ReadFiles;

/** Each real path is read once per session: a CLAUDE.md is often a link to AGENTS.md. */
function createReader(paths: InstructionPaths): ReadCandidates {
  const readPaths = new Set<string>();
  const sourceFiles = new SourceFiles(paths);
  const checkBoundary = createBoundaryCheck(paths);
  let remaining = MAX_CHARACTERS_IN_ALL;

  function readOne(candidate: Candidate, notes: string[]): ReadFile[] {
    const real = findRealPath(candidate.file) ?? candidate.file;
    if (readPaths.has(real)) return [];
    const denied = explainDeniedRead(candidate.file, candidate.parentFile, paths);
    if (denied !== null) {
      readPaths.add(real);
      notes.push(denied);
      return [];
    }
    const { place, file } = candidate;
    const outside =
      place === undefined
        ? checkBoundary(candidate, real)
        : sourceFiles.explainOutside(place, file, real);
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
    return [{ candidate, text, included: readImports(candidate, body, notes) }];
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

  return (list) => {
    const noted = sourceFiles.notes.length;
    const candidates = list(sourceFiles);
    const notes = sourceFiles.notes.slice(noted);
    return { files: readEach(candidates, notes), notes };
  };
}

async function toInstructions(read: ReadFiles): Promise<ReadInstructions> {
  const instructions: Instruction[] = [];
  const pathRules: PathRule[] = [];
  const notes = [...read.notes];
  for (const file of read.files) {
    const [first, ...included] = await toInstruction(file, notes);
    const { base } = file.candidate;
    if (first?.globs === undefined || base === undefined) {
      instructions.push(...(first === undefined ? [] : [first]), ...included);
      continue;
    }
    const rule = { ...first, loadReason: 'path_glob_match' } as const;
    const matches = compileRulePaths(first.globs, base);
    pathRules.push({ instructions: [rule, ...included], matches });
  }
  return { instructions, notes, pathRules };
}

/** The instruction of a file, then those of the files that it includes. */
async function toInstruction(
  { candidate, text, included }: ReadFile,
  notes: string[],
): Promise<Instruction[]> {
  const {
    isRule,
    base: _base,
    place: _place,
    depth: _depth,
    include: _include,
    ...facts
  } = candidate;
  const instruction = {
    ...facts,
    ...(isRule ? await readRule(facts.file, text, notes) : { text }),
  };
  const others = await Promise.all(included.map((each) => toInstruction(each, notes)));
  return [instruction, ...others.flat()];
}

const MAX_NESTED = 500;

/** Reads what a session here would read, also in directories below, for what it asks `isTrustedExit` about. */
export function visitInstructionFiles(paths: InstructionPaths): void {
  const read = createReader(paths);
  read((files) => listCandidates(paths, files, 'session_start'));
  const nested = paths.roots.flatMap((root) => listNestedDirectories(root, MAX_NESTED));
  read((files) => nested.flatMap((directory) => listNestedCandidates(directory, files)));
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
