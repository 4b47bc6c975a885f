import path from 'node:path';
import { isFile } from '../../base/files.ts';
import { isInside } from '../../base/paths.ts';
import type { Failure } from '../../hooks/decision.ts';
import type { Asking, Handler, HandlerInput } from '../../hooks/handler.ts';
import type { LaunchMachine } from '../../process/interpreter.ts';
import { listSearchDirectories } from '../../process/program-finder.ts';
import { protectPythonImports } from '../../process/search-path.ts';
import type { ToolCall } from '../../tool-vocabularies/tool-views.ts';
import { type Codec, createCommandHandler, createFailingHandler } from '../command-handler.ts';
import type { Discoverer } from '../dialect.ts';
import {
  type Discovery,
  type FoundHook,
  type Grant,
  type Ignored,
  listMisspeltPlaces,
  type Starts,
} from '../discovery.ts';
import { findInstalledScript, FORWARDING } from '../installed-command.ts';
import { chooseAskings, explainUnknownName } from './askings.ts';
import { adviseOnFailure, createFileHookCodec, type DecideOptions } from './codec.ts';
import {
  type HookDirectory,
  listExpectedDirectories,
  listHookDirectories,
  type HookPlaces,
  resolvePlace,
} from './directories.ts';
import { findForwardingCommand } from './forwarding-hook.ts';
import { HookTextReader, listNeighbours } from './hook-texts.ts';
import { type HookFile, hasHooks, readHookDirectory, readHookFile } from './read-hook-files.ts';
import { EXPLAIN_BOTH, EXPLAIN_PARTIAL, listNamedProfiles } from './tool-mentions.ts';
import { findNoMisfit, FILE_HOOKS, type FileHookName, type Profile } from './events.ts';

export interface ClineFilesOptions extends DecideOptions {
  readonly places: HookPlaces;
  readonly machine: LaunchMachine;
  /** For hooks of a workspace, whose trust binds the interpreters that they find there. */
  readonly workspaceMachine?: LaunchMachine;
  /** The PATH that hooks run with. */
  readonly searchPath: string | undefined;
  /** The directory for state, in which the script lies that our hooks for Cline itself start. */
  readonly stateDirectory?: string | null;
  /** Profiles set by hand, by hook id. */
  readonly profiles: Readonly<Record<string, Profile>>;
  readonly timeoutMs: number;
}

/** Discovers executables in known directories that are named after an event. */
export function createClineFilesDiscoverer(options: ClineFilesOptions): Discoverer {
  const codecs = createCodecs(options);
  const texts = new HookTextReader();
  const isMeant = (directory: string): boolean => hasHooks(directory, options.machine);
  return {
    discover(): Discovery {
      const directories = listHookDirectories(options.places);
      const readDirectories = directories.map((directory) =>
        readHookDirectory(directory, chooseMachine(directory, options), texts),
      );
      const isForwarding = ({ text }: HookFile): boolean => isForwardingHook(text, options);
      const found = readDirectories.flatMap((each) => each.files);
      const files = found
        .filter((file) => !isForwarding(file))
        .map((file) => ({
          ...file,
          directory: resolvePlace(file.directory, options.places, file.path),
        }));
      const findFiles = createShebangFiles();
      return {
        hooks: files.map((file) =>
          createFoundHook(overrideProfile(file, options), codecs, findFiles, options),
        ),
        ignored: [
          ...readDirectories.flatMap((each) => each.ignored),
          ...found.filter(isForwarding).map((file) => ({ path: file.path, why: FORWARDING })),
          ...listMisspeltPlaces(listExpectedDirectories(options.places, isMeant)),
        ],
        watched: directories.map((directory) => directory.path),
      };
    },
  };
}

/** Whether a file does nothing but forward events of Cline to us. */
function isForwardingHook(text: string, { stateDirectory = null }: ClineFilesOptions): boolean {
  const command = findForwardingCommand(text);
  return command !== null && findInstalledScript(command, stateDirectory) !== null;
}

function chooseMachine(
  { place }: HookDirectory,
  { machine, workspaceMachine = machine }: ClineFilesOptions,
): LaunchMachine {
  return place === 'workspace' ? workspaceMachine : machine;
}

/** Reads a hook that the caller names by its path; a reason when it is none. */
export function findNamedFileHook(
  file: string,
  name: FileHookName,
  options: Omit<ClineFilesOptions, 'places'>,
): FoundHook | Ignored {
  const directory = { path: path.dirname(file), place: 'given', label: 'given' } as const;
  const hookFile = readHookFile(file, name, {
    directory: { ...directory, suffix: '', root: null },
    machine: options.machine,
    readTexts: (own) => new HookTextReader().read(own, listNeighbours(path.dirname(file)), []),
  });
  if ('why' in hookFile) return hookFile;
  return createFoundHook(
    overrideProfile(hookFile, options),
    createCodecs(options),
    createShebangFiles(),
    options,
  );
}

type Codecs = (file: HookFile) => Codec;

/** Hooks with the same payload share a codec, so that it is serialised once. */
function createCodecs(options: DecideOptions): Codecs {
  const codecs = new Map<string, Codec>();
  return ({ name, profile }) => {
    const key = `${name} ${profile}`;
    const codec = codecs.get(key) ?? createFileHookCodec(name, profile, options);
    codecs.set(key, codec);
    return codec;
  };
}

/** A profile that is set by hand is the only vocabulary in which the hook is asked. */
function overrideProfile(
  file: HookFile,
  { profiles }: Pick<ClineFilesOptions, 'profiles'>,
): HookFile {
  const profile = profiles[file.id] ?? profiles[file.ownId];
  return profile === undefined ? file : { ...file, profile, hasSetProfile: true };
}

function createFoundHook(
  file: HookFile,
  codecs: Codecs,
  findFiles: ShebangFiles,
  { timeoutMs, searchPath }: Pick<ClineFilesOptions, 'timeoutMs' | 'searchPath'>,
): FoundHook {
  const { directory, launch } = file;
  const { root } = directory;
  return {
    kind: 'hook',
    unit: {
      id: file.id,
      ownId: file.ownId,
      dialect: 'cline',
      eventName: file.name,
      path: file.path,
      line: null,
      place: directory.place,
      root,
      binds: {
        entry: file.path,
        files: root === null ? [] : findFiles(file.shebang, root),
        directories: [directory.path],
        ...(root === null ? {} : { starts: describeStart(file, root, searchPath) }),
      },
      notes: listNotes(file),
      problem: 'missing' in launch ? launch.missing : null,
      details: { profile: file.profile, ...formatVocabularies(file), ...formatCommandLine(file) },
    },
    events: FILE_HOOKS[file.name].events,
    matcher: null,
    timeoutMs,
    onFailure: 'open',
    toHandlers: (grant) => createHandlers(file, codecs(file), grant),
  };
}

/** What starts the file, besides its `#!` line. */
function describeStart(
  { launch, shebang }: HookFile,
  root: string,
  searchPath: string | undefined,
): Starts {
  const programs = 'missing' in launch || shebang !== '' ? [] : [path.basename(launch.file)];
  return { programs, directories: [root], searchPath: listSearchDirectories(searchPath, root) };
}

function listNotes(hookFile: HookFile): string[] {
  const { isExecutable, path: file, launch } = hookFile;
  const isClassicName = path.extname(file) === '';
  return [
    ...(isExecutable || !isClassicName ? [] : ['not executable: off in VS Code']),
    ...('missing' in launch || launch.note === null ? [] : [launch.note]),
    ...describeVocabularies(hookFile),
  ];
}

/** Describes that it is asked in several vocabularies, and why. */
function describeVocabularies(file: HookFile): string[] {
  const vocabularies = listVocabularies(file);
  if (vocabularies.length < 2) return [];
  const why = file.mentions?.isPartial === true ? EXPLAIN_PARTIAL : EXPLAIN_BOTH;
  return [`${why}, so it is asked in ${vocabularies.join(' and ')}`];
}

function listVocabularies({ mentions, profile, hasSetProfile }: HookFile): readonly Profile[] {
  return mentions === null || hasSetProfile ? [profile] : listNamedProfiles(mentions, profile);
}

/** Formats the vocabularies of which it names tools, when there are several. */
function formatVocabularies(file: HookFile): Record<string, string> {
  const vocabularies = listVocabularies(file);
  return vocabularies.length < 2 ? {} : { vocabularies: vocabularies.join(', ') };
}

function formatCommandLine({ launch }: HookFile): Record<string, string> {
  return 'missing' in launch ? {} : { command: [launch.file, ...launch.args].join(' ') };
}

function createHandlers(
  file: HookFile,
  codec: Codec,
  grant: Grant,
): ReturnType<FoundHook['toHandlers']> {
  const { misfit, events } = FILE_HOOKS[file.name];
  const { profile } = file;
  const target = {
    id: file.id,
    dialect: 'cline',
    source: formatSource(file),
    vocabulary: profile,
    ...createNameChoice(file),
    onFailure: grant.onFailure,
    advise: (failure: Failure) => adviseOnFailure(file.name, failure),
    ...(misfit === findNoMisfit ? {} : { fits: misfit }),
    withheld: grant.withheld,
  };
  const { launch } = file;
  if ('missing' in launch) {
    return events.map((event) => createFailingHandler({ ...target, event }, launch.missing));
  }
  const environment =
    file.directory.place === 'workspace'
      ? grant.environment
      : protectPythonImports(grant.environment, file.text, [path.dirname(file.path)]);
  const program = (input: HandlerInput) => ({
    file: launch.file,
    args: launch.args,
    cwd: getRunDirectory(file, input),
    env: { ...environment, ...grant.callback?.(input.event) },
    timeoutMs: grant.timeoutMs,
    opensStdin: file.opensStdin,
  });
  return events.map((event) =>
    createCommandHandler({ ...target, event, program, codec, sandbox: grant.sandbox }),
  );
}

/** How the hook sees tools, by the names in its text. */
function createNameChoice({
  mentions,
  profile,
  hasSetProfile,
}: HookFile): Pick<Handler, 'chooseAskings' | 'findSuspicion'> {
  if (mentions === null) return {};
  const choose = (call: ToolCall): readonly Asking[] => chooseAskings(mentions, profile, call);
  if (hasSetProfile) {
    return { findSuspicion: (call) => explainUnknownName(mentions, profile, [], call) };
  }
  return {
    chooseAskings: choose,
    findSuspicion: (call) => explainUnknownName(mentions, profile, choose(call), call),
  };
}

/** Formats the path relative to its root, or the whole path outside of it. */
function formatSource({ path: file, directory }: HookFile): string {
  const { root } = directory;
  return root === null || !isInside(root, file) ? file : path.relative(root, file);
}

/** A workspace's hook runs in its own root, a personal one in the first root. */
function getRunDirectory({ directory }: HookFile, { event }: HandlerInput): string {
  return directory.root ?? event.workspaceRoots[0] ?? event.cwd;
}

/** Finds files of the workspace that a `#!` line names, which run with the hook or instead of it. */
type ShebangFiles = (line: string, root: string) => readonly string[];

/** Caches the result by line, because hooks of one directory mostly have the same one. */
function createShebangFiles(): ShebangFiles {
  const filesByLine = new Map<string, readonly string[]>();
  return (line, root) => {
    const key = `${root}\n${line}`;
    const files = filesByLine.get(key) ?? findShebangFiles(line, root);
    filesByLine.set(key, files);
    return files;
  };
}

function findShebangFiles(line: string, root: string): readonly string[] {
  const files = splitShebangWords(line).flatMap((word) => findFilesOfWord(word, root));
  return [...new Set(files)].filter((each) => each !== root && isInside(root, each));
}

/** Splits a line into parts that may be paths, as in `--import=./a.mjs`, `-r./a.js` and `A=./b:./c`. */
function splitShebangWords(line: string): readonly string[] {
  // `env -S` has escapes for white space and replaces variables.
  const plain = line.replaceAll(/\\[_tnrfv]/g, ' ').replaceAll(/\$\{[^}]*\}|["'\\]/g, '');
  const words = plain.split(/\s+/).flatMap((word) => {
    return [word, ...word.split(/[=:,()]/), word.replace(/^-\w/, '')];
  });
  return [...new Set(words)].filter((word) => word !== '');
}

const LOADED_ENDINGS = ['', '.js', '.cjs', '.json', '.node', '.py', '/index.js', '/__main__.py'];

/** Returns a path even when nothing exists there yet; a plain word only when such a file exists. */
function findFilesOfWord(word: string, root: string): readonly string[] {
  const isPath = /^[^-=][^=]*(?:\/[^=]*|\.[a-z]\w*)$/i.test(word) || word.startsWith('/');
  const spellings = new Set([word, word.replace(/^\/+/, ''), word.replaceAll('.', '/')]);
  const below = path.join(root, path.sep);
  const guesses = [...spellings]
    .flatMap((name) => LOADED_ENDINGS.map((ending) => path.resolve(root, `${name}${ending}`)))
    .filter((file) => file.startsWith(below) && isFile(file));
  return [...(isPath ? [path.resolve(root, word)] : []), ...guesses];
}
